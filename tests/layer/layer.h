/* What every test layer needs of the loader's side. */
#ifndef LAYER_H
#define LAYER_H

#include <stdlib.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#define EXPORT __attribute__((visibility("default")))

/* The functions of whoever is next below; all NULL where the loader left no link. */
static inline VkLayerInstanceLink instance_link(const VkInstanceCreateInfo *info)
{
    VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)info->pNext;
    while (link && !(link->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO && link->function == VK_LAYER_LINK_INFO))
        link = (VkLayerInstanceCreateInfo *)link->pNext;
    if (!link)
        return (VkLayerInstanceLink){0};
    VkLayerInstanceLink below = *link->u.pLayerInfo;
    link->u.pLayerInfo = below.pNext; /* the next layer is to find its own */
    return below;
}

static inline VkLayerDeviceLink device_link(const VkDeviceCreateInfo *info)
{
    VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)info->pNext;
    while (link && !(link->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO && link->function == VK_LAYER_LINK_INFO))
        link = (VkLayerDeviceCreateInfo *)link->pNext;
    if (!link)
        return (VkLayerDeviceLink){0};
    VkLayerDeviceLink below = *link->u.pLayerInfo;
    link->u.pLayerInfo = below.pNext;
    return below;
}

static inline VkResult negotiate(
    VkNegotiateLayerInterface *version, PFN_vkGetInstanceProcAddr instance, PFN_vkGetDeviceProcAddr device,
    PFN_GetPhysicalDeviceProcAddr physical)
{
    if (version->loaderLayerInterfaceVersion < 2)
        return VK_ERROR_INITIALIZATION_FAILED;
    version->loaderLayerInterfaceVersion = 2;
    version->pfnGetInstanceProcAddr = instance;
    version->pfnGetDeviceProcAddr = device;
    version->pfnGetPhysicalDeviceProcAddr = physical;
    return VK_SUCCESS;
}

#endif
