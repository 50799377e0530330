"""One device with every supported feature, and the facts that synthesis asks for."""

from __future__ import annotations

from typing import Any

from shaderstat.errors import NoTarget
from shaderstat.model import Launch
from shaderstat.pipeline.profiles import switched

from .binding import NULL, Functions, check, device_functions
from .builder import Arena
from .enabling import (
    EXECUTABLE_INFO,
    EXECUTABLES,
    Feature,
    choose_extensions,
    choose_features,
    choose_structs,
    with_aliases,
)
from .facts import PhysicalDevice
from .instance import Instance


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
    """

    def __init__(self, launch: Launch) -> None:
        """Open device ``launch.device`` of the loader.

        Raises:
            NoTarget: no driver, no such device, or one that can't tell executables.
            DriverError: vkCreateDevice failed.
        """
        self._instance = Instance(launch)
        self.handle: Any = NULL
        try:
            self._open(launch)
        except BaseException:
            self.close()
            raise

    def _open(self, launch: Launch) -> None:
        found = self._instance.open_device(launch.device)
        where = f"{launch.id}: {found.device.name}"
        if EXECUTABLES not in found.listed:
            raise NoTarget(
                f"{where} has no {EXECUTABLES}: it can't tell what its compiler made",
                hint="shaderstat targets lists what can",
            )
        extensions = choose_extensions(found.listed, found.version[:2], self._instance.extensions)
        chain = found.features(choose_structs(found.version[:2], extensions))
        features = choose_features(chain.read(), extensions, switched(launch.setup))
        if EXECUTABLE_INFO not in features:
            raise NoTarget(
                f"{where} has {EXECUTABLES} but not its feature pipelineExecutableInfo: it can't tell what its "
                "compiler made",
                hint="shaderstat targets lists what can",
            )
        chain.write(features)
        arena = Arena()
        queue = {"queueFamilyIndex": found.queue_family(), "queueCount": 1, "pQueuePriorities": [1.0]}
        create_info = arena.build(
            "VkDeviceCreateInfo", {"pQueueCreateInfos": [queue], "ppEnabledExtensionNames": sorted(extensions)}
        )
        create_info.pNext = chain.pointer
        device = arena.new("VkDevice *")
        check("vkCreateDevice", self._instance.functions["vkCreateDevice"](found.handle, create_info, NULL, device))
        self.handle = device[0]
        self.functions: Functions = device_functions(self.handle)
        self.facts = Facts(found, extensions, with_aliases(features, extensions))

    def close(self) -> None:
        """Destroy device and instance, once."""
        if self.handle != NULL:
            self.functions["vkDestroyDevice"](self.handle, NULL)
            self.handle = NULL
        self._instance.close()
