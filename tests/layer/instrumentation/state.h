/* What is remembered of pipelines, command buffers and submissions, and how their queries are read. */
#ifndef STATE_H
#define STATE_H

#include "settings.h"

#define VIEWS 32 /* a query within a render pass of several views takes as many (VUID-vkCmdBeginQuery-query-00808) */

static const struct {
    VkShaderStageFlagBits stage;
    VkQueryPipelineStatisticFlagBits statistic; /* 0: no query speaks of it */
} STAGES[] = {
    {VK_SHADER_STAGE_VERTEX_BIT, VK_QUERY_PIPELINE_STATISTIC_VERTEX_SHADER_INVOCATIONS_BIT},
    {VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT, VK_QUERY_PIPELINE_STATISTIC_TESSELLATION_CONTROL_SHADER_PATCHES_BIT},
    {VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT, VK_QUERY_PIPELINE_STATISTIC_TESSELLATION_EVALUATION_SHADER_INVOCATIONS_BIT},
    {VK_SHADER_STAGE_GEOMETRY_BIT, VK_QUERY_PIPELINE_STATISTIC_GEOMETRY_SHADER_INVOCATIONS_BIT},
    {VK_SHADER_STAGE_FRAGMENT_BIT, VK_QUERY_PIPELINE_STATISTIC_FRAGMENT_SHADER_INVOCATIONS_BIT},
    {VK_SHADER_STAGE_COMPUTE_BIT, VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT},
    {VK_SHADER_STAGE_TASK_BIT_EXT, VK_QUERY_PIPELINE_STATISTIC_TASK_SHADER_INVOCATIONS_BIT_EXT},
    {VK_SHADER_STAGE_MESH_BIT_EXT, VK_QUERY_PIPELINE_STATISTIC_MESH_SHADER_INVOCATIONS_BIT_EXT},
    {VK_SHADER_STAGE_RAYGEN_BIT_KHR, 0},
};

struct pipeline {
    VkPipeline handle;
    VkShaderStageFlags instrumented;
};

/* One result index that has blocks. */
struct row {
    uint32_t index;
    VkShaderStageFlags stages;
    uint64_t executions;
    uint64_t invocations[COUNT(STAGES)];
};

struct object {
    struct object *next;
    uint32_t index; /* the one that the next command takes */
    unsigned asked;
    size_t row_count;
    struct row *rows;
};

/* A command that was recorded while `object` was active, with an instrumented pipeline. */
struct command {
    struct object *object; /* NULL once that is destroyed */
    size_t row;
    VkQueryPool pool; /* of its own, so that resetting it is nobody else's business */
    VkQueryPipelineStatisticFlags statistics;
    uint64_t rays;
    bool uncollected; /* submitted, and what the query says is still to be added */
};

struct recording {
    struct recording *next;
    VkCommandBuffer buffer;
    VkCommandPool pool;
    struct object *active;
    bool instruments; /* a Begin was recorded */
    VkShaderStageFlags bound[3]; /* instrumented stages of the pipeline at each bind point: graphics, compute, rays */
    struct command *commands;
    size_t command_count;
    struct recording **secondaries;
    size_t secondary_count;
    struct queue *queue; /* of the last submission… */
    uint64_t submission; /* …and its number there */
};

struct queue {
    struct queue *next;
    VkQueue handle;
    uint64_t submitted, completed; /* numbers from 1; what is completed completes all before it */
    uint64_t hung;                 /* the first that never finishes, or 0 */
};

struct fence {
    struct fence *next;
    VkFence handle;
    struct queue *queue;
    uint64_t submission;
};

static struct pipeline *pipelines;
static size_t pipeline_count;
static struct object *objects;
static struct recording *recordings;
static struct queue *queues;
static struct fence *fences;
static bool lost;
static unsigned instrumented_submissions;

#define GROW(array, count) ((array) = realloc((array), ((count) + 1) * sizeof *(array)), &(array)[(count)++])

static VkShaderStageFlags instrumented_stages(VkPipeline handle)
{
    for (size_t i = 0; i < pipeline_count; ++i)
        if (pipelines[i].handle == handle)
            return pipelines[i].instrumented;
    return 0;
}

static void forget_pipeline(VkPipeline handle) /* drivers give a freed handle again */
{
    for (size_t i = 0; i < pipeline_count; ++i)
        if (pipelines[i].handle == handle)
            pipelines[i--] = pipelines[--pipeline_count];
}

static struct recording *recording_of(VkCommandBuffer buffer)
{
    struct recording *each = recordings;
    while (each && each->buffer != buffer)
        each = each->next;
    return each;
}

static bool is_pending(const struct recording *recording)
{
    return recording->queue && recording->submission > recording->queue->completed;
}

/* ── Collecting what the queries say ─────────────────────────────────────────────────────────────────────────────── */

static bool collect_command(struct command *command)
{
    uint64_t found[COUNT(STAGES) + 1];
    uint32_t counters = (uint32_t)__builtin_popcount(command->statistics);
    struct row *row = &command->object->rows[command->row];
    for (uint32_t view = 0; view < VIEWS; ++view) {
        memset(found, 0, sizeof found);
        NEXT(vkGetQueryPoolResults)(
            the_device, command->pool, view, 1, sizeof found, found, sizeof found,
            VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
        if (!found[counters]) { /* of the other views there may be no queries at all */
            if (view == 0)
                return false;
            break;
        }
        uint32_t at = 0; /* by bit, the lowest first */
        for (uint32_t bit = 0; bit < 32; ++bit) {
            if (!(command->statistics >> bit & 1))
                continue;
            for (size_t i = 0; i < COUNT(STAGES); ++i)
                if (STAGES[i].statistic == 1u << bit && row->stages & STAGES[i].stage)
                    row->invocations[i] += found[at];
            ++at;
        }
    }
    for (size_t i = 0; i < COUNT(STAGES); ++i)
        if (STAGES[i].stage == VK_SHADER_STAGE_RAYGEN_BIT_KHR)
            row->invocations[i] += command->rays;
    ++row->executions;
    return true;
}

/* Returns whether nothing is left. Once it has run, the commands' queries can be reset. */
static bool collect(struct recording *recording)
{
    bool all = true;
    for (size_t i = 0; i < recording->command_count; ++i) {
        struct command *command = &recording->commands[i];
        if (command->uncollected && (!command->object || collect_command(command)))
            command->uncollected = false;
        all &= !command->uncollected;
    }
    return all;
}

static void collect_all(void)
{
    for (struct recording *each = recordings; each; each = each->next)
        collect(each);
}

static void forget_commands(struct recording *recording)
{
    collect(recording);
    for (size_t i = 0; i < recording->command_count; ++i)
        NEXT(vkDestroyQueryPool)(the_device, recording->commands[i].pool, NULL);
    free(recording->commands);
    free(recording->secondaries);
    *recording = (struct recording){.next = recording->next, .buffer = recording->buffer, .pool = recording->pool};
}

static void forget_recording(struct recording *recording)
{
    forget_commands(recording);
    struct recording **link = &recordings;
    while (*link != recording)
        link = &(*link)->next;
    *link = recording->next;
    free(recording);
}

#endif
