"""What a physical device says of itself: versions, extensions, features, properties, formats."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from shaderstat.errors import Unsupported
from shaderstat.model import Device, Driver
from shaderstat.registry import vulkan as registry
from shaderstat.registry.vulkan import Struct

from .binding import INCOMPLETE, NULL, Functions, check, ffi
from .builder import Arena
from .enabling import CORE, Feature

_PROPERTIES = "VkPhysicalDeviceProperties"
_PARTS = {"VkPhysicalDeviceLimits": "limits", "VkPhysicalDeviceSparseProperties": "sparseProperties"}


class FeatureChain:
    """VkPhysicalDeviceFeatures2 and the structs chained to it, as one block of memory.

    All of them have one shape (``sType``, ``pNext``, then VkBool32 members), so that none needs a C type: the
    package `vulkan` lacks a hundred of them.
    """

    def __init__(self, structs: Iterable[Struct]) -> None:
        core = registry.struct(CORE)
        base = registry.struct("VkPhysicalDeviceFeatures2")
        assert core is not None and base is not None
        # (struct as features are named by, sType, members, index of its first 64-bit word)
        self._parts: list[tuple[str, int, tuple[str, ...], int]] = []
        end = 0
        for name, s_type, members in [
            (CORE, base.s_type, tuple(core.members)),
            *((struct.name, struct.s_type, tuple(struct.members)[2:]) for struct in structs),
        ]:
            assert s_type is not None
            self._parts.append((name, s_type, members, end))
            end += 2 + (len(members) + 1) // 2
        self._block = ffi.new("uint64_t[]", end)
        self._words = memoryview(ffi.buffer(self._block)).cast("I")
        address = int(ffi.cast("uintptr_t", self._block))
        for index, (_, s_type, _, start) in enumerate(self._parts):
            self._words[2 * start] = s_type
            if index + 1 < len(self._parts):
                self._block[start + 1] = address + 8 * self._parts[index + 1][3]

    @property
    def pointer(self) -> Any:
        """``void *``, valid as long as this object lives."""
        return ffi.cast("void *", self._block)

    def read(self) -> set[Feature]:
        """The features whose bit is set."""
        found: set[Feature] = set()
        for name, _, members, start in self._parts:
            first = 2 * start + 4
            bits = self._words[first : first + len(members)]
            found.update((name, member) for member, bit in zip(members, bits, strict=True) if bit)
        return found

    def write(self, features: set[Feature]) -> None:
        """Set the bits of `features`, clear all others."""
        for name, _, members, start in self._parts:
            for index, member in enumerate(members, 2 * start + 4):
                self._words[index] = (name, member) in features


class PhysicalDevice:
    """A VkPhysicalDevice and what it says of itself, as far as no device need be made for it.

    Attributes:
        handle: the VkPhysicalDevice.
        version: what it may be asked for: the lesser of its version and the instance's, (major, minor, patch).
        listed: the device extensions that it lists.
        device, driver: its identity.
    """

    def __init__(self, functions: Functions, handle: Any, instance_version: tuple[int, int]) -> None:
        self.handle = handle
        self._functions = functions
        self._structs: dict[str, Any] = {}
        self._formats: dict[int, tuple[int, int]] = {}
        properties = ffi.new("VkPhysicalDeviceProperties *")
        functions["vkGetPhysicalDeviceProperties"](handle, properties)
        self._core = properties
        own = unpack_version(properties.apiVersion)
        self.version = own if own[:2] <= instance_version else (*instance_version, 0)
        self.listed = frozenset(self._list_extensions())
        self.device = Device(
            name=text(properties.deviceName),
            vendor_id=properties.vendorID,
            device_id=properties.deviceID,
            type=_type_name(properties.deviceType),
            api_version=".".join(map(str, own)),
            pipeline_cache_uuid=bytes(ffi.buffer(properties.pipelineCacheUUID)).hex(),
        )
        self.driver = self._driver()

    def _list_extensions(self) -> list[str]:
        enumerate_ = self._functions["vkEnumerateDeviceExtensionProperties"]
        call = "vkEnumerateDeviceExtensionProperties"
        count = ffi.new("uint32_t *")
        while True:
            check(call, enumerate_(self.handle, NULL, count, NULL))
            if not count[0]:
                return []
            array = ffi.new("VkExtensionProperties[]", count[0])
            result = enumerate_(self.handle, NULL, count, array)
            if result == INCOMPLETE:
                continue
            check(call, result)
            raw = memoryview(ffi.buffer(array))
            step = ffi.sizeof("VkExtensionProperties")
            names = (bytes(raw[index * step : index * step + 256]) for index in range(count[0]))
            return [name.partition(b"\0")[0].decode("utf-8", "replace") for name in names]

    def _driver(self) -> Driver:
        found = self._struct("VkPhysicalDeviceDriverProperties")
        number = self._core.driverVersion
        if found is None:
            return Driver(0, "", driver_version(0, number), "")
        driver = found.driverID
        return Driver(driver, text(found.driverName), driver_version(driver, number), text(found.driverInfo))

    # ── Features ──────────────────────────────────────────────────────────────────────────────────────────────────

    def features(self, structs: Iterable[Struct]) -> FeatureChain:
        """VkPhysicalDeviceFeatures2 with `structs` chained to it, filled in by the driver."""
        chain = FeatureChain(structs)
        self._second("vkGetPhysicalDeviceFeatures2")(
            self.handle, ffi.cast("VkPhysicalDeviceFeatures2 *", chain.pointer)
        )
        return chain

    def _second(self, name: str) -> Any:
        """A command of Vulkan 1.1; of VK_KHR_get_physical_device_properties2 where the device has 1.0 only."""
        return self._functions[name if self.version >= (1, 1) else name + "KHR"]

    # ── Properties ────────────────────────────────────────────────────────────────────────────────────────────────

    def property(self, struct: str, member: str) -> int | None:
        """A property's or limit's value, ``member[1]`` for an array's; a float is rounded down. None where the device
        doesn't say it, or the tables don't know it."""
        found = self._struct(struct)
        if found is None:
            struct, member = self._elsewhere(struct, member)
            found = self._struct(struct)
        name, index = _indexed(member)
        try:
            value = getattr(found, name) if index is None else getattr(found, name)[index]
            return int(value)
        except (AttributeError, TypeError, IndexError):
            return None

    def _struct(self, name: str) -> Any:
        """A property struct as the driver fills it; None where this device doesn't know it."""
        if name == _PROPERTIES:
            return self._core
        if name in _PARTS:
            return getattr(self._core, _PARTS[name])
        if name not in self._structs:
            self._structs[name] = self._query(name)
        return self._structs[name]

    def _query(self, name: str) -> Any:
        struct = registry.struct(name)
        if struct is None or "VkPhysicalDeviceProperties2" not in struct.extends:
            return None
        if not struct.is_provided(self.version[:2], self.listed):
            return None
        arena = Arena()
        try:
            found = arena.build(struct.name, {})
        except Unsupported:  # newer than the C types
            return None
        base = arena.build("VkPhysicalDeviceProperties2", {})
        base.pNext = found
        self._second("vkGetPhysicalDeviceProperties2")(self.handle, base)
        return found

    def _elsewhere(self, struct: str, member: str) -> tuple[str, str]:
        """Where a property of Vulkan 1.x's structs stood before, for devices that don't have those."""
        name, index = _indexed(member)
        owner, old = registry.promoted(struct).get(name, ("", ""))
        return owner, old if index is None else f"{old}[{index}]"

    # ── Formats ───────────────────────────────────────────────────────────────────────────────────────────────────

    def supports_format(self, format: str, feature: str) -> bool:
        """Whether ``VK_FORMAT_…`` has ``VK_FORMAT_FEATURE_…``: of buffers for the features that speak of these, else
        of images with optimal tiling. False for a name that the tables don't know."""
        number = registry.values("VkFormat").get(format)
        bit = registry.values("VkFormatFeatureFlagBits").get(feature)
        if number is None or bit is None:
            return False
        if number not in self._formats:
            found = ffi.new("VkFormatProperties *")
            self._functions["vkGetPhysicalDeviceFormatProperties"](self.handle, number, found)
            self._formats[number] = (found.optimalTilingFeatures, found.bufferFeatures)
        optimal, buffer = self._formats[number]
        return bool((buffer if "_BUFFER_" in feature else optimal) & bit)

    def memory_types(self) -> list[int]:
        """VkMemoryPropertyFlags of each memory type."""
        found = ffi.new("VkPhysicalDeviceMemoryProperties *")
        self._functions["vkGetPhysicalDeviceMemoryProperties"](self.handle, found)
        return [found.memoryTypes[index].propertyFlags for index in range(found.memoryTypeCount)]

    def queue_family(self, *, both: bool = False) -> int:
        """The first queue family that can compute or draw, with `both` rather one that can do both; the first one where
        none can."""
        count = ffi.new("uint32_t *")
        get = self._functions["vkGetPhysicalDeviceQueueFamilyProperties"]
        get(self.handle, count, NULL)
        families = ffi.new("VkQueueFamilyProperties[]", max(count[0], 1))
        get(self.handle, count, families)
        flags = [families[index].queueFlags if families[index].queueCount else 0 for index in range(count[0])]
        graphics_and_compute = 0x3
        fitting = [index for index, its in enumerate(flags) if its & graphics_and_compute]
        best = [index for index in fitting if both and flags[index] & graphics_and_compute == graphics_and_compute]
        return next(iter(best or fitting), 0)


def text(array: Any) -> str:
    """A fixed ``char[]`` that a driver wrote: up to the NUL, which may be missing; what is no UTF-8 becomes U+FFFD."""
    return bytes(ffi.buffer(array)).partition(b"\0")[0].decode("utf-8", "replace")


def unpack_version(number: int) -> tuple[int, int, int]:
    """VK_API_VERSION_{MAJOR,MINOR,PATCH}; the variant is left out."""
    return (number >> 22 & 0x7F, number >> 12 & 0x3FF, number & 0xFFF)


def driver_version(driver: int, number: int) -> str:
    """VkPhysicalDeviceProperties::driverVersion as its vendor writes it: the packing is the vendor's own business.
    `driver` is a VkDriverId."""
    if driver == registry.value("VkDriverId", "VK_DRIVER_ID_NVIDIA_PROPRIETARY"):
        parts = [number >> 22, number >> 14 & 0xFF, number >> 6 & 0xFF, number & 0x3F]
        return ".".join(map(str, parts if parts[3] else parts[:3]))
    if driver == registry.value("VkDriverId", "VK_DRIVER_ID_INTEL_PROPRIETARY_WINDOWS"):
        return f"{number >> 14}.{number & 0x3FFF}"
    return f"{number >> 22}.{number >> 12 & 0x3FF}.{number & 0xFFF}"


def _type_name(number: int) -> str:
    name = registry.name("VkPhysicalDeviceType", number)
    return name.removeprefix("VK_PHYSICAL_DEVICE_TYPE_").lower() if name else str(number)


def _indexed(member: str) -> tuple[str, int | None]:
    name, bracket, rest = member.partition("[")
    return name, int(rest.rstrip("]")) if bracket else None
