"""What a child is asked: how to reach a compiler, and a pipeline to give it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from shaderstat.plain import dataclass

if TYPE_CHECKING:
    from shaderstat.instrumentation import Execution


@dataclass(frozen=True, slots=True)
class Setup:
    """How a device is made where it isn't the usual one: drivers compile other code for it.

    Attributes:
        profile: whose features are enabled: a word of `shaderstat.pipeline.profiles`.
        features: (struct, member, on) under Vulkan's names of today, switched on or off.
        application: VkApplicationInfo's members and their values; drivers have workarounds by name.
        wished: (struct, member) of features that are taken where they are there: those that an application had on the
            device which it was captured on.
    """

    profile: str = "vulkan"
    features: tuple[tuple[str, str, bool], ...] = ()
    application: tuple[tuple[str, str | int], ...] = ()
    wished: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Launch:
    """How a compiler is reached: everything needed to start a child on it. Plain data, part of a result's identity.

    Attributes:
        id: the target's name: ``radv:navi21``, ``host:0``, ``mock``.
        backend: ``vulkan`` or ``mock``.
        source: ``host``, ``null-device``, ``shim``, ``tree``, ``config`` or ``mock``.
        prefix: argv put before the child's own, such as ``("bwrap", …)``.
        environment: variables set in the child, over the inherited ones.
        device: index of the physical device in the loader's order.
        driver_manifest: the one driver manifest that the loader may see, or None for all of the system's.
        scenario: what the mock shall answer, as read from a scenario file.
        python: the interpreter to start behind `prefix`, which is given the kit over its standard input; None: this
            one, with the kit where it lies.
        spirv_tools: SPIRV-Tools' library, or a folder of its programs, as the child finds it; None: it looks itself.
        packages: name and version of each package that the compiler was made of, for the record.
        setup: how the device is made.
        runs: shaders shall run there: the device needs not tell executables, has a queue, and
            VK_ARM_shader_instrumentation is enabled where it is there.
    """

    id: str
    backend: str
    source: str
    prefix: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    device: int = 0
    driver_manifest: str | None = None
    scenario: Mapping[str, Any] | None = None
    python: str | None = None
    spirv_tools: str | None = None
    packages: Mapping[str, str] = field(default_factory=dict)
    setup: Setup = Setup()
    runs: bool = False


@dataclass(frozen=True, slots=True)
class JobModule:
    """One module of a job: `data` is the file as read; `entry_point` and `stage` choose what of it is compiled."""

    path: str
    data: bytes
    stage: str
    entry_point: str


@dataclass(frozen=True, slots=True)
class Job:
    """One pipeline for one child.

    Attributes:
        kind: ``compute``, ``graphics`` or ``ray_tracing``.
        modules: in pipeline order.
        statistics, representations, validate: as in `Request`.
        timeout_s: seconds; the child's watchdog and the parent both hold it.
        spec: specialization: (stage or None, SpecId or name, value as typed) each.
        layers: what was said of the state, JSON-able (see `shaderstat.pipeline.overrides`).
        state: the whole of a captured pipeline, its modules included, as `shaderstat.pipeline.spec.pack` has it; then
            there are no `modules`, and nothing is inferred.
        keep_state: tell what is compiled, before it is compiled.
        compile: False to stop when the state is known: the answer is what would have been compiled.
        execution: run the pipeline, so.
    """

    kind: str
    modules: tuple[JobModule, ...]
    statistics: bool = True
    representations: bool = False
    validate: bool = True
    timeout_s: float = 60.0
    spec: tuple[tuple[str | None, str, str], ...] = ()
    layers: tuple[Mapping[str, Any], ...] = ()
    state: Mapping[str, Any] | None = None
    keep_state: bool = False
    compile: bool = True
    execution: Execution | None = None
