/* What the device says of itself. */
#ifndef PHYSICAL_H
#define PHYSICAL_H

#include "chains.h"

/* ── Extensions, features and properties ─────────────────────────────────────────────────────────────────────────── */

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
    if ((layer && strcmp(layer, LAYER) != 0) || !can_count(physical))
        return enumerate(physical, layer, count, array);
    uint32_t n = 0;
    VkResult result = layer ? VK_SUCCESS : enumerate(physical, NULL, &n, NULL);
    VkExtensionProperties *all = calloc(n + 2, sizeof *all);
    if (result == VK_SUCCESS && !layer)
        result = enumerate(physical, NULL, &n, all);
    if (result == VK_SUCCESS) {
        /* a driver's own, or the loader's from this layer's manifest: nothing is to be there twice */
        if (layer || !has_below(physical, instrumentation.extensionName))
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
        void *chain = properties5->pNext;
        *properties5 = (VkPhysicalDeviceMaintenance5PropertiesKHR){.sType = properties5->sType, .pNext = chain};
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

/* ── Counting: how many there are said to be, and how many get written ───────────────────────────────────────────── */

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
        "\033[2J\033[31mred", "two\nlines", "../../../etc/passwd", "[bold]markup[/bold]",
        "=1+1,\"quoted\"", "\xff\xfe cut \xe2\x82",
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

#endif
