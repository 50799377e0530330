"""One device with every supported feature, and the facts that synthesis asks for; where shaders shall run, with a queue
for them, robust access and VK_ARM_shader_instrumentation as well.
"""

from __future__ import annotations

from typing import Any

from shaderstat.backends.base import DriverError
from shaderstat.errors import NoTarget
from shaderstat.instrumentation import EXTENSION as INSTRUMENTATION
from shaderstat.instrumentation import Offer
from shaderstat.model import Launch
from shaderstat.pipeline.profiles import switched

from .binding import NULL, Functions, check, device_functions
from .builder import Arena
from .enabling import (
    EXECUTABLE_INFO,
    EXECUTABLES,
    INSTRUMENTATION_FEATURE,
    ROBUST,
    Feature,
    choose_extensions,
    choose_features,
    choose_structs,
    with_aliases,
    without_update_after_bind,
)
from .facts import PhysicalDevice
from .instance import Instance
from .instrumentation import enumerate_metrics

_INSTRUMENTATION_PROPERTIES = "VkPhysicalDeviceShaderInstrumentationPropertiesARM"
_ROBUST_UPDATES = ("VkPhysicalDeviceDescriptorIndexingProperties", "robustBufferAccessUpdateAfterBind")


class Facts:
    """`shaderstat.backends.base.DeviceFacts` of an open device.

    What counts is what the device was created with: a feature that it supports and that was left out (one that changes
    code, or that may not stand beside another) is not there.
    """

    def __init__(self, found: PhysicalDevice, extensions: frozenset[str], features: frozenset[Feature]) -> None:
        self._found = found
        self._extensions = extensions
        self._features = features
        self.driver = found.driver
        self.device = found.device
        self.api_version = found.version

    def has_extension(self, name: str) -> bool:
        """Whether the device extension is listed and was enabled."""
        return name in self._extensions

    def has_feature(self, struct: str, member: str) -> bool:
        """Whether the feature was enabled; under any of its names, Vulkan 1.x's or the extension's."""
        return (struct, member) in self._features

    def property(self, struct: str, member: str) -> int | None:
        """A property's or limit's value; ``member[0]`` for an array's; None if not known."""
        return self._found.property(struct, member)

    def supports_format(self, format: str, feature: str) -> bool:
        """Whether ``VK_FORMAT_…`` has ``VK_FORMAT_FEATURE_…``."""
        return self._found.supports_format(format, feature)


class OpenDevice:
    """A VkInstance and a VkDevice.

    Attributes:
        facts: see `Facts`.
        handle: the VkDevice.
        functions: its commands.
        offer, offer_remark, tells_executables: see `shaderstat.backends.base.Backend`.
        physical_device, instance_functions: the VkPhysicalDevice, and what it is asked with.
        queue_family: of the one queue.
    """

    def __init__(self, launch: Launch) -> None:
        """Open device ``launch.device`` of the loader.

        Raises:
            NoTarget: no driver, no such device, or one that can't tell executables.
            DriverError: vkCreateDevice failed.
        """
        self._instance = Instance(launch)
        self.instance_functions = self._instance.functions
        self.handle: Any = NULL
        self.offer: Offer | None = None
        self.offer_remark = ""
        try:
            self._open(launch)
        except BaseException:
            self.close()
            raise

    def _open(self, launch: Launch) -> None:
        found = self._instance.open_device(launch.device)
        where = f"{launch.id}: {found.device.name}"
        if EXECUTABLES not in found.listed and not launch.runs:
            raise NoTarget(
                f"{where} has no {EXECUTABLES}: it can't tell what its compiler made",
                hint="shaderstat targets lists what can",
            )
        listed = found.listed if launch.runs else found.listed - {INSTRUMENTATION}
        extensions = choose_extensions(listed, found.version[:2], self._instance.extensions)
        chain = found.features(choose_structs(found.version[:2], extensions))
        its_switched = {**(ROBUST if launch.runs else {}), **switched(launch.setup)}
        features = choose_features(chain.read(), extensions, its_switched)
        if launch.runs and not found.property(*_ROBUST_UPDATES):
            features = without_update_after_bind(features)
        self.tells_executables = EXECUTABLE_INFO in features
        if not self.tells_executables and not launch.runs:
            raise NoTarget(
                f"{where} has {EXECUTABLES} but not its feature pipelineExecutableInfo: it can't tell what its "
                "compiler made",
                hint="shaderstat targets lists what can",
            )
        chain.write(features)
        arena = Arena()
        self.queue_family = found.queue_family(both=launch.runs)
        queue = {"queueFamilyIndex": self.queue_family, "queueCount": 1, "pQueuePriorities": [1.0]}
        create_info = arena.build(
            "VkDeviceCreateInfo", {"pQueueCreateInfos": [queue], "ppEnabledExtensionNames": sorted(extensions)}
        )
        create_info.pNext = chain.pointer
        device = arena.new("VkDevice *")
        check("vkCreateDevice", self._instance.functions["vkCreateDevice"](found.handle, create_info, NULL, device))
        self.handle = device[0]
        self.functions: Functions = device_functions(self.handle)
        self.facts = Facts(found, extensions, with_aliases(features, extensions))
        self.physical_device = found.handle
        self._found = found
        if launch.runs and INSTRUMENTATION_FEATURE in features:
            self._ask_for_metrics()

    def _ask_for_metrics(self) -> None:
        """A device that can't tell what it counts runs shaders all the same, and compiles them."""
        count = self.facts.property(_INSTRUMENTATION_PROPERTIES, "numMetrics") or 0
        by_block = self.facts.property(_INSTRUMENTATION_PROPERTIES, "perBasicBlockGranularity")
        try:
            metrics, self.offer_remark = enumerate_metrics(self.instance_functions, self.physical_device, count)
        except DriverError as error:
            self.offer_remark = str(error)
        else:
            self.offer = Offer(metrics, bool(by_block))

    @property
    def queue(self) -> Any:
        """The VkQueue."""
        found = Arena().new("VkQueue *")
        self.functions["vkGetDeviceQueue"](self.handle, self.queue_family, 0, found)
        return found[0]

    @property
    def memory_types(self) -> list[int]:
        """VkMemoryPropertyFlags of each memory type."""
        return self._found.memory_types()

    def close(self) -> None:
        """Destroy device and instance, once."""
        if self.handle != NULL:
            self.functions["vkDestroyDevice"](self.handle, NULL)
            self.handle = NULL
        self._instance.close()
