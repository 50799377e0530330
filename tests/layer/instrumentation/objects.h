/* Instrumentation objects: made, read, cleared and destroyed. */
#ifndef OBJECTS_H
#define OBJECTS_H

#include "physical.h"
#include "state.h"

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
                VkShaderStageFlags stage = STAGES[down ? COUNT(STAGES) - 1 - i : i].stage;
                if (merged)
                    stage = i ? 0 : row->stages;
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

#endif
