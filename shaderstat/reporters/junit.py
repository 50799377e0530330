"""JUnit XML, as CI systems show tests: one suite a target. A broken budget or gate is a failure, a pipeline without an
answer an error, one that its device can't compile is skipped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import BinaryIO
from xml.sax.saxutils import escape, quoteattr

from shaderstat.budget import Check, Unanswered, Verdict
from shaderstat.compare.outcome import DiffOutcome
from shaderstat.plain import dataclass
from shaderstat.reporters import _check_words
from shaderstat.reporters._findings import Finding, of_check, of_diff, subjects
from shaderstat.reporters.base import Options
from shaderstat.reporters.text import printable, shell_words

# What is counted: the root has no attribute for skipped tests (junit-10.xsd of Jenkins' xUnit plugin).
_OUTER = {"failures": "failure", "errors": "error"}
_SUITE = {**_OUTER, "skipped": "skipped"}


@dataclass(frozen=True, slots=True)
class _Case:
    """One test: `kind` is ``failure``, ``error``, ``skipped`` or empty, `type` the rule's id."""

    name: str
    kind: str = ""
    type: str = ""
    message: str = ""
    text: str = ""


def diff(outcome: DiffOutcome, stream: BinaryIO, options: Options) -> Sequence[str]:
    """A test for each pipeline on both sides: what broke a gate fails, what lost its answer is an error."""
    difference = outcome.difference
    bad: dict[tuple[str, str], list[Finding]] = {}
    for finding in of_diff(outcome):
        if finding.level == "error":
            bad.setdefault((finding.target, finding.pipeline), []).append(finding)
    unsupported = {
        (place, id)
        for place, (_, target) in enumerate(difference.targets)
        for id, each in difference.after.outcomes.get(target.id, {}).items()
        if each.status == "unsupported"
    }
    suites: dict[str, list[_Case]] = {}
    for place, id in subjects(difference):
        target = printable(difference.targets[place][1].id) if place is not None else ""
        name = printable(id)
        findings = bad.get((target, name), [])
        cases = suites.setdefault(target, [])
        if findings:
            kind = "error" if findings[0].unanswered else "failure"
            lines = "\n".join(f"{each.executable}: {each.message}".removeprefix(": ") for each in findings)
            cases.append(_Case(name, kind, findings[0].rule, findings[0].message, lines))
        elif place is not None and (place, id) in unsupported:
            cases.append(_Case(name, "skipped", message="unsupported"))
        else:
            cases.append(_Case(name))
    _write("shaderstat diff", suites, outcome.distrust, stream)
    return ()


def check(verdict: Verdict, stream: BinaryIO, options: Options) -> Sequence[str]:
    """A test for each check of a rule, and for each pipeline without an answer."""
    suites: dict[str, list[_Case]] = {}
    findings = {id(each): finding for each, finding in zip(_bad(verdict), of_check(verdict), strict=True)}
    for each in (*verdict.failures, *verdict.warnings, *verdict.kept):
        finding = findings.get(id(each))
        case = _Case(_check_name(each))
        if finding is not None and finding.level == "error":
            case = _Case(case.name, "failure", finding.rule, finding.message, finding.help)
        elif finding is not None:  # a warning is told, and fails nothing
            case = _Case(case.name, text=finding.message)
        suites.setdefault(printable(each.target), []).append(case)
    for one in (*verdict.unanswered, *verdict.allowed):
        kind = "error" if one in verdict.unanswered else "skipped"
        words = _check_words.unanswered_words(one)
        case = _Case(printable(one.pipeline), kind, f"status/{one.status}", words, shell_words(one.reproduce))
        suites.setdefault(printable(one.target), []).append(case)
    _write("shaderstat check", suites, verdict.problems, stream)
    return ()


def _bad(verdict: Verdict) -> Iterable[Check | Unanswered]:
    return (*verdict.failures, *verdict.unanswered, *verdict.warnings)


def _check_name(check: Check) -> str:
    limit = f"{check.limit.statistic} {'max' if check.limit.most else 'min'} {check.limit.text}"
    return printable("::".join(filter(None, (check.pipeline, check.executable, check.rule.name, limit))))


def _write(name: str, suites: dict[str, list[_Case]], problems: Sequence[str], stream: BinaryIO) -> None:
    if problems:
        suites["shaderstat"] = [_Case(printable(line)[:200], "error", "problem", printable(line)) for line in problems]
    cases = [case for suite in suites.values() for case in suite]
    _line(
        f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name={quoteattr(name)} {_counts(cases, _OUTER)}>', stream
    )
    for suite, of_suite in suites.items():
        _line(f" <testsuite name={quoteattr(suite or 'no target')} {_counts(of_suite, _SUITE)}>", stream)
        for case in of_suite:
            _case(suite or "no target", case, stream)
        _line(" </testsuite>", stream)
    _line("</testsuites>", stream)


def _counts(cases: Sequence[_Case], words: Mapping[str, str]) -> str:
    counts = {name: sum(case.kind == kind for case in cases) for name, kind in words.items()}
    return " ".join([f'tests="{len(cases)}"', *(f'{name}="{count}"' for name, count in counts.items()), 'time="0"'])


def _case(suite: str, case: _Case, stream: BinaryIO) -> None:
    head = f'  <testcase classname={quoteattr(suite)} name={quoteattr(case.name)} time="0"'
    if not case.kind and not case.text:
        _line(f"{head}/>", stream)
    elif not case.kind:
        _line(f"{head}><system-out>{escape(case.text)}</system-out></testcase>", stream)
    elif case.kind == "skipped":
        _line(f"{head}><skipped message={quoteattr(case.message)}/></testcase>", stream)
    else:
        attributes = f"type={quoteattr(case.type)} message={quoteattr(case.message)}"
        _line(f"{head}><{case.kind} {attributes}>{escape(case.text)}</{case.kind}></testcase>", stream)


def _line(text: str, stream: BinaryIO) -> None:
    stream.write((text + "\n").encode("utf-8"))
