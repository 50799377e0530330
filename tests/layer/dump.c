/* A Vulkan layer that has everything and makes nothing: it lists every extension, feature and format, and prints what
 * it is asked to create to DUMP_FILE, a JSON object a line. Nothing of it reaches the driver below, which only lends
 * its physical device. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct any {
    int sType;
    const void *pNext;
};

static PFN_vkGetInstanceProcAddr next_instance_proc;
static PFN_vkGetDeviceProcAddr next_device_proc;
static VkInstance the_instance;
static FILE *file;

#define NEXT(name) ((PFN_##name)next_instance_proc(the_instance, #name))

/* ── JSON ────────────────────────────────────────────────────────────────────────────────────────────────────── */

static void out(const char *format, ...)
{
    va_list list;
    if (!file)
        file = fopen(getenv("DUMP_FILE"), "a");
    va_start(list, format);
    vfprintf(file, format, list);
    va_end(list);
}

static void begin(void) { out("{"); }
static void finish(void) { out("}"); }

static void key(int *n, const char *name)
{
    out("%s\"%s\":", (*n)++ ? "," : "", name);
}

static void print_text(const char *text)
{
    out("\"");
    for (; *text; ++text)
        out(*text == '"' || *text == '\\' || *text < ' ' ? "\\u%04x" : "%c", (unsigned char)*text);
    out("\"");
}

static void print_bytes(const void *data, size_t size)
{
    out("\"");
    for (size_t i = 0; i < size; ++i)
        out("%02x", ((const unsigned char *)data)[i]);
    out("\"");
}

#include "printers.h"

/* ── Creation: a number of its own for every object, by its kind ─────────────────────────────────────────────── */

#define CREATE(NAME, STRUCT) \
    static VkResult vkCreate##NAME##_(void *device, const struct S_##STRUCT *info, void *allocator, uint64_t *handle) \
    { \
        static uint64_t last; \
        (void)device, (void)allocator; \
        *handle = ++last; \
        out("{\"call\":\"vkCreate" #NAME "\",\"handle\":%llu,\"info\":", (unsigned long long)*handle); \
        print_##STRUCT(info); \
        out("}\n"); \
        fflush(file); \
        return VK_SUCCESS; \
    }

CREATE(ShaderModule, VkShaderModuleCreateInfo)
CREATE(Sampler, VkSamplerCreateInfo)
CREATE(SamplerYcbcrConversion, VkSamplerYcbcrConversionCreateInfo)
CREATE(DescriptorSetLayout, VkDescriptorSetLayoutCreateInfo)
CREATE(PipelineLayout, VkPipelineLayoutCreateInfo)
CREATE(RenderPass, VkRenderPassCreateInfo)
CREATE(RenderPass2, VkRenderPassCreateInfo2)

static uint64_t last_pipeline;

#define CREATE_PIPELINE(NAME, STRUCT, MORE) \
    static VkResult vkCreate##NAME##_( \
        void *device, MORE uint64_t cache, uint32_t count, const struct S_##STRUCT *infos, void *allocator, \
        uint64_t *handles) \
    { \
        (void)device, (void)cache, (void)allocator; \
        for (uint32_t i = 0; i < count; ++i) { \
            handles[i] = ++last_pipeline; \
            out("{\"call\":\"vkCreate" #NAME "\",\"handle\":%llu,\"info\":", (unsigned long long)handles[i]); \
            print_##STRUCT(infos + i); \
            out("}\n"); \
        } \
        fflush(file); \
        return VK_SUCCESS; \
    }
#define NOTHING
#define DEFERRED uint64_t deferred,

CREATE_PIPELINE(ComputePipelines, VkComputePipelineCreateInfo, NOTHING)
CREATE_PIPELINE(GraphicsPipelines, VkGraphicsPipelineCreateInfo, NOTHING)
#pragma GCC diagnostic ignored "-Wunused-parameter"
CREATE_PIPELINE(RayTracingPipelinesKHR, VkRayTracingPipelineCreateInfoKHR, DEFERRED)

static void destroy(void *device, uint64_t handle, void *allocator)
{
}

static VkResult no_executables(void *device, const void *info, uint32_t *count, void *properties)
{
    *count = 0;
    return VK_SUCCESS;
}

/* ── What the device says of itself ──────────────────────────────────────────────────────────────────────────── */

static VkResult extensions(VkPhysicalDevice device, const char *layer, uint32_t *count, VkExtensionProperties *array)
{
    if (array) {
        for (uint32_t i = 0; i < *count && i < COUNT(extension_names); ++i) {
            memset(&array[i], 0, sizeof array[i]);
            strncpy(array[i].extensionName, extension_names[i], VK_MAX_EXTENSION_NAME_SIZE - 1);
        }
    }
    *count = COUNT(extension_names);
    return VK_SUCCESS;
}

static void features(VkPhysicalDevice device, VkPhysicalDeviceFeatures2 *found)
{
    for (struct any *each = (void *)found; each; each = (void *)each->pNext) {
        VkBool32 *members = (VkBool32 *)(each + 1);
        int size = each == (void *)found ? (int)(sizeof found->features / sizeof(VkBool32)) : 0;
        for (size_t i = 0; !size && i < COUNT(feature_structs); ++i)
            if (feature_structs[i].sType == each->sType)
                size = feature_structs[i].members;
        for (int i = 0; i < size; ++i)
            members[i] = VK_TRUE;
    }
}

static void format(VkPhysicalDevice device, VkFormat which, VkFormatProperties *found)
{
    memset(found, 0xff, sizeof *found);
}

static void format2(VkPhysicalDevice device, VkFormat which, VkFormatProperties2 *found)
{
    memset(&found->formatProperties, 0xff, sizeof found->formatProperties);
}

/* Looked up while the instance is made: afterwards the loader gives out the top of the chain. */
static PFN_vkGetPhysicalDeviceProperties next_properties;
static PFN_vkGetPhysicalDeviceProperties2 next_properties2;

/* No limits: what is asked for may be any number. */
static void properties(VkPhysicalDevice device, VkPhysicalDeviceProperties *found)
{
    next_properties(device, found);
    memset(&found->limits, 0xff, sizeof found->limits);
}

static void properties2(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *found)
{
    next_properties2(device, found);
    memset(&found->properties.limits, 0xff, sizeof found->properties.limits);
    for (struct any *each = (void *)found; each; each = (void *)each->pNext) {
        uint32_t *members = (uint32_t *)(each + 1);
        int size = 0;
        if (each->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES)
            size = 4;
        else if (each->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTIVIEW_PROPERTIES)
            size = 2;
        else if (each->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_PROPERTIES_KHR)
            size = 2; /* up to maxRayRecursionDepth */
        else if (each->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_PROPERTIES)
            size = sizeof(VkPhysicalDeviceDescriptorIndexingProperties) / 4 - 4;
        memset(members, 0xff, size * sizeof *members);
        if (each->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES)
            members[0] = 1; /* minSubgroupSize */
    }
}

/* Of each struct the numbers of its members that are on, by its sType. */
static void print_features(const void *first)
{
    int n = 0;
    for (const struct any *each = first; each; each = each->pNext) {
        const VkBool32 *members = (const VkBool32 *)(each + 1);
        int size = 0, on = 0;
        if (each->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2)
            size = (int)(sizeof(VkPhysicalDeviceFeatures) / sizeof(VkBool32));
        for (size_t i = 0; !size && i < COUNT(feature_structs); ++i)
            if (feature_structs[i].sType == each->sType)
                size = feature_structs[i].members;
        if (!size)
            continue;
        out("%s\"%d\":[", n++ ? "," : "", each->sType);
        for (int i = 0; i < size; ++i)
            if (members[i])
                out("%s%d", on++ ? "," : "", i);
        out("]");
    }
}

/* ── The layer ───────────────────────────────────────────────────────────────────────────────────────────────── */

static VkResult create_instance(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *a, VkInstance *instance)
{
    next_instance_proc = instance_link(info).pfnNextGetInstanceProcAddr;
    out("{\"call\":\"vkCreateInstance\",\"info\":");
    print_VkApplicationInfo((const void *)info->pApplicationInfo);
    out("}\n");
    VkResult result = ((PFN_vkCreateInstance)next_instance_proc(NULL, "vkCreateInstance"))(info, a, instance);
    the_instance = *instance;
    next_properties = NEXT(vkGetPhysicalDeviceProperties);
    next_properties2 = NEXT(vkGetPhysicalDeviceProperties2);
    return result;
}

static VkResult create_device(
    VkPhysicalDevice physical, const VkDeviceCreateInfo *info, const VkAllocationCallbacks *a, VkDevice *device)
{
    next_device_proc = device_link(info).pfnNextGetDeviceProcAddr;
    out("{\"call\":\"vkCreateDevice\",\"info\":{");
    print_features(info->pNext);
    out("}}\n");
    fflush(file);
    /* What is enabled here the driver has never heard of; of the chain it needs the loader's structs alone. */
    VkDeviceCreateInfo plain = *info;
    plain.enabledExtensionCount = 0;
    struct any *kept[8];
    int n = 0;
    for (struct any *each = (void *)info->pNext; each && n < 8; each = (void *)each->pNext)
        if (each->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO)
            kept[n++] = each;
    for (int i = 0; i < n; ++i)
        kept[i]->pNext = i + 1 < n ? kept[i + 1] : NULL;
    plain.pNext = n ? kept[0] : NULL;
    return NEXT(vkCreateDevice)(physical, &plain, a, device);
}

static const struct {
    const char *name;
    void *function;
} device_functions[] = {
    {"vkCreateShaderModule", vkCreateShaderModule_},
    {"vkCreateSampler", vkCreateSampler_},
    {"vkCreateSamplerYcbcrConversion", vkCreateSamplerYcbcrConversion_},
    {"vkCreateDescriptorSetLayout", vkCreateDescriptorSetLayout_},
    {"vkCreatePipelineLayout", vkCreatePipelineLayout_},
    {"vkCreateRenderPass", vkCreateRenderPass_},
    {"vkCreateRenderPass2", vkCreateRenderPass2_},
    {"vkCreateComputePipelines", vkCreateComputePipelines_},
    {"vkCreateGraphicsPipelines", vkCreateGraphicsPipelines_},
    {"vkCreateRayTracingPipelinesKHR", vkCreateRayTracingPipelinesKHR_},
    {"vkDestroyShaderModule", destroy},
    {"vkDestroySampler", destroy},
    {"vkDestroySamplerYcbcrConversion", destroy},
    {"vkDestroyDescriptorSetLayout", destroy},
    {"vkDestroyPipelineLayout", destroy},
    {"vkDestroyRenderPass", destroy},
    {"vkDestroyPipeline", destroy},
    {"vkGetPipelineExecutablePropertiesKHR", no_executables},
};

EXPORT PFN_vkVoidFunction dump_device_proc(VkDevice device, const char *name)
{
    for (size_t i = 0; i < COUNT(device_functions); ++i)
        if (strcmp(device_functions[i].name, name) == 0)
            return (PFN_vkVoidFunction)device_functions[i].function;
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)dump_device_proc;
    return next_device_proc(device, name);
}

EXPORT PFN_vkVoidFunction dump_instance_proc(VkInstance instance, const char *name)
{
    static const struct {
        const char *name;
        void *function;
    } functions[] = {
        {"vkCreateInstance", create_instance},
        {"vkCreateDevice", create_device},
        {"vkGetInstanceProcAddr", dump_instance_proc},
        {"vkGetDeviceProcAddr", dump_device_proc},
        {"vkEnumerateDeviceExtensionProperties", extensions},
        /* the loader calls the older name where the older extension is enabled */
        {"vkGetPhysicalDeviceFeatures2", features},
        {"vkGetPhysicalDeviceFeatures2KHR", features},
        {"vkGetPhysicalDeviceProperties", properties},
        {"vkGetPhysicalDeviceProperties2", properties2},
        {"vkGetPhysicalDeviceProperties2KHR", properties2},
        {"vkGetPhysicalDeviceFormatProperties", format},
        {"vkGetPhysicalDeviceFormatProperties2", format2},
        {"vkGetPhysicalDeviceFormatProperties2KHR", format2},
    };
    for (size_t i = 0; i < COUNT(functions); ++i)
        if (strcmp(functions[i].name, name) == 0)
            return (PFN_vkVoidFunction)functions[i].function;
    for (size_t i = 0; i < COUNT(device_functions); ++i)
        if (strcmp(device_functions[i].name, name) == 0)
            return (PFN_vkVoidFunction)device_functions[i].function;
    return next_instance_proc ? next_instance_proc(instance, name) : NULL;
}

EXPORT VkResult vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *interface)
{
    return negotiate(interface, dump_instance_proc, dump_device_proc, NULL);
}
