"""``check`` for scripts, after ``schemas/check-1.json``: one line for each thing in a list, for grep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO

from shaderstat._version import __version__
from shaderstat.budget import Check, Unanswered, Verdict
from shaderstat.reporters._check_words import number_words
from shaderstat.reporters._diff_json import number, paths, target, write_lists

SCHEMA = {"name": "shaderstat-check", "version": 1}


def write(verdict: Verdict, stream: BinaryIO) -> None:
    """Write the whole of it."""
    head = {
        "schema": SCHEMA,
        "producer": {"name": "shaderstat", "version": __version__},
        "status": verdict.status,
        "counts": {
            "rules": verdict.rules,
            "checks": verdict.checks,
            "failed": len(verdict.failures),
            "warned": len(verdict.warnings),
            "passed": verdict.passed,
            "unanswered": len(verdict.unanswered),
            "allowed": len(verdict.allowed),
        },
        "problems": verdict.problems,
        "targets": [target(each) for each in verdict.targets.values()],
    }
    lists: Mapping[str, Iterable[Mapping[str, Any]]] = {
        "checks": (_check(each) for each in (*verdict.failures, *verdict.warnings, *verdict.kept)),
        "unanswered": (_unanswered(each) for each in verdict.unanswered),
        "allowed": (_unanswered(each) for each in verdict.allowed),
    }
    write_lists(head, lists, stream)


def _check(check: Check) -> dict[str, Any]:
    bound = check.bound
    return {
        "rule": check.rule.name,
        "path": check.rule.path,
        "line": check.limit.line if check.rule.path is not None else None,
        "severity": check.rule.severity,
        "pipeline": check.pipeline,
        "paths": paths(check.modules),
        "executable": check.executable,
        "target": check.target,
        "statistic": check.limit.statistic,
        "value": number(check.value),
        "limit": {
            "kind": "max" if check.limit.most else "min",
            "value": bound.numerator if bound.denominator == 1 else float(bound),
            "text": number_words(bound),
            "written": check.limit.text,
            "baseline": number(check.baseline) if check.baseline is not None else None,
        },
        "passed": check.holds,
        "again": list(check.again),
    }


def _unanswered(one: Unanswered) -> dict[str, Any]:
    return {
        "pipeline": one.pipeline,
        "paths": paths(one.modules),
        "target": one.target,
        "status": one.status,
        "reason": one.reason,
        "again": list(one.reproduce),
    }
