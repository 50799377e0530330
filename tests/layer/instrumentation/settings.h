/* What stands below, what was asked for in the environment, and what is told. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../arm.h"
#include "../layer.h"

#define LAYER "VK_LAYER_SHADERSTAT_instrumentation"
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct {
    PFN_vkGetInstanceProcAddr instance_proc;
    PFN_vkGetDeviceProcAddr device_proc;
    PFN_GetPhysicalDeviceProcAddr physical_proc;
} next;
static VkInstance the_instance;
static VkDevice the_device;
static bool listed;         /* the device was created with the extension… */
static bool enabled;        /* …and with its feature */
static bool flags2_below;   /* the driver itself knows VkPipelineCreateFlags2CreateInfo */
static bool meshes_counted; /* it counts task and mesh shaders */
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

/* ── What was asked for ──────────────────────────────────────────────────────────────────────────────────────────── */

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

#endif
