"""What every GPU's compiler made of a shader: executables, statistics and code, with or without a GPU.

    import shaderstat

    report = shaderstat.inspect("shaders/", target="radv:navi21")
    for result in report.results:
        for executable in result.executables:
            print(result.pipeline, executable.name, {s.name: s.value for s in executable.statistics})

Everything here is bound when it is first used (PEP 562): a child process imports `shaderstat.child`, and must not load
the host side by doing so.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` takes longer to import than all else that is needed here
if TYPE_CHECKING:
    from typing import Any

    from shaderstat._version import __version__
    from shaderstat.api import inspect, stream
    from shaderstat.errors import InvalidSpirv, NoTarget, ShaderstatError, Unsupported
    from shaderstat.instrumentation import (
        Command,
        CountedBlock,
        Execution,
        Fill,
        ImageFill,
        Instrumented,
        Metric,
        Offer,
        Resource,
    )
    from shaderstat.model import (
        Device,
        Diagnostic,
        Driver,
        Durations,
        EndEvent,
        Event,
        Executable,
        Failure,
        Module,
        NoteEvent,
        Pipeline,
        PipelineEvent,
        Report,
        Representation,
        Request,
        Result,
        ResultEvent,
        Run,
        RunEvent,
        Statistic,
        StatisticInfo,
        Target,
        TargetEvent,
    )

__all__ = [
    "Command",
    "CountedBlock",
    "Device",
    "Diagnostic",
    "Driver",
    "Durations",
    "EndEvent",
    "Event",
    "Executable",
    "Execution",
    "Failure",
    "Fill",
    "ImageFill",
    "Instrumented",
    "InvalidSpirv",
    "Metric",
    "Module",
    "NoTarget",
    "NoteEvent",
    "Offer",
    "Pipeline",
    "PipelineEvent",
    "Report",
    "Representation",
    "Request",
    "Resource",
    "Result",
    "ResultEvent",
    "Run",
    "RunEvent",
    "ShaderstatError",
    "Statistic",
    "StatisticInfo",
    "Target",
    "TargetEvent",
    "Unsupported",
    "__version__",
    "inspect",
    "stream",
]

_HOMES = {
    "__version__": "_version",
    "inspect": "api",
    "stream": "api",
    **dict.fromkeys(
        (
            "Command",
            "CountedBlock",
            "Execution",
            "Fill",
            "ImageFill",
            "Instrumented",
            "Metric",
            "Offer",
            "Resource",
        ),
        "instrumentation",
    ),
    **dict.fromkeys(("InvalidSpirv", "NoTarget", "ShaderstatError", "Unsupported"), "errors"),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'shaderstat' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"shaderstat.{_HOMES.get(name, 'model')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
