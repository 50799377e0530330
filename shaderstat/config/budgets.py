"""``budgets`` of ``shaderstat.yaml``: rules, and where the baseline lies.

baseline: shaderstat-baseline.json      # written by: shaderstat check --update-baseline
budgets:
- name: desktop
  pipeline: ["water*", "terrain/*"]     # globs; what is not said is all
  stage: fragment
  executable: "*"                       # the driver's own name
  target: "radv:*"
  max: {registers: 64, spills: 0, Code size: 8000}
  min: {occupancy: 8}
- name: no surprises
  max: {instructions: +5%, VGPRs: +4}   # with a sign: from the baseline
  compile_time: 500 ms
  allow: [unsupported]                  # statuses: crashed, timeout, failed, invalid, unsupported
  severity: warning
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from fractions import Fraction

from shaderstat.config.reader import Node, read
from shaderstat.errors import ShaderstatError
from shaderstat.model import STAGE_WORDS, UNANSWERED, Limit, Rule
from shaderstat.plain import dataclass

BASELINE = "shaderstat-baseline.json"

_MEMBERS = (
    "name",
    "pipeline",
    "stage",
    "executable",
    "target",
    "max",
    "min",
    "compile_time",
    "allow",
    "severity",
)
_SAYS = ("max", "min", "compile_time", "allow")
_AMOUNT = re.compile(r"(?P<sign>[+-]?)(?P<amount>\d+(?:\.\d+)?)(?P<percent> ?%)?")
_TIME = re.compile(r"(?P<amount>\d+(?:\.\d+)?) ?(?P<unit>ms|s)?")


@dataclass(frozen=True, slots=True)
class Budgets:
    """What a file says of budgets. `baseline` is a path; None where the file doesn't name one."""

    rules: tuple[Rule, ...] = ()
    baseline: str | None = None


def read_budgets(path: str) -> Budgets:
    """The budgets in a file; its other parts are not looked at.

    Raises:
        ShaderstatError: the file can't be read, or a rule says what isn't known here; with its line.
    """
    root = read(path)
    if root is None:
        return Budgets()
    top = root.table()
    rules = tuple(_rule(node, path) for node in top["budgets"].items()) if "budgets" in top else ()
    baseline = os.path.join(os.path.dirname(path), top["baseline"].text()) if "baseline" in top else None
    return Budgets(rules, baseline)


def _rule(node: Node, path: str) -> Rule:
    given = node.mapping(_MEMBERS)
    if not any(name in given for name in _SAYS):
        raise node.error("this rule asks for nothing", f"it needs one of {', '.join(_SAYS)}")
    limits = [limit for name in ("max", "min") if name in given for limit in _limits(given[name], name == "max")]
    time = given.get("compile_time")
    return Rule(
        name=given["name"].text() if "name" in given else f"rule at line {node.line}",
        limits=tuple(limits),
        pipelines=_globs(given, "pipeline"),
        stages=tuple(STAGE_WORDS.get(glob, glob) for glob in _globs(given, "stage")),
        executables=_globs(given, "executable"),
        targets=_globs(given, "target"),
        compile_time=_compile_time(time) if time is not None else None,
        allow=tuple(each.choice(UNANSWERED) for each in given["allow"].one_or_more()) if "allow" in given else (),
        severity=given["severity"].choice(("error", "warning")) if "severity" in given else "error",
        path=path,
        line=node.line,
    )


def _globs(given: Mapping[str, Node], name: str) -> tuple[str, ...]:
    return tuple(str(each.source()) for each in given[name].one_or_more()) if name in given else ()


def _limits(node: Node, most: bool) -> list[Limit]:
    limits = []
    for key, value in node.pairs():
        try:
            limits.append(limit(key.source(), value.source(), most=most, line=value.line))
        except ValueError as error:
            raise value.error(str(error), "for instance 64, +4 or +5%") from None
    return limits


def _compile_time(node: Node) -> Limit:
    text = node.source().strip()
    found = _TIME.fullmatch(text)
    if found is None:
        raise node.error(f"{text!r} is no time", "for instance 500 ms or 2 s")
    seconds = Fraction(found["amount"]) / (1000 if found["unit"] == "ms" else 1)
    return Limit("compile_time", True, seconds, False, False, text, node.line)


def limit(statistic: str, text: str, *, most: bool, line: int | None = None) -> Limit:
    """A limit as it is written: ``64``, or from the baseline ``+4`` and ``+5%``.

    Raises:
        ValueError: it is nothing of the kind.
    """
    found = _AMOUNT.fullmatch(text.strip().replace("_", ""))
    if found is None:
        raise ValueError(f"{text!r} is no limit")
    relative, percent = bool(found["sign"]), found["percent"] is not None
    if percent and not relative:
        raise ValueError(f"{text!r}: a percentage is from the baseline, and needs a sign")
    amount = Fraction(found["amount"]) * (-1 if found["sign"] == "-" else 1)
    return Limit(statistic.strip(), most, amount, relative, percent, text.strip(), line)


def rule_of_option(option: str, text: str) -> Rule:
    """A rule of the command line: ``--max registers=64``.

    Raises:
        ShaderstatError: it is not of that form.
    """
    statistic, equals, amount = text.rpartition("=")
    try:
        if not equals or not statistic.strip():
            raise ValueError(f"{text!r} is not of the form STATISTIC=LIMIT")
        found = limit(statistic, amount, most=option == "--max")
    except ValueError as error:
        raise ShaderstatError(f"{option}: {error}", hint=f"for instance {option} registers=64") from None
    return Rule(name=f"{option} {text}", limits=(found,))
