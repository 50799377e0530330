/* What the system's Vulkan headers may be too old for: VK_ARM_shader_instrumentation came with 1.4.345,
 * VK_KHR_maintenance5 with 1.3.260. */
#ifndef ARM_H
#define ARM_H

#include <vulkan/vulkan.h>

#ifndef VK_ARM_shader_instrumentation
#define VK_ARM_shader_instrumentation 1
#define VK_ARM_SHADER_INSTRUMENTATION_SPEC_VERSION 1
#define VK_ARM_SHADER_INSTRUMENTATION_EXTENSION_NAME "VK_ARM_shader_instrumentation"

#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INSTRUMENTATION_FEATURES_ARM ((VkStructureType)1000607000)
#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INSTRUMENTATION_PROPERTIES_ARM ((VkStructureType)1000607001)
#define VK_STRUCTURE_TYPE_SHADER_INSTRUMENTATION_CREATE_INFO_ARM ((VkStructureType)1000607002)
#define VK_STRUCTURE_TYPE_SHADER_INSTRUMENTATION_METRIC_DESCRIPTION_ARM ((VkStructureType)1000607003)
#define VK_PIPELINE_CREATE_2_INSTRUMENT_SHADERS_BIT_ARM 0x8000000000ULL

VK_DEFINE_NON_DISPATCHABLE_HANDLE(VkShaderInstrumentationARM)
typedef VkFlags VkShaderInstrumentationValuesFlagsARM;

typedef struct VkPhysicalDeviceShaderInstrumentationFeaturesARM {
    VkStructureType sType;
    void *pNext;
    VkBool32 shaderInstrumentation;
} VkPhysicalDeviceShaderInstrumentationFeaturesARM;

typedef struct VkPhysicalDeviceShaderInstrumentationPropertiesARM {
    VkStructureType sType;
    void *pNext;
    uint32_t numMetrics;
    VkBool32 perBasicBlockGranularity;
} VkPhysicalDeviceShaderInstrumentationPropertiesARM;

typedef struct VkShaderInstrumentationCreateInfoARM {
    VkStructureType sType;
    void *pNext;
} VkShaderInstrumentationCreateInfoARM;

typedef struct VkShaderInstrumentationMetricDescriptionARM {
    VkStructureType sType;
    void *pNext;
    char name[VK_MAX_DESCRIPTION_SIZE];
    char description[VK_MAX_DESCRIPTION_SIZE];
} VkShaderInstrumentationMetricDescriptionARM;

typedef struct VkShaderInstrumentationMetricDataHeaderARM {
    uint32_t resultIndex;
    uint32_t resultSubIndex;
    VkShaderStageFlags stages;
    uint32_t basicBlockIndex;
} VkShaderInstrumentationMetricDataHeaderARM;

typedef VkResult (VKAPI_PTR *PFN_vkEnumeratePhysicalDeviceShaderInstrumentationMetricsARM)(
    VkPhysicalDevice, uint32_t *, VkShaderInstrumentationMetricDescriptionARM *);
typedef VkResult (VKAPI_PTR *PFN_vkCreateShaderInstrumentationARM)(
    VkDevice, const VkShaderInstrumentationCreateInfoARM *, const VkAllocationCallbacks *, VkShaderInstrumentationARM *);
typedef void (VKAPI_PTR *PFN_vkDestroyShaderInstrumentationARM)(
    VkDevice, VkShaderInstrumentationARM, const VkAllocationCallbacks *);
typedef void (VKAPI_PTR *PFN_vkCmdBeginShaderInstrumentationARM)(VkCommandBuffer, VkShaderInstrumentationARM);
typedef void (VKAPI_PTR *PFN_vkCmdEndShaderInstrumentationARM)(VkCommandBuffer);
typedef VkResult (VKAPI_PTR *PFN_vkGetShaderInstrumentationValuesARM)(
    VkDevice, VkShaderInstrumentationARM, uint32_t *, void *, VkShaderInstrumentationValuesFlagsARM);
typedef void (VKAPI_PTR *PFN_vkClearShaderInstrumentationMetricsARM)(VkDevice, VkShaderInstrumentationARM);
#endif

#ifndef VK_KHR_maintenance5
#define VK_KHR_maintenance5 1
#define VK_KHR_MAINTENANCE_5_SPEC_VERSION 1
#define VK_KHR_MAINTENANCE_5_EXTENSION_NAME "VK_KHR_maintenance5"

#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_5_FEATURES_KHR ((VkStructureType)1000470000)
#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_5_PROPERTIES_KHR ((VkStructureType)1000470001)
#define VK_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO_KHR ((VkStructureType)1000470005)

typedef struct VkPhysicalDeviceMaintenance5FeaturesKHR {
    VkStructureType sType;
    void *pNext;
    VkBool32 maintenance5;
} VkPhysicalDeviceMaintenance5FeaturesKHR;

typedef struct VkPhysicalDeviceMaintenance5PropertiesKHR {
    VkStructureType sType;
    void *pNext;
    VkBool32 earlyFragmentMultisampleCoverageAfterSampleCounting;
    VkBool32 earlyFragmentSampleMaskTestBeforeSampleCounting;
    VkBool32 depthStencilSwizzleOneSupport;
    VkBool32 polygonModePointSize;
    VkBool32 nonStrictSinglePixelWideLinesUseParallelogram;
    VkBool32 nonStrictWideLinesUseParallelogram;
} VkPhysicalDeviceMaintenance5PropertiesKHR;

typedef struct VkPipelineCreateFlags2CreateInfoKHR {
    VkStructureType sType;
    const void *pNext;
    VkFlags64 flags;
} VkPipelineCreateFlags2CreateInfoKHR;
#endif

#endif
