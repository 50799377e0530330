/* A Vulkan layer that gives a driver VK_ARM_shader_instrumentation: over lavapipe it counts what really ran.
 *
 * The first metric is true: "invocations", how often a stage's shader was executed. The layer puts a pipeline
 * statistics query round every draw, dispatch and trace that an instrumented pipeline is recorded with, and adds up
 * what it says of each submission. Tessellation control counts patches, as the query does; ray generation counts the
 * size of the trace, and the other ray tracing stages, of which no query speaks, have no block.
 * Metric m > 0 of a block is made up, and can be computed by whoever reads it:
 *     (((resultIndex + 1) * 10 + resultSubIndex) * 100 + number of the stage's bit) * 1000 + basicBlockIndex * 10 + m
 * for each time the command was executed, modulo 2^64. Among several basic blocks or sub indices the first has the
 * invocations, the others none; a block of several stages has the sums over them.
 *
 * What the device has
 *   INSTRUMENTATION_METRICS=N       so many metrics (1)
 *   INSTRUMENTATION_DESCRIBED=N     so many of them are described (all)
 *   INSTRUMENTATION_NAMES=KIND      same, empty, hostile or unterminated
 *   INSTRUMENTATION_BLOCKS=N        basic blocks a stage; without it a block is a whole shader, and the property says so
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
 * What it tells
 *   INSTRUMENTATION_LOG=FILE        adds a line for each call of note, and each complaint
 *   INSTRUMENTATION_ABORT=1         abort() after a complaint
 *
 * Complaints go to standard error as well: "instrumentation-layer: VUID-…: …" where valid usage was broken,
 * "… FEATURE: …" where the feature is not enabled, and "… RACE: …" where results are read or cleared while a submission
 * writes them. Submissions are over for the layer when a fence, a queue or the device was waited for; any semaphore that was waited for ends all.
 *
 * A driver without VK_KHR_maintenance5 gets as much of it as 64-bit pipeline flags need: the feature is there, its
 * commands are not. Shader objects are not instrumented. For the time of a call the caller's pNext chains are changed
 * in place, so they must not be constants. One instance and one device at a time.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arm.h"
#include "layer.h"

#define LAYER "VK_LAYER_SHADERSTAT_instrumentation"
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define VIEWS 32 /* a query within a render pass of several views takes as many (VkQueryPool's VUIDs on viewMask) */

static struct {
    PFN_vkGetInstanceProcAddr instance_proc;
    PFN_vkGetDeviceProcAddr device_proc;
    PFN_GetPhysicalDeviceProcAddr physical_proc;
} next;
static VkInstance the_instance;
static VkDevice the_device;
static bool listed;        /* the device was created with the extension… */
static bool enabled;       /* …and with its feature */
static bool flags2_below;  /* the driver itself knows VkPipelineCreateFlags2CreateInfo */
static bool meshes_counted;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* over everything that is remembered */

/* Looked up while the instance is made: later the loader answers with the top of the chain, which is to say with us. */
#define BELOW_ALL(X) \
    X(vkEnumerateDeviceExtensionProperties) \
    X(vkGetPhysicalDeviceFeatures) \
    X(vkGetPhysicalDeviceFeatures2) \
    X(vkGetPhysicalDeviceFeatures2KHR) \
    X(vkGetPhysicalDeviceProperties2) \
    X(vkGetPhysicalDeviceProperties2KHR)
#define BELOW_MEMBER(name) PFN_##name name;
static struct {
    BELOW_ALL(BELOW_MEMBER)
} below;

#define NEXT(name) ((PFN_##name)next.device_proc(the_device, #name))

/* ── What was asked for ──────────────────────────────────────────────────────────────────────────────────────── */

static bool is(const char *variable, const char *value)
{
    const char *text = getenv(variable);
    return text && strcmp(text, value) == 0;
}

static uint32_t number(const char *variable, uint32_t without)
{
    const char *text = getenv(variable);
    return text && *text ? (uint32_t)strtoul(text, NULL, 10) : without;
}

static uint32_t metrics(void) { return number("INSTRUMENTATION_METRICS", 1); }
static uint32_t blocks(void) { return number("INSTRUMENTATION_BLOCKS", 0); }
static uint32_t subs(void) { return number("INSTRUMENTATION_SUBS", 1); }

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    const char *path = getenv("INSTRUMENTATION_LOG");
    FILE *log = path ? fopen(path, "a") : NULL;
    if (!log)
        return;
    va_list list;
    va_start(list, format);
    vfprintf(log, format, list);
    va_end(list);
    fputc('\n', log);
    fclose(log); /* each line at once: the process may be killed */
}

static void complain(const char *rule, const char *text)
{
    fprintf(stderr, "instrumentation-layer: %s: %s\n", rule, text);
    say("%s: %s", rule, text);
    if (is("INSTRUMENTATION_ABORT", "1"))
        abort();
}

/* What INSTRUMENTATION_ERRORS has for this call, or VK_SUCCESS. */
static VkResult failure(const char *name)
{
    static struct {
        const char *entry;
        unsigned calls;
    } seen[32];
    size_t length = strlen(name);
    for (const char *entry = getenv("INSTRUMENTATION_ERRORS"); entry; entry = strchr(entry, ',')) {
        entry += *entry == ',';
        if (strncmp(entry, name, length) != 0 || entry[length] != '=')
            continue;
        size_t slot = 0;
        while (slot < COUNT(seen) - 1 && seen[slot].entry && seen[slot].entry != entry)
            ++slot;
        seen[slot].entry = entry;
        ++seen[slot].calls;
        char *end;
        VkResult result = (VkResult)strtol(entry + length + 1, &end, 10);
        if (*end != '@' || strtoul(end + 1, NULL, 10) == seen[slot].calls) {
            say("%s returns %d", name, result);
            return result;
        }
    }
    return VK_SUCCESS;
}

#define FAIL(name) \
    do { \
        VkResult injected = failure(name); \
        if (injected != VK_SUCCESS) \
            return injected; \
    } while (0)

/* ── Chains: what those below must not see is taken out for as long as a call lasts ──────────────────────────── */

struct changes {
    struct {
        void *at;
        size_t size;
        uint64_t was;
    } list[64];
    size_t count;
};

static void change(struct changes *changes, void *at, const void *value, size_t size)
{
    if (changes->count == COUNT(changes->list))
        abort();
    changes->list[changes->count].at = at;
    changes->list[changes->count].size = size;
    memcpy(&changes->list[changes->count++].was, at, size);
    memcpy(at, value, size);
}

static void change_back(struct changes *changes)
{
    while (changes->count) {
        --changes->count;
        memcpy(changes->list[changes->count].at, &changes->list[changes->count].was, changes->list[changes->count].size);
    }
}

static void *chained(const void *head, VkStructureType type)
{
    const VkBaseInStructure *each = ((const VkBaseInStructure *)head)->pNext;
    while (each && each->sType != type)
        each = each->pNext;
    return (void *)each;
}

static void *take_out(struct changes *changes, const void *head, VkStructureType type)
{
    VkBaseOutStructure *before = (VkBaseOutStructure *)head, *found = chained(head, type);
    while (found && before->pNext != found)
        before = before->pNext;
    if (found)
        change(changes, &before->pNext, &found->pNext, sizeof found->pNext);
    return found;
}

static void switch_on(struct changes *changes, VkBool32 *member)
{
    const VkBool32 on = VK_TRUE;
    change(changes, member, &on, sizeof on);
}

/* ── What the device says of itself ──────────────────────────────────────────────────────────────────────────── */

static bool has_below(VkPhysicalDevice physical, const char *extension)
{
    uint32_t count = 0;
    bool found = false;
    PFN_vkEnumerateDeviceExtensionProperties enumerate = below.vkEnumerateDeviceExtensionProperties;
    if (enumerate(physical, NULL, &count, NULL) != VK_SUCCESS)
        return false;
    VkExtensionProperties *all = calloc(count + 1, sizeof *all);
    if (enumerate(physical, NULL, &count, all) == VK_SUCCESS)
        for (uint32_t i = 0; i < count; ++i)
            found |= strcmp(all[i].extensionName, extension) == 0;
    free(all);
    return found;
}

/* Whether invocations can be counted here: the queries, and a reset of them that no render pass is in the way of. */
static bool can_count(VkPhysicalDevice physical)
{
    VkPhysicalDeviceFeatures features;
    below.vkGetPhysicalDeviceFeatures(physical, &features);
    return features.pipelineStatisticsQuery && has_below(physical, VK_EXT_HOST_QUERY_RESET_EXTENSION_NAME);
}

static bool gives_maintenance5(VkPhysicalDevice physical)
{
    return !is("INSTRUMENTATION_MAINTENANCE5", "0") && !has_below(physical, VK_KHR_MAINTENANCE_5_EXTENSION_NAME);
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate_extensions(
    VkPhysicalDevice physical, const char *layer, uint32_t *count, VkExtensionProperties *array)
{
    static const VkExtensionProperties instrumentation = {
        VK_ARM_SHADER_INSTRUMENTATION_EXTENSION_NAME, VK_ARM_SHADER_INSTRUMENTATION_SPEC_VERSION};
    static const VkExtensionProperties maintenance5 = {VK_KHR_MAINTENANCE_5_EXTENSION_NAME, 1};
    PFN_vkEnumerateDeviceExtensionProperties enumerate = below.vkEnumerateDeviceExtensionProperties;
    bool all_layers = layer == NULL;
    if ((!all_layers && strcmp(layer, LAYER) != 0) || !can_count(physical))
        return enumerate(physical, layer, count, array);
    uint32_t n = 0;
    VkResult result = all_layers ? enumerate(physical, NULL, &n, NULL) : VK_SUCCESS;
    VkExtensionProperties *all = calloc(n + 2, sizeof *all);
    if (result == VK_SUCCESS && all_layers)
        result = enumerate(physical, NULL, &n, all);
    if (result == VK_SUCCESS) {
        /* a driver's own, or the loader's from this layer's manifest: nothing is to be there twice */
        if (!all_layers || !has_below(physical, instrumentation.extensionName))
            all[n++] = instrumentation;
        if (gives_maintenance5(physical))
            all[n++] = maintenance5;
        uint32_t room = array ? *count : n;
        *count = room < n ? room : n;
        if (array)
            memcpy(array, all, *count * sizeof *all);
        result = room < n ? VK_INCOMPLETE : VK_SUCCESS;
    }
    free(all);
    return result;
}

/* vkGetPhysicalDeviceFeatures2 and vkGetPhysicalDeviceProperties2, under both of their names. */
static void ask(VkPhysicalDevice physical, void *head, void (VKAPI_PTR *get)(VkPhysicalDevice, void *))
{
    struct changes changes = {0};
    bool counts = can_count(physical), maintains = gives_maintenance5(physical);
    VkPhysicalDeviceShaderInstrumentationFeaturesARM *feature =
        take_out(&changes, head, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INSTRUMENTATION_FEATURES_ARM);
    VkPhysicalDeviceShaderInstrumentationPropertiesARM *properties =
        take_out(&changes, head, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INSTRUMENTATION_PROPERTIES_ARM);
    VkPhysicalDeviceMaintenance5FeaturesKHR *feature5 = NULL;
    VkPhysicalDeviceMaintenance5PropertiesKHR *properties5 = NULL;
    if (maintains) {
        feature5 = take_out(&changes, head, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_5_FEATURES_KHR);
        properties5 = take_out(&changes, head, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_5_PROPERTIES_KHR);
    }
    get(physical, head);
    change_back(&changes);
    if (feature)
        feature->shaderInstrumentation = counts && !is("INSTRUMENTATION_FEATURE", "0");
    if (properties) {
        properties->numMetrics = counts ? metrics() : 0;
        properties->perBasicBlockGranularity = counts && blocks();
    }
    if (feature5)
        feature5->maintenance5 = counts;
    if (properties5) {
        size_t first = offsetof(VkPhysicalDeviceMaintenance5PropertiesKHR, earlyFragmentMultisampleCoverageAfterSampleCounting);
        memset((char *)properties5 + first, 0, sizeof *properties5 - first);
    }
}

#define GET_TWO(ours, name, type) \
    static VKAPI_ATTR void VKAPI_CALL ours(VkPhysicalDevice physical, type *head) \
    { \
        ask(physical, head, (void (VKAPI_PTR *)(VkPhysicalDevice, void *))below.name); \
    }

GET_TWO(get_features, vkGetPhysicalDeviceFeatures2, VkPhysicalDeviceFeatures2)
GET_TWO(get_features_khr, vkGetPhysicalDeviceFeatures2KHR, VkPhysicalDeviceFeatures2)
GET_TWO(get_properties, vkGetPhysicalDeviceProperties2, VkPhysicalDeviceProperties2)
GET_TWO(get_properties_khr, vkGetPhysicalDeviceProperties2KHR, VkPhysicalDeviceProperties2)

/* ── Counting: how many there are said to be, and how many get written ──────────────────────────────────────── */

struct answer {
    uint32_t write; /* elements of the array to fill in */
    VkResult result;
};

static struct answer answer(const char *variable, uint32_t all, uint32_t *count, bool array, unsigned *asked)
{
    uint32_t half = (all + 1) / 2, room = *count;
    if (is(variable, "stub"))
        return (struct answer){0, VK_SUCCESS};
    if (is(variable, "zero"))
        all = 0;
    if (!array) {
        ++*asked;
        bool less = is(variable, "behind") || (is(variable, "grow") && *asked == 1);
        *count = is(variable, "absurd") ? 0xfffffff0u : less ? half : all;
        return (struct answer){0, VK_SUCCESS};
    }
    if (is(variable, "short"))
        all = half;
    *count = room < all ? room : all;
    return (struct answer){*count, room < all || is(variable, "forever") ? VK_INCOMPLETE : VK_SUCCESS};
}

static void describe(VkShaderInstrumentationMetricDescriptionARM *description, uint32_t i)
{
    static const char *const hostile[] = {
        "\033[2J\033[31mred", "two\nlines", "../../../etc/passwd", "[bold]markup[/bold]", "=1+1,\"quoted\"", "\xff\xfe cut \xe2\x82",
    };
    memset(description->name, 0, sizeof description->name);
    memset(description->description, 0, sizeof description->description);
    if (is("INSTRUMENTATION_NAMES", "empty"))
        return;
    if (is("INSTRUMENTATION_NAMES", "unterminated")) {
        memset(description->name, 'n', sizeof description->name);
        memset(description->description, 'd', sizeof description->description);
    } else if (is("INSTRUMENTATION_NAMES", "hostile")) {
        strcpy(description->name, hostile[i % COUNT(hostile)]);
        strcpy(description->description, hostile[(i + 1) % COUNT(hostile)]);
    } else if (is("INSTRUMENTATION_NAMES", "same")) {
        strcpy(description->name, "the same");
        strcpy(description->description, "as all the others");
    } else if (i == 0) {
        strcpy(description->name, "invocations");
        strcpy(description->description, "how often the shader was executed");
    } else {
        snprintf(description->name, sizeof description->name, "made up %u", i);
        snprintf(description->description, sizeof description->description, "a function of the block and of %u", i);
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate_metrics(
    VkPhysicalDevice physical, uint32_t *count, VkShaderInstrumentationMetricDescriptionARM *array)
{
    static unsigned asked;
    FAIL("vkEnumeratePhysicalDeviceShaderInstrumentationMetricsARM");
    uint32_t all = can_count(physical) ? number("INSTRUMENTATION_DESCRIBED", metrics()) : 0;
    struct answer a = answer("INSTRUMENTATION_DESCRIPTIONS", all, count, array != NULL, &asked);
    for (uint32_t i = 0; i < a.write; ++i) {
        if (array[i].sType != VK_STRUCTURE_TYPE_SHADER_INSTRUMENTATION_METRIC_DESCRIPTION_ARM)
            complain("VUID-VkShaderInstrumentationMetricDescriptionARM-sType-sType", "an element without its sType");
        describe(&array[i], i);
    }
    return a.result;
}

/* ── What is remembered ──────────────────────────────────────────────────────────────────────────────────────── */

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

/* ── Collecting what the queries say ─────────────────────────────────────────────────────────────────────────── */

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

/* ── Instrumentation objects ─────────────────────────────────────────────────────────────────────────────────── */

static VKAPI_ATTR VkResult VKAPI_CALL create_object(
    VkDevice device, const VkShaderInstrumentationCreateInfoARM *info, const VkAllocationCallbacks *allocator,
    VkShaderInstrumentationARM *handle)
{
    (void)device, (void)allocator;
    say("create");
    FAIL("vkCreateShaderInstrumentationARM");
    if (info->sType != VK_STRUCTURE_TYPE_SHADER_INSTRUMENTATION_CREATE_INFO_ARM)
        complain("VUID-VkShaderInstrumentationCreateInfoARM-sType-sType", "not its sType");
    if (!enabled) { /* no valid usage of its own says so */
        complain("FEATURE", "vkCreateShaderInstrumentationARM without the feature enabled");
        return VK_ERROR_UNKNOWN;
    }
    struct object *object = calloc(1, sizeof *object);
    pthread_mutex_lock(&lock);
    object->next = objects;
    objects = object;
    pthread_mutex_unlock(&lock);
    *handle = (VkShaderInstrumentationARM)object;
    return VK_SUCCESS;
}

static bool is_used(const struct recording *recording, const struct object *object)
{
    for (size_t i = 0; i < recording->command_count; ++i)
        if (recording->commands[i].object == object)
            return true;
    return false;
}

static bool is_in_flight(const struct object *object)
{
    for (struct recording *each = recordings; each; each = each->next)
        if (is_pending(each) && is_used(each, object))
            return true;
    return false;
}

static VKAPI_ATTR void VKAPI_CALL destroy_object(
    VkDevice device, VkShaderInstrumentationARM handle, const VkAllocationCallbacks *allocator)
{
    (void)device, (void)allocator;
    struct object *object = (struct object *)handle;
    if (!object)
        return;
    say("destroy");
    pthread_mutex_lock(&lock);
    if (is_in_flight(object))
        complain("VUID-vkDestroyShaderInstrumentationARM-instrumentation-12374", "a submission that uses it is pending");
    for (struct recording *each = recordings; each; each = each->next) {
        if (each->active == object)
            each->active = NULL;
        for (size_t i = 0; i < each->command_count; ++i)
            if (each->commands[i].object == object)
                each->commands[i].object = NULL;
    }
    struct object **link = &objects;
    while (*link && *link != object)
        link = &(*link)->next;
    if (*link)
        *link = object->next;
    pthread_mutex_unlock(&lock);
    free(object->rows);
    free(object);
}

struct writer {
    char *at;
    uint32_t length; /* of a block, in bytes */
    uint32_t count, first, end; /* blocks so far, and those that are wanted */
};

static void write_block(
    struct writer *w, const struct row *row, uint32_t sub, VkShaderStageFlags stages, uint32_t block)
{
    uint32_t place = w->count++;
    if (place < w->first || place >= w->end || !w->at)
        return;
    VkShaderInstrumentationMetricDataHeaderARM header = {row->index, sub, stages, block};
    char *at = w->at + (size_t)(place - w->first) * w->length;
    memcpy(at, &header, sizeof header);
    for (uint32_t m = 0; m < metrics(); ++m) {
        uint64_t value = 0;
        for (size_t i = 0; i < COUNT(STAGES); ++i) {
            if (!(stages & STAGES[i].stage))
                continue;
            uint64_t bit = (uint64_t)__builtin_ctz(STAGES[i].stage);
            uint64_t each = (((row->index + 1ull) * 10 + sub) * 100 + bit) * 1000 + block * 10ull + m;
            if (is("INSTRUMENTATION_HUGE", "1"))
                each = UINT64_MAX - block;
            if (m)
                value += row->executions * each;
            else if (!sub && !block)
                value += row->invocations[i];
        }
        memcpy(at + sizeof header + m * sizeof value, &value, sizeof value);
    }
}

/* All blocks in their order: those of `w` that are wanted are written, all are counted. */
static void write_blocks(struct writer *w, const struct object *object)
{
    bool down = is("INSTRUMENTATION_ORDER", "stages"), merged = is("INSTRUMENTATION_STAGES", "merged");
    uint32_t blocks_each = blocks() ? blocks() : 1;
    for (size_t r = 0; r < object->row_count; ++r) {
        const struct row *row = &object->rows[r];
        for (uint32_t sub = 0; sub < subs(); ++sub) {
            for (size_t i = 0; i < COUNT(STAGES); ++i) {
                VkShaderStageFlags stage = merged ? i ? 0 : row->stages : STAGES[down ? COUNT(STAGES) - 1 - i : i].stage;
                for (uint32_t block = 0; block < blocks_each && stage & row->stages; ++block)
                    write_block(w, row, sub, stage, block);
            }
        }
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL get_values(
    VkDevice device, VkShaderInstrumentationARM handle, uint32_t *count, void *values,
    VkShaderInstrumentationValuesFlagsARM flags)
{
    (void)device;
    struct object *object = (struct object *)handle;
    say("values %s", values ? "array" : "count");
    FAIL("vkGetShaderInstrumentationValuesARM");
    if (flags)
        complain("VUID-vkGetShaderInstrumentationValuesARM-flags-zerobitmask", "flags are reserved");
    pthread_mutex_lock(&lock);
    if (is_in_flight(object))
        complain("RACE", "values are read while a submission is pending");
    collect_all();
    struct writer w = {.length = (uint32_t)(sizeof(VkShaderInstrumentationMetricDataHeaderARM) + metrics() * 8)};
    write_blocks(&w, object);
    struct answer a = answer("INSTRUMENTATION_VALUES", w.count, count, values != NULL, &object->asked);
    char *out = values;
    bool back = is("INSTRUMENTATION_ORDER", "reverse");
    for (uint32_t i = 0; back && i < a.write; ++i) {
        uint32_t from = w.count - 1 - i; /* one at a time is slow, and simple */
        struct writer one = {.at = out + (size_t)i * w.length, .length = w.length, .first = from, .end = from + 1};
        write_blocks(&one, object);
    }
    if (!back && a.write) {
        struct writer all = {.at = out, .length = w.length, .end = a.write};
        write_blocks(&all, object);
    }
    pthread_mutex_unlock(&lock);
    return a.result;
}

static VKAPI_ATTR void VKAPI_CALL clear_values(VkDevice device, VkShaderInstrumentationARM handle)
{
    (void)device;
    struct object *object = (struct object *)handle;
    say("clear");
    pthread_mutex_lock(&lock);
    if (is_in_flight(object))
        complain("RACE", "values are cleared while a submission is pending");
    collect_all();
    for (size_t i = 0; i < object->row_count; ++i) {
        object->rows[i].executions = 0;
        memset(object->rows[i].invocations, 0, sizeof object->rows[i].invocations);
    }
    pthread_mutex_unlock(&lock);
}

/* ── Pipelines ───────────────────────────────────────────────────────────────────────────────────────────────── */

/* Takes bit 39 from a create info, and returns whether it was there. `flags` are those of a copy of it. */
static bool take_bit(struct changes *changes, const void *info, uint32_t *flags, const char *kind)
{
    VkPipelineCreateFlags2CreateInfoKHR *two = chained(info, VK_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO_KHR);
    if (!two) {
        say("pipeline %s flags 0x%x", kind, *flags);
        return false;
    }
    say("pipeline %s flags2 0x%llx", kind, (unsigned long long)two->flags);
    VkFlags64 rest = two->flags & ~VK_PIPELINE_CREATE_2_INSTRUMENT_SHADERS_BIT_ARM;
    bool instrument = rest != two->flags;
    if (!listed) /* whose bit it is, the driver below may know: this layer was not asked */
        return false;
    if (flags2_below) {
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
#define GIVEN_DEFERRED deferred,
CREATE_PIPELINES(create_rays, vkCreateRayTracingPipelinesKHR, VkRayTracingPipelineCreateInfoKHR, ray, DEFERRED, GIVEN_DEFERRED)

static VKAPI_ATTR void VKAPI_CALL destroy_pipeline(
    VkDevice device, VkPipeline handle, const VkAllocationCallbacks *allocator)
{
    pthread_mutex_lock(&lock);
    forget_pipeline(handle);
    pthread_mutex_unlock(&lock);
    NEXT(vkDestroyPipeline)(device, handle, allocator);
}

/* ── Command buffers ─────────────────────────────────────────────────────────────────────────────────────────── */

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

static VKAPI_ATTR void VKAPI_CALL execute_buffers(VkCommandBuffer buffer, uint32_t count, const VkCommandBuffer *buffers)
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
        for (size_t i = 0; i < COUNT(STAGES); ++i)
            if (stages & STAGES[i].stage)
                statistics |= STAGES[i].statistic;
        if (!meshes_counted)
            statistics &= VK_QUERY_PIPELINE_STATISTIC_TASK_SHADER_INVOCATIONS_BIT_EXT - 1u;
        VkQueryPoolCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
            .queryType = VK_QUERY_TYPE_PIPELINE_STATISTICS,
            .queryCount = VIEWS,
            /* of a trace the query only says when it is over */
            .pipelineStatistics = statistics ? statistics : VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT,
        };
        if (stages && NEXT(vkCreateQueryPool)(the_device, &info, NULL, &pool) == VK_SUCCESS) {
            *GROW(recording->commands, recording->command_count) = (struct command){
                .object = object, .row = object->row_count, .pool = pool, .statistics = info.pipelineStatistics, .rays = rays};
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

#define REGION const VkStridedDeviceAddressRegionKHR *
#define POINT_draw VK_PIPELINE_BIND_POINT_GRAPHICS
#define POINT_dispatch VK_PIPELINE_BIND_POINT_COMPUTE
#define POINT_trace VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR

/* Every command that takes an index: its kind, name, parameters after the command buffer, arguments, and rays. */
#define COMMANDS(X) \
    X(draw, vkCmdDraw, (VkCommandBuffer b, uint32_t v, uint32_t i, uint32_t f, uint32_t g), (b, v, i, f, g), 0) \
    X(draw, vkCmdDrawIndexed, (VkCommandBuffer b, uint32_t n, uint32_t i, uint32_t f, int32_t o, uint32_t g), (b, n, i, f, o, g), 0) \
    X(draw, vkCmdDrawIndirect, (VkCommandBuffer b, VkBuffer u, VkDeviceSize o, uint32_t n, uint32_t s), (b, u, o, n, s), 0) \
    X(draw, vkCmdDrawIndexedIndirect, (VkCommandBuffer b, VkBuffer u, VkDeviceSize o, uint32_t n, uint32_t s), (b, u, o, n, s), 0) \
    X(draw, vkCmdDrawIndirectCount, COUNTED, (b, u, o, c, p, m, s), 0) \
    X(draw, vkCmdDrawIndirectCountKHR, COUNTED, (b, u, o, c, p, m, s), 0) \
    X(draw, vkCmdDrawIndirectCountAMD, COUNTED, (b, u, o, c, p, m, s), 0) \
    X(draw, vkCmdDrawIndexedIndirectCount, COUNTED, (b, u, o, c, p, m, s), 0) \
    X(draw, vkCmdDrawIndexedIndirectCountKHR, COUNTED, (b, u, o, c, p, m, s), 0) \
    X(draw, vkCmdDrawIndexedIndirectCountAMD, COUNTED, (b, u, o, c, p, m, s), 0) \
    X(draw, vkCmdDrawIndirectByteCountEXT, \
      (VkCommandBuffer b, uint32_t n, uint32_t f, VkBuffer u, VkDeviceSize o, uint32_t c, uint32_t s), (b, n, f, u, o, c, s), 0) \
    X(draw, vkCmdDrawMultiEXT, \
      (VkCommandBuffer b, uint32_t n, const VkMultiDrawInfoEXT *d, uint32_t i, uint32_t f, uint32_t s), (b, n, d, i, f, s), 0) \
    X(draw, vkCmdDrawMultiIndexedEXT, \
      (VkCommandBuffer b, uint32_t n, const VkMultiDrawIndexedInfoEXT *d, uint32_t i, uint32_t f, uint32_t s, const int32_t *o), \
      (b, n, d, i, f, s, o), 0) \
    X(draw, vkCmdDrawMeshTasksEXT, (VkCommandBuffer b, uint32_t x, uint32_t y, uint32_t z), (b, x, y, z), 0) \
    X(draw, vkCmdDrawMeshTasksIndirectEXT, (VkCommandBuffer b, VkBuffer u, VkDeviceSize o, uint32_t n, uint32_t s), (b, u, o, n, s), 0) \
    X(draw, vkCmdDrawMeshTasksIndirectCountEXT, COUNTED, (b, u, o, c, p, m, s), 0) \
    X(dispatch, vkCmdDispatch, (VkCommandBuffer b, uint32_t x, uint32_t y, uint32_t z), (b, x, y, z), 0) \
    X(dispatch, vkCmdDispatchBase, BASED, (b, i, j, k, x, y, z), 0) \
    X(dispatch, vkCmdDispatchBaseKHR, BASED, (b, i, j, k, x, y, z), 0) \
    X(dispatch, vkCmdDispatchIndirect, (VkCommandBuffer b, VkBuffer u, VkDeviceSize o), (b, u, o), 0) \
    X(trace, vkCmdTraceRaysKHR, \
      (VkCommandBuffer b, REGION r, REGION m, REGION h, REGION c, uint32_t x, uint32_t y, uint32_t z), \
      (b, r, m, h, c, x, y, z), (uint64_t)x * y * z) \
    X(trace, vkCmdTraceRaysIndirectKHR, (VkCommandBuffer b, REGION r, REGION m, REGION h, REGION c, VkDeviceAddress a), (b, r, m, h, c, a), 0) \
    X(trace, vkCmdTraceRaysIndirect2KHR, (VkCommandBuffer b, VkDeviceAddress a), (b, a), 0)
#define COUNTED \
    (VkCommandBuffer b, VkBuffer u, VkDeviceSize o, VkBuffer c, VkDeviceSize p, uint32_t m, uint32_t s)
#define BASED (VkCommandBuffer b, uint32_t i, uint32_t j, uint32_t k, uint32_t x, uint32_t y, uint32_t z)

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

/* ── Submissions ─────────────────────────────────────────────────────────────────────────────────────────────── */

static struct queue *queue_of(VkQueue handle)
{
    for (struct queue *each = queues; each; each = each->next)
        if (each->handle == handle)
            return each;
    struct queue *queue = calloc(1, sizeof *queue);
    queue->handle = handle;
    queue->next = queues;
    return queues = queue;
}

static struct fence *fence_of(VkFence handle)
{
    struct fence *each = fences;
    while (each && each->handle != handle)
        each = each->next;
    return each;
}

static void forget_fence(VkFence handle)
{
    struct fence **link = &fences;
    while (*link && (*link)->handle != handle)
        link = &(*link)->next;
    if (*link) {
        struct fence *gone = *link;
        *link = gone->next;
        free(gone);
    }
}

/* An error for a submission or a wait, once there was something instrumented. */
static VkResult queue_failure(const char *name)
{
    if (lost)
        return VK_ERROR_DEVICE_LOST;
    VkResult result = instrumented_submissions ? failure(name) : VK_SUCCESS;
    lost = result == VK_ERROR_DEVICE_LOST;
    return result;
}

/* Makes a recording's queries ready for another run of it. Returns whether it instruments. */
static bool prepare(struct recording *recording, struct queue *queue, uint64_t submission)
{
    bool instruments = recording->instruments;
    if (recording->command_count && recording->queue == queue && recording->submission == submission) {
        fputs("instrumentation-layer: twice in one submission: its queries can't count that\n", stderr);
        abort();
    }
    if (!collect(recording)) { /* of simultaneous use: an earlier run is not over */
        NEXT(vkDeviceWaitIdle)(the_device);
        collect(recording);
    }
    PFN_vkResetQueryPool reset = NEXT(vkResetQueryPoolEXT);
    for (size_t i = 0; i < recording->command_count; ++i) {
        if (!recording->commands[i].object)
            complain("VUID-vkQueueSubmit-pCommandBuffers-00070", "its instrumentation object is destroyed");
        reset(the_device, recording->commands[i].pool, 0, VIEWS);
        recording->commands[i].uncollected = true;
    }
    recording->queue = queue;
    recording->submission = submission;
    for (size_t i = 0; i < recording->secondary_count; ++i)
        instruments |= prepare(recording->secondaries[i], queue, submission);
    return instruments;
}

/* It was refused: none of it runs. */
static void withdraw(struct queue *queue, uint64_t submission)
{
    for (struct recording *each = recordings; each; each = each->next) {
        if (each->queue != queue || each->submission != submission)
            continue;
        each->queue = NULL;
        for (size_t i = 0; i < each->command_count; ++i)
            each->commands[i].uncollected = false;
    }
}

struct submission {
    struct queue *queue;
    uint64_t number;
    bool instruments;
};

static struct submission begin_submission(VkQueue handle)
{
    struct queue *queue = queue_of(handle);
    return (struct submission){queue, ++queue->submitted, false};
}

static void submit_buffer(struct submission *submission, VkCommandBuffer buffer)
{
    struct recording *recording = recording_of(buffer);
    if (recording)
        submission->instruments |= prepare(recording, submission->queue, submission->number);
}

static VkResult submit_failure(struct submission *submission, const char *name)
{
    if (submission->instruments) {
        ++instrumented_submissions;
        say("submit");
        uint32_t hang = number("INSTRUMENTATION_HANG", 0);
        if (hang && instrumented_submissions >= hang && !submission->queue->hung)
            submission->queue->hung = submission->number;
    }
    return queue_failure(name);
}

static VkResult end_submission(struct submission *submission, VkFence handle, VkResult result)
{
    if (result != VK_SUCCESS) {
        withdraw(submission->queue, submission->number);
    } else if (handle) {
        forget_fence(handle);
        struct fence *fence = calloc(1, sizeof *fence);
        *fence = (struct fence){fences, handle, submission->queue, submission->number};
        fences = fence;
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_submit(
    VkQueue queue, uint32_t count, const VkSubmitInfo *infos, VkFence fence)
{
    pthread_mutex_lock(&lock);
    struct submission submission = begin_submission(queue);
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t j = 0; j < infos[i].commandBufferCount; ++j)
            submit_buffer(&submission, infos[i].pCommandBuffers[j]);
    VkResult result = submit_failure(&submission, "vkQueueSubmit");
    if (result == VK_SUCCESS)
        result = NEXT(vkQueueSubmit)(queue, count, infos, fence);
    result = end_submission(&submission, fence, result);
    pthread_mutex_unlock(&lock);
    return result;
}

static VkResult submit2(VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos, VkFence fence, const char *name)
{
    pthread_mutex_lock(&lock);
    struct submission submission = begin_submission(queue);
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t j = 0; j < infos[i].commandBufferInfoCount; ++j)
            submit_buffer(&submission, infos[i].pCommandBufferInfos[j].commandBuffer);
    VkResult result = submit_failure(&submission, name);
    if (result == VK_SUCCESS)
        result = ((PFN_vkQueueSubmit2)next.device_proc(the_device, name))(queue, count, infos, fence);
    result = end_submission(&submission, fence, result);
    pthread_mutex_unlock(&lock);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_submit2(
    VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos, VkFence fence)
{
    return submit2(queue, count, infos, fence, "vkQueueSubmit2");
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_submit2_khr(
    VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos, VkFence fence)
{
    return submit2(queue, count, infos, fence, "vkQueueSubmit2KHR");
}

/* ── Waiting ─────────────────────────────────────────────────────────────────────────────────────────────────── */

static void over(VkFence handle)
{
    struct fence *fence = fence_of(handle);
    if (fence && fence->queue->completed < fence->submission)
        fence->queue->completed = fence->submission;
}

static void all_over(VkQueue only)
{
    pthread_mutex_lock(&lock);
    for (struct queue *each = queues; each; each = each->next)
        if (!only || each->handle == only)
            each->completed = each->submitted;
    pthread_mutex_unlock(&lock);
}

static bool fence_hangs(VkFence handle)
{
    struct fence *fence = fence_of(handle);
    return fence && fence->queue->hung && fence->submission >= fence->queue->hung;
}

static bool queue_hangs(VkQueue only)
{
    for (struct queue *each = queues; each; each = each->next)
        if ((!only || each->handle == only) && each->hung)
            return true;
    return false;
}

/* As long as the caller may wait, in nanoseconds. */
static VkResult wait_in_vain(uint64_t limit)
{
    const uint64_t second = 1000000000;
    say("waits in vain");
    struct timespec left = {.tv_sec = (time_t)(limit / second), .tv_nsec = (long)(limit % second)};
    if (limit / second > 1000000)
        for (;;)
            pause();
    while (nanosleep(&left, &left) != 0) {
    }
    return VK_TIMEOUT;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_for_fences(
    VkDevice device, uint32_t count, const VkFence *handles, VkBool32 all, uint64_t limit)
{
    bool hangs = false;
    pthread_mutex_lock(&lock);
    VkResult result = queue_failure("vkWaitForFences");
    for (uint32_t i = 0; i < count; ++i)
        hangs |= fence_hangs(handles[i]);
    pthread_mutex_unlock(&lock);
    if (result != VK_SUCCESS)
        return result;
    if (hangs)
        return wait_in_vain(limit);
    result = NEXT(vkWaitForFences)(device, count, handles, all, limit);
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; result == VK_SUCCESS && i < count; ++i)
        if (all || NEXT(vkGetFenceStatus)(device, handles[i]) == VK_SUCCESS)
            over(handles[i]);
    pthread_mutex_unlock(&lock);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_fence_status(VkDevice device, VkFence handle)
{
    pthread_mutex_lock(&lock);
    VkResult result = queue_failure("vkGetFenceStatus");
    if (result == VK_SUCCESS)
        result = fence_hangs(handle) ? VK_NOT_READY : NEXT(vkGetFenceStatus)(device, handle);
    if (result == VK_SUCCESS)
        over(handle);
    pthread_mutex_unlock(&lock);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL reset_fences(VkDevice device, uint32_t count, const VkFence *handles)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < count; ++i)
        forget_fence(handles[i]);
    pthread_mutex_unlock(&lock);
    return NEXT(vkResetFences)(device, count, handles);
}

static VKAPI_ATTR void VKAPI_CALL destroy_fence(VkDevice device, VkFence handle, const VkAllocationCallbacks *allocator)
{
    pthread_mutex_lock(&lock);
    forget_fence(handle);
    pthread_mutex_unlock(&lock);
    NEXT(vkDestroyFence)(device, handle, allocator);
}

static VkResult wait_for_semaphores(VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t limit, const char *name)
{
    VkResult result = queue_failure(name);
    if (result != VK_SUCCESS)
        return result;
    if (queue_hangs(NULL))
        return wait_in_vain(limit);
    result = ((PFN_vkWaitSemaphores)next.device_proc(the_device, name))(device, info, limit);
    if (result == VK_SUCCESS)
        all_over(NULL);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_semaphores(VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t limit)
{
    return wait_for_semaphores(device, info, limit, "vkWaitSemaphores");
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_semaphores_khr(
    VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t limit)
{
    return wait_for_semaphores(device, info, limit, "vkWaitSemaphoresKHR");
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_wait_idle(VkQueue queue)
{
    VkResult result = queue_failure("vkQueueWaitIdle");
    if (result == VK_SUCCESS && queue_hangs(queue))
        wait_in_vain(UINT64_MAX);
    if (result == VK_SUCCESS)
        result = NEXT(vkQueueWaitIdle)(queue);
    if (result == VK_SUCCESS)
        all_over(queue);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL device_wait_idle(VkDevice device)
{
    VkResult result = queue_failure("vkDeviceWaitIdle");
    if (result == VK_SUCCESS && queue_hangs(NULL))
        wait_in_vain(UINT64_MAX);
    if (result == VK_SUCCESS)
        result = NEXT(vkDeviceWaitIdle)(device);
    if (result == VK_SUCCESS)
        all_over(NULL);
    return result;
}

/* ── Instance and device ─────────────────────────────────────────────────────────────────────────────────────── */

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
    VkPhysicalDeviceHostQueryResetFeatures *own = chained(info, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES);
    if (of12) {
        switch_on(changes, &of12->hostQueryReset);
    } else if (own) {
        switch_on(changes, &own->hostQueryReset);
    } else {
        *reset = (VkPhysicalDeviceHostQueryResetFeatures){
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES, (void *)info->pNext, VK_TRUE};
        info->pNext = reset;
    }
    VkPhysicalDeviceMeshShaderFeaturesEXT *mesh = chained(info, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MESH_SHADER_FEATURES_EXT);
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
    pipeline_count = 0;
    instrumented_submissions = 0;
    lost = listed = enabled = meshes_counted = false;
    NEXT(vkDestroyDevice)(device, allocator);
    the_device = NULL;
}

/* ── The loader's side ───────────────────────────────────────────────────────────────────────────────────────── */

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
