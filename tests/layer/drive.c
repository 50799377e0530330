/* An application that instruments shaders: its arguments are a script, its output what it was told.
 *
 * The first device is taken. Before `device`:
 *   extensions, layer    the extensions of the device, of the layer that matter here, as often as they are listed
 *   incomplete           the result of a call for one extension
 *   offer                features, properties and metrics
 *   plain, featureless   the device is to be made without the extension, without its feature
 *   bitless              pipelines are to be made without the bit
 *   twelve               features are asked for in VkPhysicalDeviceVulkan12Features and VkPhysicalDeviceFeatures2
 *   device               makes the device, and a command buffer
 * Then, each making the next of its kind, from 0:
 *   functions            whether the device has the extension's commands
 *   compute FILE, graphics VERTEX FRAGMENT, graphics-views …    a pipeline with the bit; old: the next without flags2
 *   object               an instrumentation object, for what follows; leak: they stay when the device goes
 * Recording:
 *   record finish bind-compute N bind-graphics N begin end
 *   dispatch X,Y,Z  base X,Y,Z  indirect X,Y,Z  draw VERTICES,INSTANCES
 *   secondary            records a secondary command buffer until finish;  execute  executes it
 *   pass WIDTH,HEIGHT    rendering into an image;  views WIDTH,HEIGHT  into two layers of one;  pass-end
 * Running:
 *   submit submit2       with a fence;  wait NANOSECONDS  and its result;  status
 *   run                  submit and wait
 *   values               all blocks;  room N  what a call with room for N blocks says;  count  what it says without
 *   clear destroy reset  reset is the command buffer's;  use N  goes back to an earlier object
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arm.h"

static VkInstance instance;
static VkPhysicalDevice physical;
static VkDevice device;
static VkQueue queue;
static VkCommandPool pool;
static VkCommandBuffer buffers[2], buffer; /* primary, secondary; the one that is recorded */
static VkPipelineLayout layout;
static VkPipeline pipelines[16];
static VkShaderInstrumentationARM objects[16], object;
static unsigned pipeline_count, object_count;
static VkFence fence;
static uint32_t metric_count;
static bool old;

#define S(name) VK_STRUCTURE_TYPE_##name
#define INSTANCE(name) ((PFN_##name)vkGetInstanceProcAddr(instance, #name))
#define DEVICE(name) ((PFN_##name)vkGetDeviceProcAddr(device, #name))

static void check(VkResult result, const char *what)
{
    if (result != VK_SUCCESS) {
        printf("%s %d\n", what, result);
        exit(1);
    }
}

/* ── What is offered ─────────────────────────────────────────────────────────────────────────────────────────── */

static void print_extensions(const char *layer)
{
    static const char *const wanted[] = {"VK_ARM_shader_instrumentation", "VK_KHR_maintenance5"};
    uint32_t count = 0;
    check(vkEnumerateDeviceExtensionProperties(physical, layer, &count, NULL), "extensions");
    VkExtensionProperties *all = calloc(count, sizeof *all);
    check(vkEnumerateDeviceExtensionProperties(physical, layer, &count, all), "extensions");
    for (uint32_t i = 0; i < count; ++i)
        for (unsigned j = 0; j < 2; ++j)
            if (strcmp(all[i].extensionName, wanted[j]) == 0)
                printf("extension %s %u\n", all[i].extensionName, all[i].specVersion);
    free(all);
}

static void print_offer(void)
{
    VkPhysicalDeviceShaderInstrumentationFeaturesARM feature = {
        S(PHYSICAL_DEVICE_SHADER_INSTRUMENTATION_FEATURES_ARM), NULL, 7};
    VkPhysicalDeviceMaintenance5FeaturesKHR five = {S(PHYSICAL_DEVICE_MAINTENANCE_5_FEATURES_KHR), &feature, 7};
    VkPhysicalDeviceVulkan12Features twelve = {.sType = S(PHYSICAL_DEVICE_VULKAN_1_2_FEATURES), .pNext = &five};
    VkPhysicalDeviceFeatures2 features = {.sType = S(PHYSICAL_DEVICE_FEATURES_2), .pNext = &twelve};
    vkGetPhysicalDeviceFeatures2(physical, &features);
    bool whole = features.pNext == &twelve && twelve.pNext == &five && five.pNext == &feature && !feature.pNext;
    printf("feature %u maintenance5 %u ", feature.shaderInstrumentation, five.maintenance5);
    printf("chain %s\n", whole ? "whole" : "torn");
    VkPhysicalDeviceShaderInstrumentationPropertiesARM own = {
        S(PHYSICAL_DEVICE_SHADER_INSTRUMENTATION_PROPERTIES_ARM), NULL, 77, 77};
    VkPhysicalDeviceProperties2 properties = {.sType = S(PHYSICAL_DEVICE_PROPERTIES_2), .pNext = &own};
    vkGetPhysicalDeviceProperties2(physical, &properties);
    printf("properties %u %u\n", own.numMetrics, own.perBasicBlockGranularity);
    PFN_vkEnumeratePhysicalDeviceShaderInstrumentationMetricsARM enumerate =
        INSTANCE(vkEnumeratePhysicalDeviceShaderInstrumentationMetricsARM);
    uint32_t count = 0;
    VkResult result = enumerate(physical, &count, NULL);
    printf("metrics %d %u\n", result, count);
    if (count > 100)
        return;
    VkShaderInstrumentationMetricDescriptionARM *all = calloc(count + 1, sizeof *all);
    for (uint32_t i = 0; i < count; ++i)
        all[i].sType = S(SHADER_INSTRUMENTATION_METRIC_DESCRIPTION_ARM);
    result = enumerate(physical, &count, all);
    printf("described %d %u\n", result, count);
    for (uint32_t i = 0; i < count; ++i)
        printf("metric %.256s: %.256s\n", all[i].name, all[i].description); /* no NUL is trusted */
    free(all);
}

/* ── Making things ───────────────────────────────────────────────────────────────────────────────────────────── */

static void make_device(bool plain, bool featureless, bool twelve)
{
    VkPhysicalDeviceShaderInstrumentationPropertiesARM own = {
        S(PHYSICAL_DEVICE_SHADER_INSTRUMENTATION_PROPERTIES_ARM), NULL, 0, 0};
    VkPhysicalDeviceProperties2 properties = {.sType = S(PHYSICAL_DEVICE_PROPERTIES_2), .pNext = &own};
    vkGetPhysicalDeviceProperties2(physical, &properties);
    metric_count = own.numMetrics;
    const char *names[] = {"VK_KHR_maintenance5", "VK_ARM_shader_instrumentation"};
    float priority = 1;
    VkDeviceQueueCreateInfo queues = {S(DEVICE_QUEUE_CREATE_INFO), NULL, 0, 0, 1, &priority};
    VkPhysicalDeviceVulkan12Features of12 = {.sType = S(PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)};
    VkPhysicalDeviceFeatures2 two = {.sType = S(PHYSICAL_DEVICE_FEATURES_2), .pNext = &of12};
    VkPhysicalDeviceMultiviewFeatures views = {
        .sType = S(PHYSICAL_DEVICE_MULTIVIEW_FEATURES), .pNext = twelve ? &two : NULL, .multiview = VK_TRUE};
    VkPhysicalDeviceSynchronization2Features synchronization = {
        S(PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES), &views, VK_TRUE};
    VkPhysicalDeviceShaderInstrumentationFeaturesARM feature = {
        S(PHYSICAL_DEVICE_SHADER_INSTRUMENTATION_FEATURES_ARM), &synchronization, VK_TRUE};
    VkPhysicalDeviceDynamicRenderingFeatures rendering = {
        S(PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES),
        plain || featureless ? (void *)&synchronization : &feature, VK_TRUE};
    VkPhysicalDeviceMaintenance5FeaturesKHR five = {S(PHYSICAL_DEVICE_MAINTENANCE_5_FEATURES_KHR), &rendering, VK_TRUE};
    VkDeviceCreateInfo info = {
        .sType = S(DEVICE_CREATE_INFO), .pNext = &five, .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queues, .enabledExtensionCount = plain ? 1 : 2, .ppEnabledExtensionNames = names};
    check(vkCreateDevice(physical, &info, NULL, &device), "device");
    bool whole = feature.pNext == &synchronization && five.pNext == &rendering && !of12.hostQueryReset;
    printf("device chain %s\n", whole ? "whole" : "torn");
    vkGetDeviceQueue(device, 0, 0, &queue);
    VkCommandPoolCreateInfo pool_info = {
        S(COMMAND_POOL_CREATE_INFO), NULL, VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT, 0};
    check(vkCreateCommandPool(device, &pool_info, NULL, &pool), "pool");
    for (int level = 0; level < 2; ++level) {
        VkCommandBufferAllocateInfo one = {S(COMMAND_BUFFER_ALLOCATE_INFO), NULL, pool, (VkCommandBufferLevel)level, 1};
        check(vkAllocateCommandBuffers(device, &one, &buffers[level]), "buffers");
    }
    VkPipelineLayoutCreateInfo layout_info = {.sType = S(PIPELINE_LAYOUT_CREATE_INFO)};
    check(vkCreatePipelineLayout(device, &layout_info, NULL, &layout), "layout");
    VkFenceCreateInfo fence_info = {.sType = S(FENCE_CREATE_INFO)};
    check(vkCreateFence(device, &fence_info, NULL, &fence), "fence");
}

static VkShaderModule module(const char *path)
{
    static char code[1 << 16];
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(code, 1, sizeof code, file) : 0;
    if (file)
        fclose(file);
    VkShaderModuleCreateInfo info = {S(SHADER_MODULE_CREATE_INFO), NULL, 0, size, (const uint32_t *)code};
    VkShaderModule made;
    check(vkCreateShaderModule(device, &info, NULL, &made), path);
    return made;
}

static VkPipelineShaderStageCreateInfo stage(VkShaderStageFlagBits bit, const char *path)
{
    return (VkPipelineShaderStageCreateInfo){
        .sType = S(PIPELINE_SHADER_STAGE_CREATE_INFO), .stage = bit, .module = module(path), .pName = "main"};
}

static VkPipelineCreateFlags2CreateInfoKHR flags2 = {
    S(PIPELINE_CREATE_FLAGS_2_CREATE_INFO_KHR), NULL, VK_PIPELINE_CREATE_2_INSTRUMENT_SHADERS_BIT_ARM | 2};

static void add_pipeline(VkResult result)
{
    check(result, "pipeline");
    printf("pipeline flags2 0x%llx\n", (unsigned long long)flags2.flags);
    ++pipeline_count;
    old = false;
}

static void make_compute(const char *path)
{
    VkComputePipelineCreateInfo info = {
        .sType = S(COMPUTE_PIPELINE_CREATE_INFO), .pNext = old ? NULL : &flags2,
        .stage = stage(VK_SHADER_STAGE_COMPUTE_BIT, path), .layout = layout};
    add_pipeline(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipelines[pipeline_count]));
    vkDestroyShaderModule(device, info.stage.module, NULL);
}

static void make_graphics(const char *vertex, const char *fragment, uint32_t views)
{
    VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    VkPipelineRenderingCreateInfo rendering = {
        .sType = S(PIPELINE_RENDERING_CREATE_INFO), .pNext = old ? NULL : &flags2, .viewMask = views,
        .colorAttachmentCount = 1, .pColorAttachmentFormats = &format};
    VkPipelineShaderStageCreateInfo stages[] = {
        stage(VK_SHADER_STAGE_VERTEX_BIT, vertex), stage(VK_SHADER_STAGE_FRAGMENT_BIT, fragment)};
    VkPipelineVertexInputStateCreateInfo input = {.sType = S(PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO)};
    VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = S(PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO), .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    VkPipelineViewportStateCreateInfo viewport = {
        .sType = S(PIPELINE_VIEWPORT_STATE_CREATE_INFO), .viewportCount = 1, .scissorCount = 1};
    VkPipelineRasterizationStateCreateInfo rasterization = {
        .sType = S(PIPELINE_RASTERIZATION_STATE_CREATE_INFO), .lineWidth = 1};
    VkPipelineMultisampleStateCreateInfo multisample = {
        .sType = S(PIPELINE_MULTISAMPLE_STATE_CREATE_INFO), .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    VkPipelineColorBlendAttachmentState attachment = {.colorWriteMask = 0xf};
    VkPipelineColorBlendStateCreateInfo blend = {
        .sType = S(PIPELINE_COLOR_BLEND_STATE_CREATE_INFO), .attachmentCount = 1, .pAttachments = &attachment};
    VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    VkPipelineDynamicStateCreateInfo dynamic = {
        .sType = S(PIPELINE_DYNAMIC_STATE_CREATE_INFO), .dynamicStateCount = 2, .pDynamicStates = states};
    VkGraphicsPipelineCreateInfo info = {
        .sType = S(GRAPHICS_PIPELINE_CREATE_INFO), .pNext = &rendering, .stageCount = 2, .pStages = stages,
        .pVertexInputState = &input, .pInputAssemblyState = &assembly, .pViewportState = &viewport,
        .pRasterizationState = &rasterization, .pMultisampleState = &multisample, .pColorBlendState = &blend,
        .pDynamicState = &dynamic, .layout = layout};
    add_pipeline(vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipelines[pipeline_count]));
    vkDestroyShaderModule(device, stages[0].module, NULL);
    vkDestroyShaderModule(device, stages[1].module, NULL);
}

static VkDeviceMemory allocate(VkMemoryRequirements needs, VkMemoryPropertyFlags wanted)
{
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    VkMemoryAllocateInfo info = {S(MEMORY_ALLOCATE_INFO), NULL, needs.size, 0};
    while (!(needs.memoryTypeBits >> info.memoryTypeIndex & 1) ||
           (memory.memoryTypes[info.memoryTypeIndex].propertyFlags & wanted) != wanted)
        ++info.memoryTypeIndex;
    VkDeviceMemory made;
    check(vkAllocateMemory(device, &info, NULL, &made), "memory");
    return made;
}

/* ── Recording ───────────────────────────────────────────────────────────────────────────────────────────────── */

static VkImage image;
static VkImageView view;
static VkDeviceMemory image_memory;
static VkBuffer sizes; /* of an indirect dispatch */
static VkDeviceMemory sizes_memory;

static void record(bool secondary)
{
    buffer = buffers[secondary];
    VkCommandBufferInheritanceInfo inherited = {.sType = S(COMMAND_BUFFER_INHERITANCE_INFO)};
    VkCommandBufferBeginInfo info = {.sType = S(COMMAND_BUFFER_BEGIN_INFO), .pInheritanceInfo = &inherited};
    check(vkBeginCommandBuffer(buffer, &info), "record");
}

static void drop_image(void)
{
    vkDestroyImageView(device, view, NULL);
    vkDestroyImage(device, image, NULL);
    vkFreeMemory(device, image_memory, NULL);
}

static void begin_pass(uint32_t width, uint32_t height, uint32_t layers)
{
    VkImageCreateInfo info = {
        .sType = S(IMAGE_CREATE_INFO), .imageType = VK_IMAGE_TYPE_2D, .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {width, height, 1}, .mipLevels = 1, .arrayLayers = layers, .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT};
    drop_image();
    check(vkCreateImage(device, &info, NULL, &image), "image");
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(device, image, &needs);
    image_memory = allocate(needs, 0);
    check(vkBindImageMemory(device, image, image_memory, 0), "image");
    VkImageSubresourceRange whole = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, layers};
    VkImageViewCreateInfo view_info = {
        .sType = S(IMAGE_VIEW_CREATE_INFO), .image = image, .format = info.format, .subresourceRange = whole,
        .viewType = layers > 1 ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D};
    check(vkCreateImageView(device, &view_info, NULL, &view), "view");
    VkImageMemoryBarrier barrier = {
        .sType = S(IMAGE_MEMORY_BARRIER), .dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
        .newLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL, .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED, .image = image, .subresourceRange = whole};
    VkPipelineStageFlags where = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
    vkCmdPipelineBarrier(buffer, where, where, 0, 0, NULL, 0, NULL, 1, &barrier);
    VkRenderingAttachmentInfo attachment = {
        .sType = S(RENDERING_ATTACHMENT_INFO), .imageView = view, .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL, .storeOp = VK_ATTACHMENT_STORE_OP_STORE};
    VkRenderingInfo rendering = {
        .sType = S(RENDERING_INFO), .renderArea = {{0, 0}, {width, height}}, .layerCount = 1,
        .viewMask = layers > 1 ? (1u << layers) - 1 : 0, .colorAttachmentCount = 1, .pColorAttachments = &attachment};
    vkCmdBeginRendering(buffer, &rendering);
    /* twice the size: a triangle over half of it covers the target, and no clipping cuts it in two */
    VkViewport viewport = {0, 0, 2 * (float)width, 2 * (float)height, 0, 1};
    vkCmdSetViewport(buffer, 0, 1, &viewport);
    vkCmdSetScissor(buffer, 0, 1, &rendering.renderArea);
}

static void dispatch_indirect(uint32_t x, uint32_t y, uint32_t z)
{
    if (!sizes) {
        VkBufferCreateInfo info = {
            .sType = S(BUFFER_CREATE_INFO), .size = 12, .usage = VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT};
        check(vkCreateBuffer(device, &info, NULL, &sizes), "buffer");
        VkMemoryRequirements needs;
        vkGetBufferMemoryRequirements(device, sizes, &needs);
        sizes_memory = allocate(needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
        check(vkBindBufferMemory(device, sizes, sizes_memory, 0), "buffer");
    }
    uint32_t *numbers;
    check(vkMapMemory(device, sizes_memory, 0, VK_WHOLE_SIZE, 0, (void **)&numbers), "map");
    numbers[0] = x, numbers[1] = y, numbers[2] = z;
    vkUnmapMemory(device, sizes_memory);
    vkCmdDispatchIndirect(buffer, sizes, 0);
}

/* ── Running ─────────────────────────────────────────────────────────────────────────────────────────────────── */

static void submit(bool two)
{
    check(vkResetFences(device, 1, &fence), "fences");
    VkCommandBufferSubmitInfo one = {.sType = S(COMMAND_BUFFER_SUBMIT_INFO), .commandBuffer = buffers[0]};
    VkSubmitInfo2 info2 = {.sType = S(SUBMIT_INFO_2), .commandBufferInfoCount = 1, .pCommandBufferInfos = &one};
    VkSubmitInfo info = {.sType = S(SUBMIT_INFO), .commandBufferCount = 1, .pCommandBuffers = &buffers[0]};
    VkResult result = two ? vkQueueSubmit2(queue, 1, &info2, fence) : vkQueueSubmit(queue, 1, &info, fence);
    if (result != VK_SUCCESS)
        printf("submit %d\n", result);
}

/* One call with room for `room` blocks; with room for none the count alone is asked for. */
static VkResult ask(uint32_t room, uint32_t *count, bool print)
{
    size_t stride = 16 + 8 * (size_t)metric_count;
    uint64_t *values = room ? calloc(room, stride) : NULL;
    *count = room;
    VkResult result = DEVICE(vkGetShaderInstrumentationValuesARM)(device, object, count, values, 0);
    for (uint32_t i = 0; print && i < *count && i < room; ++i) {
        VkShaderInstrumentationMetricDataHeaderARM header;
        const char *block = (const char *)values + i * stride;
        memcpy(&header, block, sizeof header);
        printf("block %u %u 0x%x %u", header.resultIndex, header.resultSubIndex, header.stages, header.basicBlockIndex);
        for (uint32_t m = 0; m < metric_count; ++m) {
            uint64_t value;
            memcpy(&value, block + sizeof header + 8 * m, 8);
            printf(" %llu", (unsigned long long)value);
        }
        putchar('\n');
    }
    free(values);
    return result;
}

static void print_values(void)
{
    uint32_t count;
    VkResult result = ask(0, &count, false);
    printf("values %d %u\n", result, count);
    if (result == VK_SUCCESS && count) {
        result = ask(count, &count, true);
        if (result != VK_SUCCESS)
            printf("values %d %u\n", result, count);
    }
}

static void print_functions(void)
{
    static const char *const names[] = {
        "vkCreateShaderInstrumentationARM", "vkDestroyShaderInstrumentationARM",
        "vkCmdBeginShaderInstrumentationARM", "vkCmdEndShaderInstrumentationARM",
        "vkGetShaderInstrumentationValuesARM", "vkClearShaderInstrumentationMetricsARM"};
    unsigned there = 0;
    for (unsigned i = 0; i < 6; ++i)
        there += vkGetDeviceProcAddr(device, names[i]) != NULL;
    printf("functions %u\n", there);
}

static void make_object(void)
{
    VkShaderInstrumentationCreateInfoARM info = {S(SHADER_INSTRUMENTATION_CREATE_INFO_ARM), NULL};
    VkResult result = DEVICE(vkCreateShaderInstrumentationARM)(device, &info, NULL, &objects[object_count]);
    if (result != VK_SUCCESS)
        printf("object %d\n", result);
    else
        object = objects[object_count++];
}

static void end_all(void)
{
    drop_image();
    vkDestroyBuffer(device, sizes, NULL);
    vkFreeMemory(device, sizes_memory, NULL);
    for (unsigned i = 0; i < object_count; ++i)
        if (objects[i])
            DEVICE(vkDestroyShaderInstrumentationARM)(device, objects[i], NULL);
    for (unsigned i = 0; i < pipeline_count; ++i)
        vkDestroyPipeline(device, pipelines[i], NULL);
    vkDestroyFence(device, fence, NULL);
    vkDestroyPipelineLayout(device, layout, NULL);
    vkDestroyCommandPool(device, pool, NULL);
    vkDestroyDevice(device, NULL);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    VkApplicationInfo application = {.sType = S(APPLICATION_INFO), .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo info = {.sType = S(INSTANCE_CREATE_INFO), .pApplicationInfo = &application};
    check(vkCreateInstance(&info, NULL, &instance), "instance");
    uint32_t one = 1;
    vkEnumeratePhysicalDevices(instance, &one, &physical);
    bool plain = false, featureless = false, twelve = false;
    uint32_t count;
    for (int i = 1; i < argc; ++i) {
        const char *word = argv[i], *given = i + 1 < argc ? argv[i + 1] : "";
        unsigned x = 0, y = 1, z = 1;
        sscanf(given, "%u,%u,%u", &x, &y, &z);
#define WORD(text) else if (strcmp(word, text) == 0)
        if (strcmp(word, "extensions") == 0) print_extensions(NULL);
        WORD("layer") print_extensions("VK_LAYER_SHADERSTAT_instrumentation");
        WORD("incomplete") {
            VkExtensionProperties first;
            count = 1;
            VkResult result = vkEnumerateDeviceExtensionProperties(physical, NULL, &count, &first);
            printf("incomplete %d %u\n", result, count);
        }
        WORD("offer") print_offer();
        WORD("plain") plain = true;
        WORD("featureless") featureless = true;
        WORD("bitless") flags2.flags &= ~VK_PIPELINE_CREATE_2_INSTRUMENT_SHADERS_BIT_ARM;
        WORD("twelve") twelve = true;
        WORD("device") make_device(plain, featureless, twelve);
        WORD("functions") print_functions();
        WORD("old") old = true;
        WORD("compute") make_compute(given), ++i;
        WORD("graphics") make_graphics(argv[i + 1], argv[i + 2], 0), i += 2;
        WORD("graphics-views") make_graphics(argv[i + 1], argv[i + 2], 3), i += 2;
        WORD("object") make_object();
        WORD("use") object = objects[x], ++i;
        WORD("record") record(false);
        WORD("secondary") record(true);
        WORD("finish") check(vkEndCommandBuffer(buffer), "finish");
        WORD("bind-compute") vkCmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipelines[x]), ++i;
        WORD("bind-graphics") vkCmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, pipelines[x]), ++i;
        WORD("begin") DEVICE(vkCmdBeginShaderInstrumentationARM)(buffer, object);
        WORD("end") DEVICE(vkCmdEndShaderInstrumentationARM)(buffer);
        WORD("dispatch") vkCmdDispatch(buffer, x, y, z), ++i;
        WORD("base") vkCmdDispatchBase(buffer, 0, 0, 0, x, y, z), ++i;
        WORD("indirect") dispatch_indirect(x, y, z), ++i;
        WORD("draw") vkCmdDraw(buffer, x, y, 0, 0), ++i;
        WORD("execute") vkCmdExecuteCommands(buffer, 1, &buffers[1]);
        WORD("pass") begin_pass(x, y, 1), ++i;
        WORD("views") begin_pass(x, y, 2), ++i;
        WORD("pass-end") vkCmdEndRendering(buffer);
        WORD("submit") submit(false);
        WORD("submit2") submit(true);
        WORD("wait") printf("wait %d\n", vkWaitForFences(device, 1, &fence, VK_TRUE, strtoull(given, NULL, 10))), ++i;
        WORD("status") printf("status %d\n", vkGetFenceStatus(device, fence));
        WORD("run") {
            submit(false);
            check(vkWaitForFences(device, 1, &fence, VK_TRUE, UINT64_MAX), "wait");
        }
        WORD("values") print_values();
        WORD("room") {
            VkResult result = ask(x, &count, true);
            printf("room %d %u\n", result, count), ++i;
        }
        WORD("count") {
            count = 12345;
            VkResult result = DEVICE(vkGetShaderInstrumentationValuesARM)(device, object, &count, NULL, 0);
            printf("count %d %u\n", result, count);
        }
        WORD("clear") DEVICE(vkClearShaderInstrumentationMetricsARM)(device, object);
        WORD("destroy") {
            DEVICE(vkDestroyShaderInstrumentationARM)(device, object, NULL);
            for (unsigned j = 0; j < object_count; ++j)
                objects[j] = objects[j] == object ? VK_NULL_HANDLE : objects[j];
        }
        WORD("leak") object_count = 0;
        WORD("reset") check(vkResetCommandBuffer(buffers[0], 0), "reset");
        else {
            printf("what is %s?\n", word);
            return 2;
        }
    }
    if (device)
        end_all();
    vkDestroyInstance(instance, NULL);
    return 0;
}
