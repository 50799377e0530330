"""Small reports made by hand, as the events that a saved one gives."""

from __future__ import annotations

from collections.abc import Sequence

from shaderstat.compare import Side, collect
from shaderstat.model import (
    Device,
    Driver,
    EndEvent,
    Event,
    Executable,
    Module,
    Pipeline,
    PipelineEvent,
    Producer,
    Representation,
    Result,
    ResultEvent,
    Run,
    RunEvent,
    Schema,
    Statistic,
    StatisticInfo,
    Target,
    TargetEvent,
)

VGPRS = StatisticInfo("VGPRs", "uint64", "", "registers", "registers", "less", "trigger", "VGPRs")
SPILLED_SGPRS = StatisticInfo("Spilled SGPRs", "uint64", "", "spills", "registers", "less", "trigger", "SpillSGPRs")
SPILLED_VGPRS = StatisticInfo("Spilled VGPRs", "uint64", "", "spills", "registers", "less", "trigger", "SpillVGPRs")
WAVES = StatisticInfo("Subgroups per SIMD", "uint64", "", "occupancy", "subgroups", "more", "trigger", "MaxWaves")
COPIES = StatisticInfo("Copies", "uint64", "", None, "instructions", "less", "info", "Copies")
HASH = StatisticInfo("Hash", "uint64", "", "hash", None, None, "identity", "Hash", bits=32)
STORES = StatisticInfo("STP Count", "uint64", "", "spills", "instructions", "less", "info", "STPs")
SPILLS = StatisticInfo("Spills", "uint64", "", "spills", "instructions", "less", "info", "Spills")
UNKNOWN = StatisticInfo("Mystery", "uint64", "")
LOCAL = StatisticInfo("Local Memory Size", "uint64", "", "scratch_bytes", "bytes", "less", "trigger", "Local", bits=32)
SHARE = StatisticInfo("Share", "float64", "", None, None, "less", "trigger", "Share")

ALL = (VGPRS, SPILLED_SGPRS, SPILLED_VGPRS, WAVES, COPIES, HASH, STORES, SPILLS, UNKNOWN, LOCAL, SHARE)


def target(
    id: str = "radv:navi21",
    *,
    driver: int = 3,
    version: str = "22.3.6",
    device: str = "Null hardware (RADV NAVI21)",
    source: str = "null-device",
    environment: dict[str, str] | None = None,
    statistics: Sequence[StatisticInfo] = ALL,
) -> Target:
    return Target(
        id,
        "vulkan",
        Driver(driver, "radv" if driver == 3 else f"driver {driver}", version, f"Mesa {version}"),
        Device(device, 0x1002, 0x73BF, "discrete_gpu", "1.3.230", "0" * 32),
        source,
        environment=environment or {},
        statistics=tuple(statistics),
    )


def cell(info: StatisticInfo, value: int | float | str | None) -> Statistic:
    """A statistic as it stands in a report; text is what has no value (NaN)."""
    if isinstance(value, str):
        return Statistic(info.name, info.format, None, value)
    if info.role == "identity" and isinstance(value, int):
        return Statistic(info.name, info.format, value, f"0x{value:08x}")
    exact = str(value) if isinstance(value, int) and abs(value) > 2**53 else None
    return Statistic(info.name, info.format, value, exact)


def executable(
    *cells: tuple[StatisticInfo, int | float | str],
    stages: Sequence[str] = ("compute",),
    name: str | None = None,
    index: int = 0,
    bound: str = "exact",
    code: str | None = None,
    synthetic: bool = False,
) -> Executable:
    representations = ()
    if code is not None:
        representations = (Representation("Assembly", "", True, 1, code * 64, code * 64),)
    return Executable(
        index,
        name if name is not None else f"{'+'.join(stages)} shader",
        "",
        tuple(stages),
        64,
        synthetic,
        bound,
        tuple(cell(*each) for each in cells),
        representations,
    )


def pipeline(
    id: str,
    *executables: Executable,
    content: str | None = None,
    status: str = "ok",
    on: str | None = "radv:navi21",
    kind: str | None = "compute",
    **result: object,
) -> list[Event]:
    """A pipeline and its result. Without `content`, its own is as good as its name."""
    module = Module(f"shaders/{id}.spv", "0" * 64, executables[0].stages[-1] if executables else None)
    made = Pipeline(id, id, id if content is None else content, kind, modules=(module,))
    return [PipelineEvent(made), ResultEvent(Result(id, on, status, executables=executables, **result))]  # type: ignore[arg-type]


def run(*parts: list[Event], targets: Sequence[Target] = (target(),), complete: bool = True) -> list[Event]:
    head = Run("2025-01-02T03:04:05+00:00", complete=False)
    body = [event for part in parts for event in part]
    start = RunEvent(Schema(), Producer("shaderstat", "0.1.0"), head, len(parts))
    end = [EndEvent(Run("2025-01-02T03:04:05+00:00", complete=True))] if complete else []
    return [start, *(TargetEvent(each) for each in targets), *body, *end]


def side(
    *parts: list[Event], targets: Sequence[Target] = (target(),), label: str = "side", complete: bool = True
) -> Side:
    return collect(run(*parts, targets=targets, complete=complete), label)
