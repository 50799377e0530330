"""Where shaderstat's own time goes: the steps of a child and of the parent, each with a clock on it.

`throughput.py` runs this: in the parent by `watch_parent`, in a child in place of ``shaderstat.child.serve``, by way of
`BOOT`. A clock costs less than a microsecond; steps do not lie within each other.
"""

from __future__ import annotations

import functools
import json
import os
import selectors
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

spent: dict[str, int] = defaultdict(int)


def clock(owner: Any, name: str, step: str) -> None:
    """Have every call of ``owner.name`` counted as `step`, in nanoseconds."""
    function: Callable[..., Any] = getattr(owner, name)

    @functools.wraps(function)
    def timed(*arguments: Any, **named: Any) -> Any:
        began = time.perf_counter_ns()
        try:
            return function(*arguments, **named)
        finally:
            spent[step] += time.perf_counter_ns() - began

    setattr(owner, name, timed)


def watch_parent() -> None:
    """Clocks on what the parent does for each pipeline while children work."""
    from shaderstat import engine, wire, work
    from shaderstat.pool import child

    clock(work.Work, "load", "make the job")
    clock(wire, "job_frame", "write its frame")
    clock(child.ChildProcess, "read", "read answers")
    clock(wire, "answer_from_frame", "understand them")
    clock(work.Work, "keep", "remember")
    clock(selectors.DefaultSelector, "select", "(wait)")
    annotated = engine._Run._annotated

    def timed(*arguments: Any) -> Any:
        began = time.perf_counter_ns()
        events = list(annotated(*arguments))
        spent["name statistics, make events"] += time.perf_counter_ns() - began
        return iter(events)

    setattr(engine._Run, "_annotated", timed)  # noqa: B010 (mypy)


def serve(in_fd: int, out_fd: int, said: str) -> None:
    """As a child serves; its steps are written to the file `said` when it is done."""
    from shaderstat import child, wire
    from shaderstat.child import loop
    from shaderstat.child.validate import Validator
    from shaderstat.pipeline import requirements

    clock(wire, "job_from_frame", "take a job in")
    clock(loop, "prepare", "read and reflect its modules")
    clock(requirements, "check", "hold capabilities against the device")
    clock(Validator, "check", "validate (SPIRV-Tools)")
    clock(loop, "synthesise", "infer its state")
    clock(loop, "prepare_state", "read and reflect its modules")
    clock(loop, "check_state", "hold its state against the device")
    clock(wire, "answer_frame", "write the answer")
    clock(loop.Child, "_answer", "all of an answer")
    leave = os._exit

    def exit(status: int) -> None:
        with open(said, "w", encoding="utf-8") as file:
            json.dump(spent, file)
        leave(status)

    setattr(os, "_exit", exit)  # noqa: B010 (mypy)
    child.serve(in_fd, out_fd)


def boot(said: str) -> str:
    """The program of a child that writes its steps to `said`."""
    from shaderstat.pool.child import BOOT

    here = os.path.dirname(os.path.abspath(__file__))
    return BOOT.replace(
        "from shaderstat.child import serve;serve(0,out)",
        f"sys.path.append({here!r});from steps import serve;serve(0,out,{said!r})",
    )


def table(child: Mapping[str, int], parent: Mapping[str, int], driver_ns: int, pipelines: int) -> list[str]:
    """Lines of milliseconds a pipeline, the largest first."""
    inside = sum(
        child.get(step, 0)
        for step in (
            "read and reflect its modules",
            "hold capabilities against the device",
            "validate (SPIRV-Tools)",
            "infer its state",
            "hold its state against the device",
        )
    )
    rest = {
        **{step: ns for step, ns in child.items() if step != "all of an answer"},
        "Vulkan's structs, objects and answers": child.get("all of an answer", 0) - inside - driver_ns,
    }
    lines = []
    for who, steps in (("child", rest), ("parent", parent)):
        for step, ns in sorted(steps.items(), key=lambda pair: -pair[1]):
            lines.append(f"    {who:6}  {ns / pipelines / 1e6:6.3f}  {step}")
    return lines
