"""The Vulkan backend: a real driver, asked through VK_KHR_pipeline_executable_properties.

It runs in a child process, since drivers crash. Importing this package loads nothing of Vulkan; `open` does.
"""

from __future__ import annotations

import importlib
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from shaderstat.backends.base import Backend, CompiledPipeline, DeviceFacts, DriverError, SpirvTools
from shaderstat.errors import NoTarget
from shaderstat.model import Launch
from shaderstat.pipeline.spec import PipelineSpec

if TYPE_CHECKING:
    from shaderstat.backends.vulkan.device import OpenDevice
    from shaderstat.backends.vulkan.instance import DeviceEntry
    from shaderstat.instrumentation import Offer


class VulkanBackend:
    """`shaderstat.backends.base.Backend` on one device of the loader."""

    def __init__(self, device: OpenDevice) -> None:
        self._device = device
        self.facts: DeviceFacts = device.facts
        self.offer: Offer | None = device.offer
        self.offer_remark = device.offer_remark
        self.tells_executables = device.tells_executables

    def compile(
        self, spec: PipelineSpec, *, statistics: bool, representations: bool, instrument: bool = False
    ) -> AbstractContextManager[CompiledPipeline]:
        """Create the pipeline on entering the context, destroy it on leaving.

        Raises:
            DriverError: a VkResult other than success, or success without a pipeline.
            Unsupported: ``vulkan/state``: the spec says what Vulkan, or this device, has no words for; ``run/flags``:
                the device can count, and can't be asked to.
        """
        from shaderstat.backends.vulkan.pipelines import create_pipeline

        return create_pipeline(
            self._device,
            spec,
            statistics=statistics and self.tells_executables,
            representations=representations and self.tells_executables,
            instrument=instrument,
        )

    def close(self) -> None:
        """Destroy device and instance."""
        self._device.close()


def open(launch: Launch, tools: SpirvTools) -> Backend:
    """Open device ``launch.device`` of the loader. The environment is the caller's business: it was set when this
    process was started.

    Raises:
        NoTarget: no loader, no driver, no such device, or one that can't tell executables.
    """
    _require_loader(launch)
    from shaderstat.backends.vulkan.device import OpenDevice

    try:
        return VulkanBackend(OpenDevice(launch))
    except DriverError as error:
        raise NoTarget(f"{launch.id}: {error}") from None


def enumerate_devices(launch: Launch) -> list[DeviceEntry]:
    """All physical devices of the loader, in its order; none of them is opened.

    Raises:
        NoTarget: no loader, no driver, or no device at all.
    """
    _require_loader(launch)
    from shaderstat.backends.vulkan.instance import enumerate_devices

    try:
        return enumerate_devices(launch)
    except DriverError as error:
        raise NoTarget(f"{launch.id}: {error}") from None


def _require_loader(launch: Launch) -> None:
    """Load the binding, or say why it can't be."""
    try:
        importlib.import_module("shaderstat.backends.vulkan.binding")
    except OSError:  # the package `vulkan` looks for the loader when it is imported
        raise NoTarget(
            f"{launch.id}: no Vulkan loader here (libvulkan.so.1)",
            hint="install it: apt install libvulkan1 (macOS, Windows: the Vulkan SDK)",
        ) from None
    except ModuleNotFoundError as error:
        hint = "apt install python3-cffi-backend, or pip install cffi" if error.name == "_cffi_backend" else None
        raise NoTarget(
            f"{launch.id}: the Python package {error.name} is not installed", hint=hint or "pip install vulkan"
        ) from None
    except ImportError as error:
        raise NoTarget(f"{launch.id}: {error}") from None
