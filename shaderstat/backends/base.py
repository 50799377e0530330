"""The contract of a backend, and the facts that a device tells synthesis.

Mock and Vulkan pass the same tests (``tests/contract``). A third one needs no edit elsewhere: `open_backend` finds
``shaderstat.backends.NAME`` and calls its ``open``.
"""

from __future__ import annotations

import importlib
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from shaderstat.errors import NoTarget
from shaderstat.model import Device, Driver, Durations, ExecutableAnswer, Launch
from shaderstat.pipeline.spec import PipelineSpec

if TYPE_CHECKING:
    from shaderstat.instrumentation import Execution, Instrumentation, Offer
    from shaderstat.pipeline.resources import Resources


class DeviceFacts(Protocol):
    """What synthesis and the capability check may ask. All names are Vulkan's of today, without aliases.

    Attributes:
        driver, device: the identity that stands beside every number.
        api_version: (major, minor, patch) of the device.
    """

    driver: Driver
    device: Device
    api_version: tuple[int, int, int]

    def has_extension(self, name: str) -> bool:
        """Whether the device lists the device extension ``VK_…`` (and it was enabled)."""

    def has_feature(self, struct: str, member: str) -> bool:
        """Whether a feature is supported *and its extension is listed* (RADV reports features of extensions that it
        does not list)."""

    def property(self, struct: str, member: str) -> int | None:
        """A property's or limit's value, ``("VkPhysicalDeviceLimits", "maxPushConstantsSize")``; None if not known."""

    def supports_format(self, format: str, feature: str) -> bool:
        """Whether ``VK_FORMAT_…`` has ``VK_FORMAT_FEATURE_…`` (buffer features for vertex formats, optimal tiling
        for attachments)."""


class SpirvTools(Protocol):
    """SPIRV-Tools, however it was found (`shaderstat.child.spirv_tools`).

    Attributes:
        problem: why the last disassembly gave nothing.
    """

    problem: str

    def disassemble(self, words: bytes) -> str | None:
        """The module as text; None where no SPIRV-Tools can be reached."""


# Codes of `CompiledPipeline.diagnostics` that mean that an answer is missing; the others are warnings.
QUERY_ERRORS = frozenset({"vulkan/statistics", "vulkan/representations", "vulkan/nothing-told"})


def told_less(what: str, counted: int, told: int, where: str = "") -> list[tuple[str, str]]:
    """(code, message) where a driver counts more elements than it then tells of, although it says that these are all.

    Args:
        what: ``executables``, …
        where: the executable that was asked about; empty where the executables themselves were asked for.
    """
    if told >= counted:
        return []
    code = "vulkan/lost" if told or where else "vulkan/nothing-told"
    start = f"{where}: " if where else ""
    elements = what.removesuffix("s") if counted == 1 else what
    return [(code, f"{start}the driver counts {counted} {elements} and tells of {told or 'none'}")]


class CompiledPipeline(Protocol):
    """Step 4 and 5: a pipeline that the driver made. Leaving its context destroys it.

    Attributes:
        durations: of its creation.
        driver_ns: time spent inside the driver so far, creating and querying.
    """

    durations: Durations
    driver_ns: int

    def query(self) -> tuple[ExecutableAnswer, ...]:
        """Ask for executables, then for what was captured. Failures of one query become diagnostics, not exceptions.

        Raises:
            DriverError: the executables themselves can't be listed.
        """

    def run(self, execution: Execution, resources: Resources) -> Instrumentation:
        """Make what the shaders read and write, record, submit, wait, and read what was counted and written.

        Raises:
            DriverError: a VkResult other than success, VK_ERROR_DEVICE_LOST and VK_TIMEOUT included.
            Unsupported: the device can't, ``run/limit`` and the like.
        """

    def diagnostics(self) -> tuple[tuple[str, str], ...]:
        """(code, message) of each oddity met while querying: ``vulkan/incomplete`` and the like; those of
        `QUERY_ERRORS` are errors."""


class Backend(Protocol):
    """The life cycle, in order:

    1. ``open(launch, tools)`` in the backend's package reaches one device. It raises `NoTarget` with a clear line
       when there is none, or when it can't tell executables.
    2. `facts` tell synthesis what the device has.
    3. `compile` makes one pipeline of a spec, capturing what was asked for.
    4. `CompiledPipeline.query` asks for executables, statistics and representations.
    5. `CompiledPipeline.run` runs it, where that was asked for (`Launch.runs`).
    6. Leaving the pipeline's context destroys it and what it was made of, in reverse order.
    7. `close` lets the device go.

    Attributes:
        facts: of the device.
        offer: the metrics of VK_ARM_shader_instrumentation; None where the device has none, or nothing shall run.
        offer_remark: what is odd about them; or, where there are none although the device has the extension, why.
        tells_executables: whether step 4 can be had; a device on which shaders run needs it not.
    """

    facts: DeviceFacts
    offer: Offer | None
    offer_remark: str
    tells_executables: bool

    def compile(
        self, spec: PipelineSpec, *, statistics: bool, representations: bool, instrument: bool = False
    ) -> AbstractContextManager[CompiledPipeline]:
        """Create the pipeline; with `instrument` one whose shaders count (INSTRUMENT_SHADERS_BIT_ARM).

        Raises:
            DriverError: a VkResult other than success.
        """

    def close(self) -> None:
        """Destroy the device."""


class DriverError(Exception):
    """A call that returned an error, or nonsense.

    Attributes:
        call: the command's name.
        vk_result: the VkResult's name, or its number as text; None where the call succeeded and what it said can't be.
    """

    def __init__(self, call: str, vk_result: str | None, nonsense: str = "") -> None:
        super().__init__(f"{call} {nonsense if vk_result is None else f'returned {vk_result}'}")
        self.call = call
        self.vk_result = vk_result


def open_backend(launch: Launch, tools: SpirvTools) -> Backend:
    """Open the backend that `launch` names.

    Raises:
        NoTarget: no such backend, no device, or a device that can't answer.
    """
    if not launch.backend.isidentifier():
        raise NoTarget(f"no backend is called {launch.backend!r}")
    try:
        module = importlib.import_module(f"shaderstat.backends.{launch.backend}")
    except ModuleNotFoundError as error:
        if error.name != f"shaderstat.backends.{launch.backend}":
            raise
        raise NoTarget(f"no backend is called {launch.backend!r}", hint="vulkan and mock are") from None
    backend: Backend = module.open(launch, tools)
    return backend
