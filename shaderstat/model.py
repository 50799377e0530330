"""The words that every room speaks: plain frozen data, nothing that does work.

Three families:

- what is asked: `Request`, `Launch`, `Job`;
- what a backend answers, exactly as the driver said it: `Answer` and its parts;
- what a report holds (see ``schemas/report-1.json``): `Run`, `Target`, `Pipeline`, `Result`, `Report`, and the events
  that carry them.

Enumerations are plain strings, since a reader must accept words that a later version adds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from shaderstat.plain import dataclass

if TYPE_CHECKING:  # 3 ms, which a child needs for other things
    from fractions import Fraction

    from shaderstat.instrumentation import Execution, Instrumentation, Instrumented, Slot

REPORT_VERSION = 1

Key = TypeVar("Key")

# Characters of a driver's line that are shown.
_READABLE = 200

# Statuses of a result, from best to worst. The order is that of the summary line.
STATUSES = ("ok", "skipped", "invalid", "unsupported", "failed", "crashed", "timeout")

# Those that leave a question without a trustworthy answer, whatever another target says.
BAD_STATUSES = frozenset({"invalid", "failed", "crashed", "timeout"})

# Those without an answer: a rule may allow them.
UNANSWERED = ("invalid", "unsupported", "failed", "crashed", "timeout")

# Phases of one request in a child, in order; a death or a time-out names the one it fell into.
PHASES = ("start", "prepare", "validate", "compile", "query", "run")

# VkPipelineExecutableStatisticFormatKHR, by value (VK_KHR_pipeline_executable_properties).
STATISTIC_FORMATS = ("bool32", "int64", "uint64", "float64")

# VkShaderStageFlagBits in short words, the same that file suffixes use, in the order of the pipeline.
STAGE_BITS: Mapping[str, int] = {
    "vertex": 0x1,
    "tessellation_control": 0x2,
    "tessellation_evaluation": 0x4,
    "geometry": 0x8,
    "task": 0x40,
    "mesh": 0x80,
    "fragment": 0x10,
    "compute": 0x20,
    "raygen": 0x100,
    "any_hit": 0x200,
    "closest_hit": 0x400,
    "miss": 0x800,
    "intersection": 0x1000,
    "callable": 0x2000,
}

# What people call the stages: their words, and the suffixes that files have.
STAGE_WORDS: Mapping[str, str] = {
    **{stage: stage for stage in STAGE_BITS},
    "vert": "vertex",
    "tesc": "tessellation_control",
    "tese": "tessellation_evaluation",
    "geom": "geometry",
    "frag": "fragment",
    "comp": "compute",
    "rgen": "raygen",
    "rint": "intersection",
    "rahit": "any_hit",
    "rchit": "closest_hit",
    "rmiss": "miss",
    "rcall": "callable",
}


def stage_names(bits: int) -> tuple[str, ...]:
    """The stages in a VkShaderStageFlags value, in pipeline order; unknown bits as ``0x…``."""
    names = [name for name, bit in STAGE_BITS.items() if bits & bit]
    rest = bits & ~sum(STAGE_BITS.values())
    return (*names, f"0x{rest:x}") if rest else tuple(names)


# ── What is asked ─────────────────────────────────────────────────────────────────────────────────────────────────


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
class SpecOption:
    """``--spec``: values to try for the constants of that SpecId or name, in one stage or (None) in all of them."""

    stage: str | None
    constant: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """One question: which files, on which compilers, what to capture.

    Attributes:
        paths: files, folders, globs, or ``-`` for standard input.
        targets: target names; empty means "the best that can be reached".
        backend: ``auto``, ``vulkan`` or ``mock``: narrows the choice when `targets` is empty.
        statistics, representations: what to ask the driver for.
        validate: run SPIRV-Tools' validator first.
        timeout_s: the limit for one pipeline, in seconds.
        jobs: children per target; 0 for as many as there are cores that this process may use.
        cache: find answers that are remembered, and remember those that are not.
        refresh: remember, but ask again all the same.
        fail_fast: stop at the first result that is no answer.
        pipelines: globs; only pipelines whose name matches one are compiled. Empty means all.
        entries: entry points, ``[STAGE:]NAME`` or a glob; only those are compiled, and captured pipelines that have
            one of them. Empty means all.
        spec: specialization; every combination of values is a variant.
        config: a manifest, ``shaderstat.yaml``: its pipelines are compiled where `paths` is empty; otherwise its
            defaults hold for what the paths lead to.
        subgroup_size, samples, color_format, depth_format, topology: state that all pipelines shall have, under
            Vulkan's names or those less their prefix; None for what was inferred, or what the manifest says.
        optimize: False to ask for code that is not optimised.
        profile: ``vulkan``, ``webgpu``, ``dxvk`` or ``vkd3d``: the stack whose features the device is made with.
        keep_states: tell what is compiled with each result (`ResultEvent.state`).
        execution: run each pipeline, so; None to compile alone. A mapping names the members of an `Execution` that are
            said; of the others the manifest says some, and the rest is as it is by default.
        driver_manifest, environment: the driver to use for the moment, and variables for it.
        own_targets: targets that the user describes, by name; `shaderstat.targets.own` says in what words.
        sandbox: run compilers behind bubblewrap, without network and with nothing to write to.
        scenario: path of a scenario file for the mock.
        stdin: the bytes that ``-`` stands for.
        outputs: files that the answer goes to: none of them may be one that is read.
        arguments: the command line, for the record.
    """

    paths: tuple[str, ...]
    targets: tuple[str, ...] = ()
    backend: str = "auto"
    statistics: bool = True
    representations: bool = False
    validate: bool = True
    timeout_s: float = 60.0
    jobs: int = 0
    cache: bool = True
    refresh: bool = False
    fail_fast: bool = False
    pipelines: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    spec: tuple[SpecOption, ...] = ()
    config: str | None = None
    subgroup_size: int | None = None
    samples: int | None = None
    color_format: str | None = None
    depth_format: str | None = None
    topology: str | None = None
    optimize: bool = True
    profile: str | None = None
    keep_states: bool = False
    execution: Execution | Mapping[str, Any] | None = None
    driver_manifest: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    own_targets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    sandbox: bool = False
    scenario: str | None = None
    stdin: bytes | None = None
    outputs: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limit:
    """What a statistic may be at most, or must be at least.

    Attributes:
        statistic: the driver's name, the short one, or a key, which stands for the sum of what judges by it.
        most: whether it is a maximum.
        amount: the number; where `relative`, what may be added to the baseline's (in percent of it, where `percent`).
        text: as it was written.
        line: in the rule's file.
    """

    statistic: str
    most: bool
    amount: Fraction
    relative: bool
    percent: bool
    text: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A budget: limits, and what they are for. Globs over a pipeline's name, its executables' stages and names, and
    targets; none means all.

    Attributes:
        compile_time: seconds that a pipeline may take.
        allow: statuses of pipelines that need no answer.
        severity: ``error`` or ``warning``.
        path, line: where it stands; None for one of the command line.
    """

    name: str
    limits: tuple[Limit, ...] = ()
    pipelines: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    executables: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    compile_time: Limit | None = None
    allow: tuple[str, ...] = ()
    severity: str = "error"
    path: str | None = None
    line: int | None = None

    @property
    def place(self) -> str:
        """``shaderstat.yaml:12``, or the option."""
        return f"{self.path}:{self.line}" if self.path is not None else self.name


@dataclass(slots=True)
class Baseline:
    """Numbers that were accepted once: target → pipeline → executable → statistic → number. `compilers` says of each
    target which driver gave them."""

    compilers: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, dict[str, dict[str, dict[str, int | float]]]] = field(default_factory=dict)


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


# ── What a backend answers ────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One remark. `code` is stable, `message` is prose, `offset` is in bytes from the start of `path`."""

    severity: str
    code: str
    message: str
    hint: str | None = None
    path: str | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class StatisticAnswer:
    """A VkPipelineExecutableStatisticKHR: `format` is the enum's value, `bits` the union's eight bytes as an
    unsigned integer (four for BOOL32), so that nothing is lost or rounded on the way."""

    name: str
    description: str
    format: int
    bits: int


@dataclass(frozen=True, slots=True)
class RepresentationAnswer:
    """A VkPipelineExecutableInternalRepresentationKHR; `data` is what the driver wrote, less a text's closing NUL."""

    name: str
    description: str
    is_text: bool
    data: bytes


@dataclass(frozen=True, slots=True)
class ExecutableAnswer:
    """A VkPipelineExecutablePropertiesKHR with what was asked of it. `stages` are VkShaderStageFlags, `subgroup_size`
    as the driver said it (0 for "not said"). `synthetic`: every stage of it was generated by shaderstat."""

    name: str
    description: str
    stages: int
    subgroup_size: int
    statistics: tuple[StatisticAnswer, ...] = ()
    representations: tuple[RepresentationAnswer, ...] = ()
    synthetic: bool = False
    bound: str = "exact"


@dataclass(frozen=True, slots=True)
class Durations:
    """Nanoseconds. `pipeline` and `stages` are VkPipelineCreationFeedback's where valid; `wall` is the whole call."""

    pipeline: int | None = None
    stages: Mapping[str, int] = field(default_factory=dict)
    wall: int | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no answer. Members that don't apply are None.

    Attributes:
        phase: one of `PHASES`.
        code: a stable word: ``driver/crashed``, ``driver/error``, ``driver/exited``, ``driver/timeout``, …
        signal: its name, ``SIGSEGV``.
        exit_code: of a child that exited by itself.
        vk_result: the VkResult's name, ``VK_ERROR_UNKNOWN``.
        limit_s: the time limit that was overrun.
        stderr_tail: the driver's last words.
        reproduce: an argument vector that shows just this one again.
    """

    phase: str
    code: str
    signal: str | None = None
    exit_code: int | None = None
    vk_result: str | None = None
    limit_s: float | None = None
    stderr_tail: str = ""
    reproduce: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one `Job`.

    Attributes:
        workgroup: the local size with specialization applied, of compute, task and mesh shaders.
        spec_found: the places in `Job.spec` of those that found a constant.
        spec: everything that would have been compiled, where nothing was (`Job.compile`), as
            `shaderstat.pipeline.spec.to_plain` has it.
        state: what was compiled, also where the driver died of it (`Job.keep_state`), as
            `shaderstat.pipeline.spec.pack` has it.
        driver_ns: the time inside vkCreate*Pipelines and vkGetPipelineExecutable*.
        instrumentation: what its run gave (`Job.execution`).
        cached: it was remembered: no driver was asked, and there are no durations.
        needs: where the device lacks some of it, everything that the modules ask of one, in the words of
            `shaderstat.pipeline.requirements.takes`: for telling which others have it all.
    """

    status: str
    executables: tuple[ExecutableAnswer, ...] = ()
    workgroup: tuple[int, int, int] | None = None
    durations: Durations = Durations()
    diagnostics: tuple[Diagnostic, ...] = ()
    failure: Failure | None = None
    spec_found: tuple[int, ...] = ()
    spec: Mapping[str, Any] | None = None
    state: Mapping[str, Any] | None = None
    driver_ns: int = 0
    instrumentation: Instrumentation | None = None
    cached: bool = False
    needs: tuple[str, ...] = ()


# ── What a report holds ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Driver:
    """VkPhysicalDeviceDriverProperties: `id` is VkDriverId's number (0 where there is none), the rest verbatim."""

    id: int
    name: str
    version: str
    info: str


@dataclass(frozen=True, slots=True)
class Device:
    """VkPhysicalDeviceProperties. `type` is ``cpu``, ``discrete_gpu``, … or the number as text where it is unknown;
    `api_version` is ``1.3.230``; `pipeline_cache_uuid` is 32 hexadecimal digits."""

    name: str
    vendor_id: int
    device_id: int
    type: str
    api_version: str
    pipeline_cache_uuid: str


@dataclass(frozen=True, slots=True)
class StatisticInfo:
    """What is known of one statistic on one target; the dictionary's part is None where it knows nothing.

    Attributes:
        name, format, description: the driver's own.
        key: the normalised name shared by drivers, ``registers``.
        unit: ``bytes/workgroup``.
        better: ``less``, ``more`` or None.
        role: ``trigger`` (judges), ``info``, ``identity`` (a hash) or ``equality``.
        label: the short column heading that driver developers know.
        note: a known quirk.
        bits: how many of a value's low bits mean something: 32 where the driver writes only half of it.
    """

    name: str
    format: str
    description: str
    key: str | None = None
    unit: str | None = None
    better: str | None = None
    role: str = "info"
    label: str | None = None
    note: str | None = None
    bits: int = 64


def quantity(statistic: Statistic, info: StatisticInfo | None) -> int | float | None:
    """The number that a statistic stands for when it is compared or judged: of a value that the driver only half
    writes, the half that it writes. None for what is no number."""
    value = statistic.value
    if info is not None and info.bits < 64 and isinstance(value, int) and value >= 0:
        return value & ((1 << info.bits) - 1)
    return value


def is_subgroup_size(size: int) -> bool:
    """Whether a GPU may have subgroups of that size: a power of two up to 128 (VkPhysicalDeviceSubgroupProperties)."""
    return 0 < size <= 128 and size & (size - 1) == 0


def numbered(statistics: Iterable[Statistic | StatisticInfo]) -> list[tuple[str, str, int]]:
    """(name, format, how many of these came before it) of each: what joins an executable's statistic to its target's
    list, where two of one name stay two."""
    seen: dict[tuple[str, str], int] = {}
    keys: list[tuple[str, str, int]] = []
    for each in statistics:
        pair = (each.name, each.format)
        seen[pair] = nth = seen.get(pair, -1) + 1
        keys.append((*pair, nth))
    return keys


def merge(order: list[Key], keys: Iterable[Key]) -> None:
    """Put the `keys` that are new into `order`, each behind the one it followed, so that lists which each lack some
    become one that reads like all of them."""
    place = 0
    for key in keys:
        if key not in order:
            order.insert(place, key)
        place = order.index(key) + 1


@dataclass(frozen=True, slots=True)
class Target:
    """A compiler that answered: never a number without it. `statistics` are in the driver's order and grow as new ones
    are met: a later `TargetEvent` of the same id replaces the earlier. `gpu` is the usual name of a GPU that isn't
    here: what stands in for it hardly has one (NVK's devices are all called ``NVK``)."""

    id: str
    backend: str
    driver: Driver
    device: Device
    source: str
    packages: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    statistics: tuple[StatisticInfo, ...] = ()
    gpu: str | None = None


@dataclass(frozen=True, slots=True)
class Module:
    """A file of a pipeline. `sha256` is of the file as read, `generator` the header's word: ``0x0008000b``."""

    path: str
    sha256: str
    stage: str | None = None
    entry_point: str | None = None
    spirv_version: str | None = None
    generator: str | None = None


@dataclass(frozen=True, slots=True)
class State:
    """Where the pipeline state came from: ``inferred``, ``manifest`` or ``archive``; `sha256` is its identity; `given`
    is what was said of it, under the manifest's names: ``{"samples": 4, "profile": "webgpu"}``."""

    source: str
    sha256: str
    given: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """What is compiled. `id` is unique in a report; `content` is what comparisons match by; `kind` is None for a file
    that makes no pipeline. `workgroup` is (x, y, z) with specialization applied, for compute, mesh and task."""

    id: str
    name: str
    content: str
    kind: str | None
    variant: Mapping[str, Any] = field(default_factory=dict)
    modules: tuple[Module, ...] = ()
    state: State | None = None
    workgroup: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Statistic:
    """One number. `value` is a number or None, always (bool32 as 0 or 1); `text` is the exact form of a hash, of an
    integer beyond ±2**53, of NaN and of the infinities (whose value is None). A NaN that isn't the usual one, by its
    sign or its payload, has its 64 bits: ``NaN(0x7ff8000000000123)``."""

    name: str
    format: str
    value: int | float | None
    text: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Representation:
    """One internal representation: its bytes travel beside the result. `size` in bytes; `code_sha256` is that of the
    text after leaving out what is not code; `path` is where it was written, if it was; `index` is its place among those
    that the driver gave, whichever of them are shown."""

    name: str
    description: str
    is_text: bool
    size: int
    sha256: str
    code_sha256: str
    path: str | None = None
    index: int = 0


@dataclass(frozen=True, slots=True)
class Executable:
    """One VkPipelineExecutablePropertiesKHR. Executables are not stages: the key is (pipeline, index, stages, name).
    `subgroup_size` is the driver's own number, whatever it is; None where it says 0: not told."""

    index: int
    name: str
    description: str
    stages: tuple[str, ...]
    subgroup_size: int | None
    synthetic: bool = False
    bound: str = "exact"
    statistics: tuple[Statistic, ...] = ()
    representations: tuple[Representation, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """One pipeline on one target. `target` is None for a file that makes no pipeline; `instrumentation` where it was
    run."""

    pipeline: str
    target: str | None
    status: str
    cached: bool = False
    attempts: int = 1
    durations_ns: Durations = Durations()
    executables: tuple[Executable, ...] = ()
    failure: Failure | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    instrumentation: Instrumented | None = None


def failure_words(failure: Failure) -> str:
    """What befell a pipeline, in the words that every screen has for it: ``SIGSEGV in compile``."""
    if failure.code == "target/lost":
        return f"the target was lost: {failure.stderr_tail}"
    if failure.limit_s is not None:
        return f"over {failure.limit_s:g} s in {failure.phase}"
    exited = failure.code if failure.exit_code is None else f"exit status {failure.exit_code}"
    return f"{failure.signal or failure.vk_result or exited} in {failure.phase}"


def last_words(failure: Failure | None, most: int = 1) -> list[str]:
    """The last lines that a driver wrote before it failed; hostile text, of each what a person reads."""
    if failure is None or failure.code == "target/lost":
        return []
    lines = [line.rstrip() for line in failure.stderr_tail.splitlines() if line.strip()]
    return [line if len(line) <= _READABLE else line[: _READABLE - 1] + "…" for line in lines[-most:]]


def cause(result: Result) -> tuple[str, str | None]:
    """Why there is no answer, and the way out if one is known. Hostile text, as all that drivers and files say."""
    errors = [one for one in result.diagnostics if one.severity == "error"]
    if not errors and result.failure is not None:
        return failure_words(result.failure), None
    for one in errors or result.diagnostics:
        return one.message, one.hint
    return "", None


@dataclass(frozen=True, slots=True)
class Run:
    """`started` is ISO 8601 in UTC; `complete` is False when the run was cut short; `counts` has every status, and
    ``cached``; `diagnostics` are remarks about the run as a whole."""

    started: str
    arguments: tuple[str, ...] = ()
    complete: bool = True
    counts: Mapping[str, int] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Schema:
    """Which schema a report follows."""

    name: str = "shaderstat-report"
    version: int = REPORT_VERSION


@dataclass(frozen=True, slots=True)
class Producer:
    """Which program wrote a report."""

    name: str
    version: str


# ── Events, in the order in which a run yields them ───────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class RunEvent:
    """First: who asks, and what. `pipelines` is how many there are to do; `reads` the file that a buffer shall go to
    after a pipeline's run: (the pipeline's id, slot, path) each."""

    schema: Schema
    producer: Producer
    run: Run
    pipelines: int
    reads: tuple[tuple[str, Slot, str], ...] = ()


@dataclass(frozen=True, slots=True)
class TargetEvent:
    """A target, before the first result that needs it, and again when its list of statistics has grown."""

    target: Target


@dataclass(frozen=True, slots=True)
class PipelineEvent:
    """A pipeline, before its first result."""

    pipeline: Pipeline


@dataclass(frozen=True, slots=True)
class ResultEvent:
    """A result; `data[i][j]` are the bytes of ``result.executables[i].representations[j]``. With
    `Request.keep_states`, `state` is what was compiled: ``spec``, as `shaderstat.pipeline.spec.pack` has it, and the
    device's ``setup``. `read` are the buffers that `Execution.read` asked for, as the run left them."""

    result: Result
    data: tuple[tuple[bytes, ...], ...] = ()
    state: Mapping[str, Any] | None = None
    read: tuple[tuple[Slot, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class NoteEvent:
    """A remark for the user about the run, not about a result; it ends in ``run.diagnostics`` as well."""

    diagnostic: Diagnostic


@dataclass(frozen=True, slots=True)
class EndEvent:
    """Last: the run with its counts. A stream without it was cut off."""

    run: Run


Event = RunEvent | TargetEvent | PipelineEvent | ResultEvent | NoteEvent | EndEvent


@dataclass(frozen=True, slots=True)
class Report:
    """The whole answer: three flat lists and a header."""

    schema: Schema
    producer: Producer
    run: Run
    targets: tuple[Target, ...] = ()
    pipelines: tuple[Pipeline, ...] = ()
    results: tuple[Result, ...] = ()

    @classmethod
    def collect(cls, events: Iterable[Event]) -> Report:
        """Gather a run's events; representations' bytes are dropped.

        Raises:
            ValueError: there was no `RunEvent`.
        """
        head: RunEvent | None = None
        run: Run | None = None
        targets: dict[str, Target] = {}
        pipelines: dict[str, Pipeline] = {}
        results: list[Result] = []
        for event in events:
            if isinstance(event, RunEvent):
                head, run = event, replace(event.run, complete=False)
            elif isinstance(event, TargetEvent):
                targets[event.target.id] = event.target
            elif isinstance(event, PipelineEvent):
                pipelines[event.pipeline.id] = event.pipeline
            elif isinstance(event, ResultEvent):
                results.append(event.result)
            elif isinstance(event, EndEvent):
                run = event.run
        if head is None or run is None:
            raise ValueError("no run event")
        return cls(head.schema, head.producer, run, tuple(targets.values()), tuple(pipelines.values()), tuple(results))
