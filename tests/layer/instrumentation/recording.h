/* Pipelines lose the bit, and the commands that they are recorded with get their queries. */
#ifndef RECORDING_H
#define RECORDING_H

#include "chains.h"
#include "state.h"

/* ── Pipelines ───────────────────────────────────────────────────────────────────────────────────────────────────── */

/* Takes bit 39 from a create info, and returns whether it was there. `flags` are those of a copy of it. */
static bool take_bit(struct changes *changes, const void *info, uint32_t *flags, const char *kind)
{
    VkPipelineCreateFlags2CreateInfoKHR *two = chained(info, VK_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO_KHR);
    if (!two) {
        say("pipeline %s flags 0x%x", kind, *flags);
        return false;
    }
    say("pipeline %s flags2 0x%llx", kind, (unsigned long long)two->flags);
    VkFlags64 bit = listed ? VK_PIPELINE_CREATE_2_INSTRUMENT_SHADERS_BIT_ARM : 0, rest = two->flags & ~bit;
    bool instrument = rest != two->flags;
    if (flags2_below && rest) { /* which may not be 0 there */
        change(changes, &two->flags, &rest, sizeof rest);
    } else {
        take_out(changes, info, VK_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO_KHR);
        *flags = (uint32_t)rest;
    }
    return instrument && enabled;
}

static VkShaderStageFlags library_stages(const VkPipelineLibraryCreateInfoKHR *libraries)
{
    VkShaderStageFlags found = 0;
    for (uint32_t i = 0; libraries && i < libraries->libraryCount; ++i)
        found |= instrumented_stages(libraries->pLibraries[i]);
    return found;
}

static VkShaderStageFlags compute_stages(const VkComputePipelineCreateInfo *info, bool instrument)
{
    return instrument ? (VkShaderStageFlags)info->stage.stage : 0;
}

static VkShaderStageFlags graphics_stages(const VkGraphicsPipelineCreateInfo *info, bool instrument)
{
    VkShaderStageFlags found = library_stages(chained(info, VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR));
    for (uint32_t i = 0; instrument && i < info->stageCount; ++i)
        found |= info->pStages[i].stage;
    return found;
}

static VkShaderStageFlags ray_stages(const VkRayTracingPipelineCreateInfoKHR *info, bool instrument)
{
    VkShaderStageFlags found = library_stages(info->pLibraryInfo);
    for (uint32_t i = 0; instrument && i < info->stageCount; ++i)
        found |= info->pStages[i].stage;
    return found;
}

#define NOTHING
#define DEFERRED VkDeferredOperationKHR deferred,
#define GIVEN_DEFERRED deferred,
#define CREATE_PIPELINES(ours, NAME, INFO, KIND, MORE, GIVEN) \
    static VKAPI_ATTR VkResult VKAPI_CALL ours( \
        VkDevice device, MORE VkPipelineCache cache, uint32_t count, const INFO *infos, \
        const VkAllocationCallbacks *allocator, VkPipeline *handles) \
    { \
        struct changes changes = {0}; \
        FAIL(#NAME); \
        INFO *copies = calloc(count, sizeof *copies); \
        bool *instrument = calloc(count, sizeof *instrument); \
        for (uint32_t i = 0; i < count; ++i) { /* an unlinked first struct is unlinked in the copy alone */ \
            copies[i] = infos[i]; \
            instrument[i] = take_bit(&changes, &copies[i], &copies[i].flags, #KIND); \
        } \
        VkResult result = NEXT(NAME)(device, GIVEN cache, count, copies, allocator, handles); \
        change_back(&changes); \
        pthread_mutex_lock(&lock); \
        for (uint32_t i = 0; i < count; ++i) { \
            if (!handles[i]) \
                continue; \
            forget_pipeline(handles[i]); \
            VkShaderStageFlags stages = KIND##_stages(&infos[i], instrument[i]); \
            if (stages) \
                *GROW(pipelines, pipeline_count) = (struct pipeline){handles[i], stages}; \
        } \
        pthread_mutex_unlock(&lock); \
        free(copies); \
        free(instrument); \
        return result; \
    }

CREATE_PIPELINES(create_compute, vkCreateComputePipelines, VkComputePipelineCreateInfo, compute, NOTHING, NOTHING)
CREATE_PIPELINES(create_graphics, vkCreateGraphicsPipelines, VkGraphicsPipelineCreateInfo, graphics, NOTHING, NOTHING)
CREATE_PIPELINES(
    create_rays, vkCreateRayTracingPipelinesKHR, VkRayTracingPipelineCreateInfoKHR, ray, DEFERRED, GIVEN_DEFERRED)

static VKAPI_ATTR void VKAPI_CALL destroy_pipeline(
    VkDevice device, VkPipeline handle, const VkAllocationCallbacks *allocator)
{
    pthread_mutex_lock(&lock);
    forget_pipeline(handle);
    pthread_mutex_unlock(&lock);
    NEXT(vkDestroyPipeline)(device, handle, allocator);
}

/* ── Command buffers ─────────────────────────────────────────────────────────────────────────────────────────────── */

static VKAPI_ATTR VkResult VKAPI_CALL allocate_buffers(
    VkDevice device, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *buffers)
{
    VkResult result = NEXT(vkAllocateCommandBuffers)(device, info, buffers);
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; result == VK_SUCCESS && i < info->commandBufferCount; ++i) {
        struct recording *recording = calloc(1, sizeof *recording);
        recording->buffer = buffers[i];
        recording->pool = info->commandPool;
        recording->next = recordings;
        recordings = recording;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static VKAPI_ATTR void VKAPI_CALL free_buffers(
    VkDevice device, VkCommandPool pool, uint32_t count, const VkCommandBuffer *buffers)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < count; ++i)
        if (buffers[i] && recording_of(buffers[i]))
            forget_recording(recording_of(buffers[i]));
    pthread_mutex_unlock(&lock);
    NEXT(vkFreeCommandBuffers)(device, pool, count, buffers);
}

static void each_of_pool(VkCommandPool pool, void (*act)(struct recording *))
{
    pthread_mutex_lock(&lock);
    for (struct recording *each = recordings, *after; each; each = after) {
        after = each->next;
        if (each->pool == pool)
            act(each);
    }
    pthread_mutex_unlock(&lock);
}

static VKAPI_ATTR VkResult VKAPI_CALL reset_pool(VkDevice device, VkCommandPool pool, VkCommandPoolResetFlags flags)
{
    VkResult result = NEXT(vkResetCommandPool)(device, pool, flags);
    each_of_pool(pool, forget_commands);
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_pool(
    VkDevice device, VkCommandPool pool, const VkAllocationCallbacks *allocator)
{
    NEXT(vkDestroyCommandPool)(device, pool, allocator); /* first the buffers that use the queries */
    each_of_pool(pool, forget_recording);
}

static void begin_anew(VkCommandBuffer buffer)
{
    pthread_mutex_lock(&lock);
    struct recording *recording = recording_of(buffer);
    if (recording)
        forget_commands(recording);
    pthread_mutex_unlock(&lock);
}

static VKAPI_ATTR VkResult VKAPI_CALL begin_buffer(VkCommandBuffer buffer, const VkCommandBufferBeginInfo *info)
{
    FAIL("vkBeginCommandBuffer");
    VkResult result = NEXT(vkBeginCommandBuffer)(buffer, info);
    begin_anew(buffer);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL reset_buffer(VkCommandBuffer buffer, VkCommandBufferResetFlags flags)
{
    VkResult result = NEXT(vkResetCommandBuffer)(buffer, flags);
    begin_anew(buffer);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL end_buffer(VkCommandBuffer buffer)
{
    pthread_mutex_lock(&lock);
    struct recording *recording = recording_of(buffer);
    if (recording && recording->active)
        complain("VUID-vkEndCommandBuffer-12372", "instrumentation is still active");
    pthread_mutex_unlock(&lock);
    FAIL("vkEndCommandBuffer");
    return NEXT(vkEndCommandBuffer)(buffer);
}

static VKAPI_ATTR void VKAPI_CALL begin_instrumentation(VkCommandBuffer buffer, VkShaderInstrumentationARM handle)
{
    say("begin");
    pthread_mutex_lock(&lock);
    struct recording *recording = recording_of(buffer);
    if (!handle) {
        complain("VUID-vkCmdBeginShaderInstrumentationARM-instrumentation-parameter", "no object");
    } else if (recording) {
        if (recording->active)
            complain("VUID-vkCmdBeginShaderInstrumentationARM-commandBuffer-12375", "instrumentation is already active");
        recording->active = (struct object *)handle;
        recording->instruments = true;
    }
    pthread_mutex_unlock(&lock);
}

static VKAPI_ATTR void VKAPI_CALL end_instrumentation(VkCommandBuffer buffer)
{
    say("end");
    pthread_mutex_lock(&lock);
    struct recording *recording = recording_of(buffer);
    if (recording && !recording->active)
        complain("VUID-vkCmdEndShaderInstrumentationARM-commandBuffer-12377", "instrumentation is not active");
    if (recording)
        recording->active = NULL;
    pthread_mutex_unlock(&lock);
}

static int place_of(VkPipelineBindPoint point)
{
    return point == VK_PIPELINE_BIND_POINT_GRAPHICS ? 0 : point == VK_PIPELINE_BIND_POINT_COMPUTE ? 1 : 2;
}

static VKAPI_ATTR void VKAPI_CALL bind_pipeline(VkCommandBuffer buffer, VkPipelineBindPoint point, VkPipeline pipeline)
{
    pthread_mutex_lock(&lock);
    struct recording *recording = recording_of(buffer);
    if (recording)
        recording->bound[place_of(point)] = instrumented_stages(pipeline);
    pthread_mutex_unlock(&lock);
    NEXT(vkCmdBindPipeline)(buffer, point, pipeline);
}

static VKAPI_ATTR void VKAPI_CALL execute_buffers(
    VkCommandBuffer buffer, uint32_t count, const VkCommandBuffer *buffers)
{
    pthread_mutex_lock(&lock);
    struct recording *recording = recording_of(buffer);
    if (recording && recording->active)
        complain("VUID-vkCmdExecuteCommands-12373", "instrumentation is active");
    for (uint32_t i = 0; recording && i < count; ++i)
        if (recording_of(buffers[i]))
            *GROW(recording->secondaries, recording->secondary_count) = recording_of(buffers[i]);
    pthread_mutex_unlock(&lock);
    NEXT(vkCmdExecuteCommands)(buffer, count, buffers);
}

static VKAPI_ATTR void VKAPI_CALL pipeline_barrier(
    VkCommandBuffer buffer, VkPipelineStageFlags from, VkPipelineStageFlags to, VkDependencyFlags flags,
    uint32_t memory_count, const VkMemoryBarrier *memory, uint32_t buffer_count, const VkBufferMemoryBarrier *buffers,
    uint32_t image_count, const VkImageMemoryBarrier *images)
{
    if (!is("INSTRUMENTATION_DROP", "barriers"))
        NEXT(vkCmdPipelineBarrier)(
            buffer, from, to, flags, memory_count, memory, buffer_count, buffers, image_count, images);
}

/* Before a draw, dispatch or trace is recorded: it takes the next index, and a query where its pipeline has the bit. */
static VkQueryPool before(VkCommandBuffer buffer, VkPipelineBindPoint point, uint64_t rays)
{
    VkQueryPool pool = VK_NULL_HANDLE;
    pthread_mutex_lock(&lock);
    struct recording *recording = recording_of(buffer);
    if (recording && recording->active) {
        struct object *object = recording->active;
        uint32_t index = object->index++;
        VkShaderStageFlags stages = recording->bound[place_of(point)];
        VkQueryPipelineStatisticFlags statistics = 0;
        if (!meshes_counted)
            stages &= ~(VkShaderStageFlags)(VK_SHADER_STAGE_TASK_BIT_EXT | VK_SHADER_STAGE_MESH_BIT_EXT);
        for (size_t i = 0; i < COUNT(STAGES); ++i)
            if (stages & STAGES[i].stage)
                statistics |= STAGES[i].statistic;
        VkQueryPoolCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
            .queryType = VK_QUERY_TYPE_PIPELINE_STATISTICS,
            .queryCount = VIEWS,
            /* of a trace the query only says when it is over */
            .pipelineStatistics = statistics ? statistics : VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT,
        };
        if (stages && NEXT(vkCreateQueryPool)(the_device, &info, NULL, &pool) == VK_SUCCESS) {
            *GROW(recording->commands, recording->command_count) = (struct command){
                .object = object, .row = object->row_count, .pool = pool, .statistics = info.pipelineStatistics,
                .rays = rays};
            *GROW(object->rows, object->row_count) = (struct row){.index = index, .stages = stages};
            NEXT(vkCmdBeginQuery)(buffer, pool, 0, 0);
        }
    }
    pthread_mutex_unlock(&lock);
    return pool;
}

static void after(VkCommandBuffer buffer, VkQueryPool pool)
{
    if (pool)
        NEXT(vkCmdEndQuery)(buffer, pool, 0);
}

/* vkCmdExecuteGeneratedCommandsEXT came with 1.3.296. */
typedef void (VKAPI_PTR *PFN_generated)(VkCommandBuffer, VkBool32, const void *);

#define POINT_draw VK_PIPELINE_BIND_POINT_GRAPHICS
#define POINT_dispatch VK_PIPELINE_BIND_POINT_COMPUTE
#define POINT_trace VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR

/* Every command that takes an index: its kind, name, parameters after the command buffer, arguments, and rays. */
#define COMMANDS(X) \
    X(draw, vkCmdDraw, (VkCommandBuffer b, uint32_t v, uint32_t i, uint32_t f, uint32_t g), (b, v, i, f, g), 0) \
    X(draw, vkCmdDrawIndexed, \
      (VkCommandBuffer b, uint32_t n, uint32_t i, uint32_t f, int32_t o, uint32_t g), (b, n, i, f, o, g), 0) \
    X(draw, vkCmdDrawIndirect, INDIRECT, (b, u, o, n, s), 0) \
    X(draw, vkCmdDrawIndexedIndirect, INDIRECT, (b, u, o, n, s), 0) \
    X(draw, vkCmdDrawIndirectCount, COUNTED, (b, u, o, c, p, m, s), 0) \
    X(draw, vkCmdDrawIndirectCountKHR, COUNTED, (b, u, o, c, p, m, s), 0) \
    X(draw, vkCmdDrawIndirectCountAMD, COUNTED, (b, u, o, c, p, m, s), 0) \
    X(draw, vkCmdDrawIndexedIndirectCount, COUNTED, (b, u, o, c, p, m, s), 0) \
    X(draw, vkCmdDrawIndexedIndirectCountKHR, COUNTED, (b, u, o, c, p, m, s), 0) \
    X(draw, vkCmdDrawIndexedIndirectCountAMD, COUNTED, (b, u, o, c, p, m, s), 0) \
    X(draw, vkCmdDrawIndirectByteCountEXT, \
      (VkCommandBuffer b, uint32_t n, uint32_t f, VkBuffer u, VkDeviceSize o, uint32_t c, uint32_t s), \
      (b, n, f, u, o, c, s), 0) \
    X(draw, vkCmdDrawMultiEXT, \
      (VkCommandBuffer b, uint32_t n, const VkMultiDrawInfoEXT *d, uint32_t i, uint32_t f, uint32_t s), \
      (b, n, d, i, f, s), 0) \
    X(draw, vkCmdDrawMultiIndexedEXT, \
      (VkCommandBuffer b, uint32_t n, const VkMultiDrawIndexedInfoEXT *d, uint32_t i, uint32_t f, uint32_t s, \
       const int32_t *o), (b, n, d, i, f, s, o), 0) \
    X(draw, vkCmdDrawMeshTasksEXT, (VkCommandBuffer b, uint32_t x, uint32_t y, uint32_t z), (b, x, y, z), 0) \
    X(draw, vkCmdDrawMeshTasksIndirectEXT, INDIRECT, (b, u, o, n, s), 0) \
    X(draw, vkCmdDrawMeshTasksIndirectCountEXT, COUNTED, (b, u, o, c, p, m, s), 0) \
    X(dispatch, vkCmdDispatch, (VkCommandBuffer b, uint32_t x, uint32_t y, uint32_t z), (b, x, y, z), 0) \
    X(dispatch, vkCmdDispatchBase, BASED, (b, i, j, k, x, y, z), 0) \
    X(dispatch, vkCmdDispatchBaseKHR, BASED, (b, i, j, k, x, y, z), 0) \
    X(dispatch, vkCmdDispatchIndirect, (VkCommandBuffer b, VkBuffer u, VkDeviceSize o), (b, u, o), 0) \
    X(trace, vkCmdTraceRaysKHR, (VkCommandBuffer b, REGIONS, uint32_t x, uint32_t y, uint32_t z), \
      (b, r, m, h, c, x, y, z), (uint64_t)x * y * z) \
    X(trace, vkCmdTraceRaysIndirectKHR, (VkCommandBuffer b, REGIONS, VkDeviceAddress a), (b, r, m, h, c, a), 0) \
    X(trace, vkCmdTraceRaysIndirect2KHR, (VkCommandBuffer b, VkDeviceAddress a), (b, a), 0)
#define INDIRECT (VkCommandBuffer b, VkBuffer u, VkDeviceSize o, uint32_t n, uint32_t s)
#define COUNTED (VkCommandBuffer b, VkBuffer u, VkDeviceSize o, VkBuffer c, VkDeviceSize p, uint32_t m, uint32_t s)
#define BASED (VkCommandBuffer b, uint32_t i, uint32_t j, uint32_t k, uint32_t x, uint32_t y, uint32_t z)
#define REGIONS REGION r, REGION m, REGION h, REGION c
#define REGION const VkStridedDeviceAddressRegionKHR *

#define DEFINE(kind, name, parameters, arguments, rays) \
    static VKAPI_ATTR void VKAPI_CALL our_##name parameters \
    { \
        VkQueryPool pool = before(b, POINT_##kind, rays); \
        NEXT(name) arguments; \
        after(b, pool); \
    }
COMMANDS(DEFINE)

static VKAPI_ATTR void VKAPI_CALL execute_generated(VkCommandBuffer buffer, VkBool32 preprocessed, const void *info)
{
    VkQueryPool pool = before(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, 0);
    ((PFN_generated)next.device_proc(the_device, "vkCmdExecuteGeneratedCommandsEXT"))(buffer, preprocessed, info);
    after(buffer, pool);
}

#endif
