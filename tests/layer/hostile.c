/* A Vulkan layer that plays every trick that a driver has been seen to play, and some that one may.
 *
 * HOSTILE_FAULT   PLACE:ACT, done when the call at PLACE is made, or the name of a false answer; see below.
 * HOSTILE_MARKER  only pipelines with a module that holds these bytes are touched (an OpName or an entry point's
 *                 name). Without it all are.
 *
 * HOSTILE_ALSO    NAME=ACT,NAME=ACT...: further acts, done when a pipeline is made of a module that holds the bytes NAME.
 *
 * HOSTILE_SLEEP_MS  how much longer every pipeline takes.
 *
 * PLACE  instance device module compute graphics executables statistics representations
 * ACT    segv abort exit hang slow slowly noise flood close error
 *
 * Answers: KIND-TRICK with KIND executables, statistics or representations and TRICK
 *   zero     none; an array call all the same ends in abort(), as NVIDIA 580.159 does
 *   grow     two at first, four when asked again (VK_INCOMPLETE in between)
 *   shrink   five counted, two written, VK_SUCCESS
 *   forever  VK_INCOMPLETE, whatever the array
 *   absurd   4,294,967,280 of them
 * and null-pipeline required names-empty names-hostile names-unterminated names-duplicate values stages-none
 * stages-unknown stages-merged subgroup-odd text-unterminated text-invalid text-nuls binary ghost size-grow size-shrink
 * size-absurd.
 *
 * It is strict as well: an output element without its sType, or an array call of length 0, ends in abort().
 */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layer.h"

#define MAX_MARKED 4096

/* One instance and one device in a child: plain globals will do. */
static PFN_vkGetInstanceProcAddr next_instance_proc;
static PFN_vkGetDeviceProcAddr next_device_proc;
static VkInstance the_instance;
static VkDevice the_device;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t marked[MAX_MARKED]; /* handles of modules and pipelines that are to be touched */
static unsigned marked_count;

#define NEXT(name) ((PFN_##name)next_device_proc(the_device, #name))

/* ── What was asked for ──────────────────────────────────────────────────────────────────────────────────────── */

static const char *fault(void)
{
    const char *text = getenv("HOSTILE_FAULT");
    return text ? text : "";
}

static bool is_fault(const char *name)
{
    return strcmp(fault(), name) == 0;
}

/* The trick of KIND-TRICK, or NULL where the fault is about another kind. */
static const char *trick(const char *kind)
{
    size_t length = strlen(kind);
    return strncmp(fault(), kind, length) == 0 && fault()[length] == '-' ? fault() + length + 1 : NULL;
}

static bool holds_marker(const void *code, size_t size)
{
    const char *marker = getenv("HOSTILE_MARKER");
    return !marker || memmem(code, size, marker, strlen(marker));
}

static void mark(uint64_t handle)
{
    pthread_mutex_lock(&lock);
    if (marked_count < MAX_MARKED)
        marked[marked_count++] = handle;
    pthread_mutex_unlock(&lock);
}

static bool is_marked(uint64_t handle)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < marked_count && !found; ++i)
        found = marked[i] == handle;
    pthread_mutex_unlock(&lock);
    return found;
}

static void unmark(uint64_t handle) /* drivers give a freed handle again */
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < marked_count; ++i)
        if (marked[i] == handle)
            marked[i--] = marked[--marked_count];
    pthread_mutex_unlock(&lock);
}

static void broken(const char *rule)
{
    fprintf(stderr, "hostile layer: the caller broke a rule: %s\n", rule);
    abort();
}

/* ── Acts ────────────────────────────────────────────────────────────────────────────────────────────────────── */

static VkResult perform(const char *what);

static VkResult act(const char *place)
{
    size_t length = strlen(place);
    if (strncmp(fault(), place, length) != 0 || fault()[length] != ':')
        return VK_SUCCESS;
    return perform(fault() + length + 1);
}

static VkResult perform(const char *what)
{
    static char line[1024];
    memset(line, '#', sizeof line - 1);
    if (strcmp(what, "segv") == 0) {
        fputs("hostile layer: about to fall\n", stderr);
        *(volatile int *)0 = 0;
    } else if (strcmp(what, "abort") == 0) {
        fputs("hostile layer: Assertion `false' failed.\n", stderr);
        abort();
    } else if (strcmp(what, "exit") == 0) {
        exit(0);
    } else if (strcmp(what, "hang") == 0) {
        for (;;)
            pause();
    } else if (strcmp(what, "slow") == 0) {
        sleep(1);
    } else if (strcmp(what, "slowly") == 0) {
        usleep(50000);
    } else if (strcmp(what, "noise") == 0) {
        printf("{\"id\": 1, \"status\": \"ok\"}\n"); /* buffered by C, and written behind Python's back */
        fflush(stdout);
        for (int i = 0; i < 256; ++i)
            if (write(1, line, sizeof line) < 0)
                break;
    } else if (strcmp(what, "flood") == 0) {
        for (int i = 0; i < 4096; ++i)
            fprintf(stderr, "%s\n", line); /* 4 MiB: more than any pipe holds */
    } else if (strcmp(what, "close") == 0) {
        for (int i = 0; i < 256; ++i)
            close(i);
    } else if (strcmp(what, "error") == 0) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    return VK_SUCCESS;
}

/* ── Counting: how many there are said to be, and how many get written ──────────────────────────────────────── */

struct count {
    uint32_t write; /* elements to fill in, at most the array's length */
    VkResult result;
    bool done; /* it was a count call, or an error: nothing to fill in */
};

static struct count count(const char *kind, uint32_t *length, const void *array, unsigned *asked)
{
    const char *how = trick(kind);
    uint32_t all = 1;
    if (!array)
        ++*asked;
    if (how && strcmp(how, "zero") == 0)
        all = 0;
    else if (how && strcmp(how, "grow") == 0)
        all = *asked > 1 || array ? 4 : 2;
    else if (how && strcmp(how, "shrink") == 0)
        all = array ? 2 : 5;
    else if (how && strcmp(how, "forever") == 0)
        all = *asked + 1;
    else if (how && strcmp(how, "absurd") == 0)
        all = 0xfffffff0u;
    else if (strcmp(kind, "executables") != 0 && is_fault("values"))
        all = 9;
    else if (is_fault("names-hostile"))
        all = 6;
    else if (is_fault("names-duplicate"))
        all = 3;
    if (!array) {
        *length = all;
        return (struct count){0, VK_SUCCESS, true};
    }
    if (*length == 0)
        broken("an array call of length 0");
    bool cut = *length < all || (how && strcmp(how, "forever") == 0);
    if (all < *length)
        *length = all;
    return (struct count){*length, cut ? VK_INCOMPLETE : VK_SUCCESS, false};
}

static void put_name(char *name, const char *kind, uint32_t i)
{
    static const char *const hostile[] = {
        "\033[2J\033[31mred", "two\nlines", "../../../etc/passwd", "[bold]markup[/bold]", "=1+1,\"quoted\"", "\xff\xfe cut \xe2\x82",
    };
    memset(name, 0, VK_MAX_DESCRIPTION_SIZE);
    if (is_fault("names-empty"))
        return;
    if (is_fault("names-unterminated"))
        memset(name, 'n', VK_MAX_DESCRIPTION_SIZE);
    else if (is_fault("names-hostile"))
        strcpy(name, hostile[i % 6]);
    else if (is_fault("names-duplicate"))
        strcpy(name, "the same");
    else
        sprintf(name, "%s %u", kind, i);
}

/* ── Answers ─────────────────────────────────────────────────────────────────────────────────────────────────── */

static VKAPI_ATTR VkResult VKAPI_CALL get_executables(
    VkDevice device, const VkPipelineInfoKHR *info, uint32_t *length, VkPipelineExecutablePropertiesKHR *array)
{
    static unsigned asked;
    bool ours = is_marked((uint64_t)info->pipeline);
    if (ours) {
        VkResult result = act("executables");
        if (result != VK_SUCCESS)
            return result;
    }
    if (!ours || strchr(fault(), ':') || !fault()[0])
        return NEXT(vkGetPipelineExecutablePropertiesKHR)(device, info, length, array);
    struct count c = count("executables", length, array, &asked);
    for (uint32_t i = 0; i < c.write; ++i) {
        if (array[i].sType != VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR)
            broken("sType of VkPipelineExecutablePropertiesKHR");
        put_name(array[i].name, "Executable", i);
        put_name(array[i].description, "what it is", i);
        array[i].stages = is_fault("stages-none")      ? 0
                          : is_fault("stages-unknown") ? 0x40000020
                          : is_fault("stages-merged")  ? 0x9
                                                       : VK_SHADER_STAGE_COMPUTE_BIT;
        array[i].subgroupSize = is_fault("subgroup-odd") ? 333 : 64;
    }
    return c.result;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_statistics(
    VkDevice device, const VkPipelineExecutableInfoKHR *info, uint32_t *length, VkPipelineExecutableStatisticKHR *array)
{
    static unsigned asked;
    bool ours = is_marked((uint64_t)info->pipeline);
    if (ours) {
        VkResult result = act("statistics");
        if (result != VK_SUCCESS)
            return result;
    }
    if (!ours || strchr(fault(), ':') || !fault()[0])
        return NEXT(vkGetPipelineExecutableStatisticsKHR)(device, info, length, array);
    struct count c = count("statistics", length, array, &asked);
    for (uint32_t i = 0; i < c.write; ++i) {
        VkPipelineExecutableStatisticKHR *s = &array[i];
        if (s->sType != VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR)
            broken("sType of VkPipelineExecutableStatisticKHR");
        put_name(s->name, "Statistic", i);
        put_name(s->description, "what it counts", i);
        s->format = VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR;
        s->value.u64 = 11ull * i;
        if (!is_fault("values"))
            continue;
        switch (i) {
        case 0: s->value.u64 = UINT64_MAX; break;
        case 1: s->value.u64 = (1ull << 53) + 1; break;
        case 2: s->format = VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR, s->value.i64 = INT64_MIN; break;
        case 3: s->format = VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR, s->value.f64 = NAN; break;
        case 4: s->format = VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR, s->value.f64 = -INFINITY; break;
        case 5: s->format = VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR, s->value.f64 = 0.1; break;
        case 6: /* a VkBool32 fills four of the union's eight bytes: the others hold what lay there */
            s->format = VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR, s->value.u64 = 0xdeadbeef00000001ull;
            break;
        case 7: s->format = VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR, s->value.u64 = 2; break;
        case 8: s->format = 77, s->value.u64 = 5; break;
        }
    }
    return c.result;
}

static void put_text(VkPipelineExecutableInternalRepresentationKHR *r, const char *bytes, size_t size)
{
    if (r->pData) {
        size_t room = r->dataSize < size ? r->dataSize : size;
        memcpy(r->pData, bytes, room); /* no NUL where it is cut: Turnip and NVK */
        r->dataSize = room;
    } else {
        r->dataSize = size;
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL get_representations(
    VkDevice device, const VkPipelineExecutableInfoKHR *info, uint32_t *length, VkPipelineExecutableInternalRepresentationKHR *array)
{
    static unsigned asked;
    bool ours = is_marked((uint64_t)info->pipeline);
    if (ours) {
        VkResult result = act("representations");
        if (result != VK_SUCCESS)
            return result;
    }
    if (!ours || strchr(fault(), ':') || !fault()[0])
        return NEXT(vkGetPipelineExecutableInternalRepresentationsKHR)(device, info, length, array);
    struct count c = count("representations", length, array, &asked);
    for (uint32_t i = 0; i < c.write; ++i) {
        VkPipelineExecutableInternalRepresentationKHR *r = &array[i];
        if (r->sType != VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR)
            broken("sType of VkPipelineExecutableInternalRepresentationKHR");
        put_name(r->name, "Representation", i);
        put_name(r->description, "what it shows", i);
        r->isText = VK_TRUE;
        if (is_fault("text-unterminated")) {
            put_text(r, "no end", 6);
        } else if (is_fault("text-invalid")) {
            put_text(r, "caf\xe9 \x1b[2J\n", 11);
        } else if (is_fault("text-nuls")) {
            put_text(r, "code\0rest of the buffer\0", 24);
        } else if (is_fault("binary")) {
            r->isText = VK_FALSE;
            put_text(r, "\x7f" "ELF\0\0\xff\0", 8);
        } else if (is_fault("ghost")) { /* RADV counts a third one that it doesn't write */
            memset(r->name, 0, sizeof r->name);
            put_text(r, "", 0);
        } else if (is_fault("size-absurd") && !r->pData) {
            r->dataSize = (size_t)1 << 62;
        } else if (is_fault("size-grow")) { /* longer once the buffer is there */
            bool room = r->pData && r->dataSize >= 12;
            c.result = r->pData && !room ? VK_INCOMPLETE : c.result;
            put_text(r, "longer text", r->pData || asked > 1 ? 12 : 4);
        } else if (is_fault("size-shrink")) { /* shorter once the buffer is there */
            put_text(r, r->pData ? "short" : "something long", r->pData ? 6 : 15);
        } else {
            char text[32];
            put_text(r, text, (size_t)sprintf(text, "text %u\n", i) + 1);
        }
    }
    return c.result;
}

/* ── Making modules and pipelines ────────────────────────────────────────────────────────────────────────────── */

/* The act of HOSTILE_ALSO for a module, or NULL. */
static const char *also(const void *code, size_t size)
{
    static char list[1024];
    const char *given = getenv("HOSTILE_ALSO");
    if (!given || strlen(given) >= sizeof list)
        return NULL;
    strcpy(list, given);
    for (char *save, *name = strtok_r(list, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
        char *what = strchr(name, '=');
        if (!what)
            continue;
        *what = 0;
        if (memmem(code, size, name, strlen(name)))
            return what + 1;
    }
    return NULL;
}

static struct {
    VkShaderModule module;
    char what[16];
} later[MAX_MARKED];
static unsigned later_count;

static VKAPI_ATTR VkResult VKAPI_CALL create_module(
    VkDevice device, const VkShaderModuleCreateInfo *info, const VkAllocationCallbacks *allocator, VkShaderModule *module)
{
    bool ours = holds_marker(info->pCode, info->codeSize);
    VkResult result = ours ? act("module") : VK_SUCCESS;
    if (result != VK_SUCCESS)
        return result;
    result = NEXT(vkCreateShaderModule)(device, info, allocator, module);
    if (result == VK_SUCCESS) {
        unmark((uint64_t)*module);
        if (ours)
            mark((uint64_t)*module);
        for (unsigned i = 0; i < later_count; ++i)
            if (later[i].module == *module)
                later[i--] = later[--later_count];
        const char *what = also(info->pCode, info->codeSize);
        if (what && later_count < MAX_MARKED) {
            later[later_count].module = *module;
            snprintf(later[later_count++].what, sizeof later->what, "%s", what);
        }
    }
    return result;
}

static bool stage_is_ours(const VkPipelineShaderStageCreateInfo *stage)
{
    if (stage->module)
        return is_marked((uint64_t)stage->module);
    for (const VkBaseInStructure *next = stage->pNext; next; next = next->pNext)
        if (next->sType == VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO) { /* maintenance5: a module without a handle */
            const VkShaderModuleCreateInfo *info = (const void *)next;
            return holds_marker(info->pCode, info->codeSize);
        }
    return false;
}

/* What both kinds of pipeline do: `ours` says whether the one pipeline of this call is to be touched. */
static VkResult before(const char *place, bool ours)
{
    const char *pause = getenv("HOSTILE_SLEEP_MS");
    if (pause)
        usleep((useconds_t)atoi(pause) * 1000);
    return ours ? act(place) : VK_SUCCESS;
}

static VkResult after(VkResult result, bool ours, VkPipeline *pipeline)
{
    if (result != VK_SUCCESS)
        return result;
    unmark((uint64_t)*pipeline);
    if (!ours)
        return result;
    mark((uint64_t)*pipeline);
    if (is_fault("null-pipeline") || is_fault("required")) {
        *pipeline = VK_NULL_HANDLE; /* leaks the pipeline, in a child that soon ends */
        return is_fault("required") ? VK_PIPELINE_COMPILE_REQUIRED : VK_SUCCESS;
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_compute(
    VkDevice device, VkPipelineCache cache, uint32_t count, const VkComputePipelineCreateInfo *infos,
    const VkAllocationCallbacks *allocator, VkPipeline *pipelines)
{
    bool ours = stage_is_ours(&infos[0].stage);
    VkResult result = before("compute", ours);
    for (unsigned i = 0; result == VK_SUCCESS && i < later_count; ++i)
        if (later[i].module == infos[0].stage.module)
            result = perform(later[i].what);
    if (result == VK_SUCCESS)
        result = NEXT(vkCreateComputePipelines)(device, cache, count, infos, allocator, pipelines);
    return after(result, ours, pipelines);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_graphics(
    VkDevice device, VkPipelineCache cache, uint32_t count, const VkGraphicsPipelineCreateInfo *infos,
    const VkAllocationCallbacks *allocator, VkPipeline *pipelines)
{
    bool ours = false;
    for (uint32_t i = 0; i < infos[0].stageCount; ++i)
        ours |= stage_is_ours(&infos[0].pStages[i]);
    VkResult result = before("graphics", ours);
    if (result == VK_SUCCESS)
        result = NEXT(vkCreateGraphicsPipelines)(device, cache, count, infos, allocator, pipelines);
    return after(result, ours, pipelines);
}

/* ── The loader's side ───────────────────────────────────────────────────────────────────────────────────────── */

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(
    const VkInstanceCreateInfo *info, const VkAllocationCallbacks *allocator, VkInstance *instance)
{
    next_instance_proc = instance_link(info).pfnNextGetInstanceProcAddr;
    if (!next_instance_proc)
        return VK_ERROR_INITIALIZATION_FAILED;
    VkResult result = act("instance");
    if (result == VK_SUCCESS)
        result = ((PFN_vkCreateInstance)next_instance_proc(NULL, "vkCreateInstance"))(info, allocator, instance);
    if (result == VK_SUCCESS)
        the_instance = *instance;
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(
    VkPhysicalDevice physical, const VkDeviceCreateInfo *info, const VkAllocationCallbacks *allocator, VkDevice *device)
{
    VkLayerDeviceLink link = device_link(info);
    PFN_vkGetInstanceProcAddr instance_proc = link.pfnNextGetInstanceProcAddr;
    next_device_proc = link.pfnNextGetDeviceProcAddr;
    if (!next_device_proc)
        return VK_ERROR_INITIALIZATION_FAILED;
    VkResult result = act("device");
    if (result == VK_SUCCESS)
        result = ((PFN_vkCreateDevice)instance_proc(the_instance, "vkCreateDevice"))(physical, info, allocator, device);
    if (result == VK_SUCCESS)
        the_device = *device;
    return result;
}

static PFN_vkVoidFunction ours(const char *name)
{
    static const struct {
        const char *name;
        PFN_vkVoidFunction function;
    } table[] = {
        {"vkCreateShaderModule", (PFN_vkVoidFunction)create_module},
        {"vkCreateComputePipelines", (PFN_vkVoidFunction)create_compute},
        {"vkCreateGraphicsPipelines", (PFN_vkVoidFunction)create_graphics},
        {"vkGetPipelineExecutablePropertiesKHR", (PFN_vkVoidFunction)get_executables},
        {"vkGetPipelineExecutableStatisticsKHR", (PFN_vkVoidFunction)get_statistics},
        {"vkGetPipelineExecutableInternalRepresentationsKHR", (PFN_vkVoidFunction)get_representations},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i)
        if (strcmp(table[i].name, name) == 0)
            return table[i].function;
    return NULL;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice device, const char *name)
{
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_device_proc;
    PFN_vkVoidFunction next = next_device_proc(device, name);
    return next && ours(name) ? ours(name) : next; /* a command of an extension that isn't enabled stays NULL */
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance instance, const char *name)
{
    if (strcmp(name, "vkGetInstanceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_instance_proc;
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)get_device_proc;
    if (strcmp(name, "vkCreateInstance") == 0)
        return (PFN_vkVoidFunction)create_instance;
    if (strcmp(name, "vkCreateDevice") == 0)
        return (PFN_vkVoidFunction)create_device;
    if (ours(name))
        return ours(name);
    return next_instance_proc ? next_instance_proc(instance, name) : NULL;
}

EXPORT VKAPI_ATTR VkResult VKAPI_CALL vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *version)
{
    return negotiate(version, get_instance_proc, get_device_proc, NULL);
}
