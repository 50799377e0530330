"""The loader: an instance and its physical devices, or one clear line that says why there is none."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from shaderstat.backends.base import DriverError
from shaderstat.errors import NoTarget
from shaderstat.instrumentation import EXTENSION as INSTRUMENTATION
from shaderstat.model import Device, Driver, Launch
from shaderstat.pipeline.profiles import application
from shaderstat.plain import dataclass
from shaderstat.registry import vulkan as registry

from .binding import INCOMPLETE, NULL, check, ffi, instance_functions
from .builder import Arena
from .enabling import EXECUTABLE_INFO, EXECUTABLES
from .facts import PhysicalDevice, unpack_version

# What a 1.0 device needs to tell anything beyond Vulkan 1.0; part of 1.1.
PROPERTIES2 = "VK_KHR_get_physical_device_properties2"
_ANY_VERSION = 0x7F << 22


@dataclass(frozen=True, slots=True)
class DeviceEntry:
    """One physical device of the loader, as `enumerate_devices` finds it.

    Attributes:
        index: in the loader's order.
        has_extension: it lists VK_KHR_pipeline_executable_properties.
        has_feature: it supports pipelineExecutableInfo as well: it can be a target.
        counts: it lists VK_ARM_shader_instrumentation.
    """

    index: int
    device: Device
    driver: Driver
    has_extension: bool
    has_feature: bool
    counts: bool = False

    @property
    def name(self) -> str:
        """VkPhysicalDeviceProperties::deviceName."""
        return self.device.name

    @property
    def answers(self) -> bool:
        """Whether it can be a target."""
        return self.has_feature


class Instance:
    """A VkInstance.

    Attributes:
        version: the lesser of the loader's and the tables', (major, minor).
        extensions: the instance extensions enabled.
    """

    def __init__(self, launch: Launch) -> None:
        """Create it.

        Raises:
            NoTarget: no driver, or the loader's refusal by name.
        """
        self._launch = launch
        said = application(launch.setup)
        self.version = min(_instance_version(), unpack_version(int(said.get("apiVersion", _ANY_VERSION)))[:2])
        self.extensions = frozenset({PROPERTIES2})
        handle, result = _create(self.version, self.extensions, said)
        if result == registry.value("VkResult", "VK_ERROR_EXTENSION_NOT_PRESENT"):
            self.extensions = frozenset()
            handle, result = _create(self.version, self.extensions, said)
        if result == registry.value("VkResult", "VK_ERROR_INCOMPATIBLE_DRIVER"):
            raise NoTarget(f"{launch.id}: the Vulkan loader found no driver{_manifests(launch)}", hint=_DRIVER_HINT)
        if result:
            name = registry.result_name(result)
            hint = "is every layer of VK_INSTANCE_LAYERS there?" if "LAYER" in name else None
            raise NoTarget(f"{launch.id}: vkCreateInstance returned {name}", hint=hint)
        self._handle = handle
        self.functions = instance_functions(handle)

    def physical_devices(self) -> list[Any]:
        """VkPhysicalDevice handles in the loader's order.

        Raises:
            NoTarget: the driver has no device.
        """
        call = "vkEnumeratePhysicalDevices"
        count = ffi.new("uint32_t *")
        result = self.functions[call](self._handle, count, NULL)
        found: list[Any] = []
        while result == 0 and count[0]:
            array = ffi.new("VkPhysicalDevice[]", count[0])
            result = self.functions[call](self._handle, count, array)
            if result == INCOMPLETE:
                result = self.functions[call](self._handle, count, NULL)
                continue
            found = [array[index] for index in range(count[0])]
            break
        if not found:
            # RADV and NVK over a missing device answer VK_ERROR_INITIALIZATION_FAILED, others a count of 0
            said = f" ({call} returned {registry.result_name(result)})" if result else ""
            raise NoTarget(
                f"{self._launch.id}: the Vulkan driver has no device{_manifests(self._launch)}{said}",
                hint="is the GPU there, and may this user open it (/dev/dri)?",
            )
        return found

    def open_device(self, index: int) -> PhysicalDevice:
        """What device `index` says of itself.

        Raises:
            NoTarget: there is no such device, or it can't tell executables.
        """
        handles = self.physical_devices()
        if not 0 <= index < len(handles):
            names = "; ".join(
                f"{number} {self.describe(handle).device.name}" for number, handle in enumerate(handles[:8])
            )
            devices = "is one device" if len(handles) == 1 else f"are {len(handles)} devices"
            raise NoTarget(f"{self._launch.id}: no device {index}, there {devices}: {names}")
        return self.describe(handles[index])

    def describe(self, handle: Any) -> PhysicalDevice:
        """What a physical device says of itself."""
        return PhysicalDevice(self.functions, handle, self.version)

    def close(self) -> None:
        """Destroy the instance, once."""
        if self._handle != NULL:
            self.functions["vkDestroyInstance"](self._handle, NULL)
            self._handle = NULL


def enumerate_devices(launch: Launch) -> list[DeviceEntry]:
    """All physical devices that `launch`'s loader shows; none of them is opened.

    Raises:
        NoTarget: no driver, or none of them has a device.
    """
    instance = Instance(launch)
    try:
        entries = []
        for index, handle in enumerate(instance.physical_devices()):
            found = instance.describe(handle)
            listed = EXECUTABLES in found.listed
            entries.append(
                DeviceEntry(
                    index,
                    found.device,
                    found.driver,
                    has_extension=listed,
                    has_feature=listed and _has_executable_info(found),
                    counts=INSTRUMENTATION in found.listed,
                )
            )
        return entries
    finally:
        instance.close()


def _has_executable_info(found: PhysicalDevice) -> bool:
    """Whether a device that lists the extension supports its feature, too."""
    struct = registry.struct(EXECUTABLE_INFO[0])
    assert struct is not None
    try:
        return EXECUTABLE_INFO in found.features([struct]).read()
    except DriverError:  # a 1.0 device behind a loader without VK_KHR_get_physical_device_properties2
        return False


def _instance_version() -> tuple[int, int]:
    known = registry.VERSION[:2]
    enumerate_ = instance_functions(NULL).find("vkEnumerateInstanceVersion")
    if enumerate_ is None:
        return (1, 0)
    number = ffi.new("uint32_t *")
    check("vkEnumerateInstanceVersion", enumerate_(number))
    return min(unpack_version(number[0])[:2], known)


def _create(version: tuple[int, int], extensions: frozenset[str], said: Mapping[str, str | int]) -> tuple[Any, int]:
    arena = Arena()
    its = {
        "pApplicationName": "shaderstat",
        "pEngineName": "shaderstat",
        **said,
        "apiVersion": version[0] << 22 | version[1] << 12,
    }
    create_info = {"pApplicationInfo": its, "ppEnabledExtensionNames": sorted(extensions)}
    handle = arena.new("VkInstance *")
    result = instance_functions(NULL)["vkCreateInstance"](
        arena.build("VkInstanceCreateInfo", create_info), NULL, handle
    )
    return handle[0], result


def _manifests(launch: Launch) -> str:
    """Which manifests the loader was held to, if it was."""
    environment = {**os.environ, **launch.environment}
    for name in ("VK_DRIVER_FILES", "VK_ICD_FILENAMES"):
        if environment.get(name):
            return f" in {name}={environment[name]}"
    return f" in {launch.driver_manifest}" if launch.driver_manifest else ""


_DRIVER_HINT = "install one (Debian: mesa-vulkan-drivers) or name its manifest: --driver /usr/share/vulkan/icd.d/….json"
