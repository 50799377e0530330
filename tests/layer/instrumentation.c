/* A Vulkan layer that gives a driver VK_ARM_shader_instrumentation: over lavapipe it counts what really ran.
 *
 * The first metric is true: "invocations", how often a stage's shader was executed. The layer puts a pipeline
 * statistics query round every draw, dispatch and trace that an instrumented pipeline is recorded with, and adds up
 * what it says of each submission. It is the driver's word: llvmpipe counts fragments by whole blocks of 4x4 pixels,
 * each as often as the pieces are that clipping cuts a triangle into. Tessellation control counts patches, as the query
 * does; ray generation counts the size of the trace, and the other ray tracing stages, of which no query speaks, have
 * no block.
 * Metric m > 0 of a block is made up, and can be computed by whoever reads it:
 *     (((resultIndex + 1) * 10 + resultSubIndex) * 100 + number of the stage's bit) * 1000 + basicBlockIndex * 10 + m
 * for each time the command was executed, modulo 2^64. Among several basic blocks or sub indices the first has the
 * invocations, the others none; a block of several stages has the sums over them.
 *
 * What the device has
 *   INSTRUMENTATION_METRICS=N       so many metrics (1)
 *   INSTRUMENTATION_DESCRIBED=N     so many of them are described (all)
 *   INSTRUMENTATION_NAMES=KIND      same, empty, hostile or unterminated
 *   INSTRUMENTATION_BLOCKS=N        basic blocks a stage; without it a block is a whole shader
 *   INSTRUMENTATION_SUBS=N          sub indices a command (1)
 *   INSTRUMENTATION_FEATURE=0       the extension is listed, its feature is not there
 *   INSTRUMENTATION_MAINTENANCE5=0  add no VK_KHR_maintenance5 to a driver that lacks it
 * How it answers
 *   INSTRUMENTATION_STAGES=merged   one block for all stages of a command
 *   INSTRUMENTATION_ORDER=KIND      stages: their groups out of order, as the specification lets them be; reverse: all
 *                                   blocks backwards, as it doesn't
 *   INSTRUMENTATION_VALUES=KIND     for vkGetShaderInstrumentationValuesARM, and
 *   INSTRUMENTATION_DESCRIPTIONS=KIND  for vkEnumeratePhysicalDeviceShaderInstrumentationMetricsARM:
 *                                   grow    counts a half at first, all of them from then on
 *                                   behind  counts a half whenever it is asked
 *                                   short   writes a half of what it counted, VK_SUCCESS
 *                                   forever VK_INCOMPLETE, whatever the array
 *                                   stub    VK_SUCCESS, and nothing is written: not even the count
 *                                   zero    none
 *                                   absurd  counts 4,294,967,280
 *   INSTRUMENTATION_HUGE=1          metric m > 0 is 2^64 - 1 - basicBlockIndex for each execution instead
 *   INSTRUMENTATION_ERRORS=NAME=RESULT[@N],...  the call NAME (its N-th, or every) returns that VkResult, a number: the
 *                                   commands of this file that return one, but for the enumeration of extensions.
 *                                   Submissions, waits and vkGetFenceStatus before the first submission with
 *                                   instrumentation are left alone and not numbered. After VK_ERROR_DEVICE_LOST they
 *                                   return nothing else.
 *   INSTRUMENTATION_HANG=N          the N-th submission with instrumentation and all later ones never finish: fences
 *                                   stay unsignalled, waits last as long as they may
 *   INSTRUMENTATION_DROP=barriers   vkCmdPipelineBarrier gets lost: an error for those below to find
 * What it tells
 *   INSTRUMENTATION_LOG=FILE        adds a line for each call of note, and each complaint
 *   INSTRUMENTATION_ABORT=1         abort() after a complaint
 *
 * Complaints go to standard error as well: "instrumentation-layer: VUID-…: …" where valid usage was broken,
 * "… FEATURE: …" where the feature is not enabled, and "… RACE: …" where results are read or cleared while a submission
 * writes them. Submissions are over for the layer when a fence, a queue or the device was waited for; any semaphore
 * that was waited for ends all.
 *
 * A driver without VK_KHR_maintenance5 gets as much of it as 64-bit pipeline flags need: the feature is there, its
 * commands are not. Shader objects are not instrumented. For the time of a call the caller's pNext chains are changed
 * in place, so they must not be constants. One instance and one device at a time. A command buffer, or a secondary one,
 * must not be there twice in one submission: its queries could not tell.
 */
#define _GNU_SOURCE
#include "instrumentation/objects.h"
#include "instrumentation/recording.h"
#include "instrumentation/running.h"

/* ── Instance and device ─────────────────────────────────────────────────────────────────────────────────────────── */

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(
    const VkInstanceCreateInfo *info, const VkAllocationCallbacks *allocator, VkInstance *instance)
{
    VkLayerInstanceLink link = instance_link(info);
    if (!link.pfnNextGetInstanceProcAddr)
        return VK_ERROR_INITIALIZATION_FAILED;
    next.instance_proc = link.pfnNextGetInstanceProcAddr;
    next.physical_proc = link.pfnNextGetPhysicalDeviceProcAddr;
    VkResult result = ((PFN_vkCreateInstance)next.instance_proc(NULL, "vkCreateInstance"))(info, allocator, instance);
    if (result != VK_SUCCESS)
        return result;
    the_instance = *instance;
#define BELOW_FIND(name) below.name = (PFN_##name)next.instance_proc(*instance, #name);
    BELOW_ALL(BELOW_FIND)
    return result;
}

/* What the layer needs on top of what the application wants: the queries, and their reset by the host. */
static void add_features(
    struct changes *changes, VkPhysicalDevice physical, VkDeviceCreateInfo *info, VkPhysicalDeviceFeatures *plain,
    VkPhysicalDeviceHostQueryResetFeatures *reset)
{
    VkPhysicalDeviceFeatures2 *two = chained(info, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
    if (two) {
        switch_on(changes, &two->features.pipelineStatisticsQuery);
    } else {
        if (info->pEnabledFeatures)
            *plain = *info->pEnabledFeatures;
        plain->pipelineStatisticsQuery = VK_TRUE;
        info->pEnabledFeatures = plain;
    }
    /* one of the two structs may be there, and never both */
    VkPhysicalDeviceVulkan12Features *of12 = chained(info, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
    VkPhysicalDeviceHostQueryResetFeatures *own =
        chained(info, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES);
    if (of12) {
        switch_on(changes, &of12->hostQueryReset);
    } else if (own) {
        switch_on(changes, &own->hostQueryReset);
    } else {
        *reset = (VkPhysicalDeviceHostQueryResetFeatures){
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES, (void *)info->pNext, VK_TRUE};
        info->pNext = reset;
    }
    VkPhysicalDeviceMeshShaderFeaturesEXT *mesh =
        chained(info, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MESH_SHADER_FEATURES_EXT);
    VkPhysicalDeviceMeshShaderFeaturesEXT there = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MESH_SHADER_FEATURES_EXT};
    VkPhysicalDeviceFeatures2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &there};
    if (mesh) {
        PFN_vkGetPhysicalDeviceFeatures2 get = below.vkGetPhysicalDeviceFeatures2;
        (get ? get : below.vkGetPhysicalDeviceFeatures2KHR)(physical, &all);
        meshes_counted = mesh->meshShader && there.meshShaderQueries;
        if (meshes_counted)
            switch_on(changes, &mesh->meshShaderQueries);
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(
    VkPhysicalDevice physical, const VkDeviceCreateInfo *info, const VkAllocationCallbacks *allocator, VkDevice *device)
{
    VkLayerDeviceLink link = device_link(info);
    if (!link.pfnNextGetDeviceProcAddr)
        return VK_ERROR_INITIALIZATION_FAILED;
    FAIL("vkCreateDevice");
    bool counts = can_count(physical), maintains = counts && gives_maintenance5(physical);
    struct changes changes = {0};
    VkDeviceCreateInfo ours = *info;
    const char **names = calloc(info->enabledExtensionCount + 1, sizeof *names);
    ours.enabledExtensionCount = 0;
    ours.ppEnabledExtensionNames = names;
    bool with = false, resets = false;
    for (uint32_t i = 0; i < info->enabledExtensionCount; ++i) {
        const char *name = info->ppEnabledExtensionNames[i];
        resets |= strcmp(name, VK_EXT_HOST_QUERY_RESET_EXTENSION_NAME) == 0;
        if (counts && strcmp(name, VK_ARM_SHADER_INSTRUMENTATION_EXTENSION_NAME) == 0)
            with = true;
        else if (!maintains || strcmp(name, VK_KHR_MAINTENANCE_5_EXTENSION_NAME) != 0)
            names[ours.enabledExtensionCount++] = name;
    }
    VkPhysicalDeviceShaderInstrumentationFeaturesARM *feature =
        take_out(&changes, &ours, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INSTRUMENTATION_FEATURES_ARM);
    if (maintains)
        take_out(&changes, &ours, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_5_FEATURES_KHR);
    bool wanted = feature && feature->shaderInstrumentation;
    if (feature && !with)
        complain("VUID-VkDeviceCreateInfo-pNext-pNext", "the feature's struct without the extension");
    VkPhysicalDeviceFeatures plain = {0};
    VkPhysicalDeviceHostQueryResetFeatures reset;
    if (with && wanted) {
        if (!resets)
            names[ours.enabledExtensionCount++] = VK_EXT_HOST_QUERY_RESET_EXTENSION_NAME;
        add_features(&changes, physical, &ours, &plain, &reset);
    }
    VkResult result = VK_ERROR_FEATURE_NOT_PRESENT;
    if (!wanted || !is("INSTRUMENTATION_FEATURE", "0")) {
        PFN_vkCreateDevice create =
            (PFN_vkCreateDevice)link.pfnNextGetInstanceProcAddr(the_instance, "vkCreateDevice");
        result = create(physical, &ours, allocator, device);
    }
    change_back(&changes);
    free(names);
    if (result == VK_SUCCESS) {
        the_device = *device;
        next.device_proc = link.pfnNextGetDeviceProcAddr;
        listed = with;
        enabled = with && wanted;
        flags2_below = !maintains;
        say("device%s%s", listed ? " with the extension" : "", enabled ? " and its feature" : "");
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice device, const VkAllocationCallbacks *allocator)
{
    if (objects)
        complain("VUID-vkDestroyDevice-device-05137", "an instrumentation object was not destroyed");
    while (recordings)
        forget_recording(recordings);
    while (fences)
        forget_fence(fences->handle);
    while (queues) {
        struct queue *gone = queues;
        queues = gone->next;
        free(gone);
    }
    free(pipelines);
    pipelines = NULL;
    pipeline_count = 0;
    instrumented_submissions = 0;
    lost = listed = enabled = meshes_counted = false;
    NEXT(vkDestroyDevice)(device, allocator);
    the_device = NULL;
}

/* ── The loader's side ───────────────────────────────────────────────────────────────────────────────────────────── */

struct entry {
    const char *name;
    PFN_vkVoidFunction function;
};

#define ENTRY(name, function) {#name, (PFN_vkVoidFunction)(function)}

static const struct entry INSTANCE[] = {
    ENTRY(vkCreateInstance, create_instance),
    ENTRY(vkCreateDevice, create_device),
};

static const struct entry PHYSICAL[] = {
    ENTRY(vkEnumerateDeviceExtensionProperties, enumerate_extensions),
    ENTRY(vkGetPhysicalDeviceFeatures2, get_features),
    ENTRY(vkGetPhysicalDeviceFeatures2KHR, get_features_khr),
    ENTRY(vkGetPhysicalDeviceProperties2, get_properties),
    ENTRY(vkGetPhysicalDeviceProperties2KHR, get_properties_khr),
    ENTRY(vkEnumeratePhysicalDeviceShaderInstrumentationMetricsARM, enumerate_metrics),
};

/* There where the device was created with the extension. */
static const struct entry EXTENSION[] = {
    ENTRY(vkCreateShaderInstrumentationARM, create_object),
    ENTRY(vkDestroyShaderInstrumentationARM, destroy_object),
    ENTRY(vkCmdBeginShaderInstrumentationARM, begin_instrumentation),
    ENTRY(vkCmdEndShaderInstrumentationARM, end_instrumentation),
    ENTRY(vkGetShaderInstrumentationValuesARM, get_values),
    ENTRY(vkClearShaderInstrumentationMetricsARM, clear_values),
};

/* There where those below have them. */
static const struct entry DEVICE[] = {
    ENTRY(vkDestroyDevice, destroy_device),
    ENTRY(vkCreateComputePipelines, create_compute),
    ENTRY(vkCreateGraphicsPipelines, create_graphics),
    ENTRY(vkCreateRayTracingPipelinesKHR, create_rays),
    ENTRY(vkDestroyPipeline, destroy_pipeline),
    ENTRY(vkAllocateCommandBuffers, allocate_buffers),
    ENTRY(vkFreeCommandBuffers, free_buffers),
    ENTRY(vkResetCommandPool, reset_pool),
    ENTRY(vkDestroyCommandPool, destroy_pool),
    ENTRY(vkBeginCommandBuffer, begin_buffer),
    ENTRY(vkResetCommandBuffer, reset_buffer),
    ENTRY(vkEndCommandBuffer, end_buffer),
    ENTRY(vkCmdBindPipeline, bind_pipeline),
    ENTRY(vkCmdExecuteCommands, execute_buffers),
    ENTRY(vkCmdExecuteGeneratedCommandsEXT, execute_generated),
    ENTRY(vkCmdPipelineBarrier, pipeline_barrier),
    ENTRY(vkQueueSubmit, queue_submit),
    ENTRY(vkQueueSubmit2, queue_submit2),
    ENTRY(vkQueueSubmit2KHR, queue_submit2_khr),
    ENTRY(vkWaitForFences, wait_for_fences),
    ENTRY(vkGetFenceStatus, get_fence_status),
    ENTRY(vkResetFences, reset_fences),
    ENTRY(vkDestroyFence, destroy_fence),
    ENTRY(vkWaitSemaphores, wait_semaphores),
    ENTRY(vkWaitSemaphoresKHR, wait_semaphores_khr),
    ENTRY(vkQueueWaitIdle, queue_wait_idle),
    ENTRY(vkDeviceWaitIdle, device_wait_idle),
#define COMMAND_ENTRY(kind, name, parameters, arguments, rays) ENTRY(name, our_##name),
    COMMANDS(COMMAND_ENTRY)
};

static PFN_vkVoidFunction found(const struct entry *entries, size_t count, const char *name)
{
    for (size_t i = 0; i < count; ++i)
        if (strcmp(entries[i].name, name) == 0)
            return entries[i].function;
    return NULL;
}

#define FOUND(table, name) found(table, COUNT(table), name)

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice device, const char *name)
{
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_device_proc;
    if (FOUND(EXTENSION, name))
        return listed ? FOUND(EXTENSION, name) : next.device_proc(device, name);
    PFN_vkVoidFunction there = next.device_proc(device, name), ours = FOUND(DEVICE, name);
    return there && ours ? ours : there; /* a command of an extension that isn't enabled stays NULL */
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_physical_proc(VkInstance instance, const char *name)
{
    PFN_vkVoidFunction ours = FOUND(PHYSICAL, name);
    if (ours)
        return ours;
    return next.physical_proc ? next.physical_proc(instance, name) : NULL;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance instance, const char *name)
{
    if (strcmp(name, "vkGetInstanceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_instance_proc;
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_device_proc;
    PFN_vkVoidFunction ours = FOUND(INSTANCE, name);
    ours = ours ? ours : FOUND(PHYSICAL, name);
    ours = ours ? ours : FOUND(EXTENSION, name);
    if (ours)
        return ours;
    PFN_vkVoidFunction there = next.instance_proc ? next.instance_proc(instance, name) : NULL;
    return there && FOUND(DEVICE, name) ? FOUND(DEVICE, name) : there;
}

EXPORT VKAPI_ATTR VkResult VKAPI_CALL vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *version)
{
    return negotiate(version, get_instance_proc, get_device_proc, get_physical_proc);
}
