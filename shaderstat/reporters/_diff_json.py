"""``diff`` for scripts, after ``schemas/diff-1.json``: one line for each thing in a list, so that it can be grepped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from shaderstat._version import __version__
from shaderstat.compare.difference import Change, Difference, Lonely, Place, StatusChange, Total
from shaderstat.compare.gate import Gated
from shaderstat.compare.outcome import DiffOutcome
from shaderstat.compare.sides import Row, Side, Subject, Value
from shaderstat.compare.view import unmatched, wants
from shaderstat.model import StatisticInfo, Target
from shaderstat.reporters._diff_words import value_words
from shaderstat.reporters.json import encode

SCHEMA = {"name": "shaderstat-diff", "version": 1}

# Beyond these a double doesn't hold every integer: the exact one stands in ``text``.
EXACT = 2**53


def write(outcome: DiffOutcome, stream: BinaryIO) -> None:
    """Write the whole of it: a view's ``--stat`` chooses statistics, its order and cuts don't count here."""
    difference = outcome.difference
    head = {
        "schema": SCHEMA,
        "producer": {"name": "shaderstat", "version": __version__},
        "before": _side(difference.before),
        "after": _side(difference.after),
        "targets": [[one.id, other.id] for one, other in difference.targets],
        "counts": _counts(difference),
        "status": outcome.status,
        "problems": [*outcome.distrust, *unmatched(difference, outcome.view)],
        "gates": [_gate(gated, difference) for gated in outcome.gated],
    }
    lists: Mapping[str, Iterable[Mapping[str, Any]]] = {
        "new": (_subject(each) for each in difference.new),
        "gone": (_subject(each) for each in difference.gone),
        "renamed": ({"before": one.id, "after": other.id} for one, other in difference.renamed),
        "statuses": (_status(each, difference) for each in difference.statuses),
        "unanswered": (_status(each, difference) for each in difference.unanswered),
        "refused": (_place(each, difference) for each in difference.refused),
        "executables": _executables(outcome),
        "recoded": (_place(each, difference) for each in difference.recoded),
        "new_executables": (_lonely(each, difference, 1) for each in difference.new_rows),
        "gone_executables": (_lonely(each, difference, 0) for each in difference.gone_rows),
        "totals": (_total(each, difference) for each in difference.totals if _chosen(each, outcome)),
    }
    write_lists(head, lists, stream)


def write_lists(head: Mapping[str, Any], lists: Mapping[str, Iterable[Mapping[str, Any]]], stream: BinaryIO) -> None:
    """An object with the members of `head`, and lists with one line for each element."""
    for place, (name, value) in enumerate(head.items()):
        stream.write((b",\n " if place else b"{") + encode(name) + b": " + encode(value))
    for name, items in lists.items():
        stream.write(b",\n " + encode(name) + b": [")
        for place, item in enumerate(items):
            stream.write((b",\n  " if place else b"\n  ") + encode(item))
        stream.write(b"]")
    stream.write(b"}\n")


def number(value: int | float) -> dict[str, Any]:
    """A number, and its exact form where a double would lose some of it."""
    return {"value": value, "text": str(value) if abs(value) > EXACT else None}


def target(each: Target) -> dict[str, Any]:
    """Which compiler a target is."""
    return {"id": each.id, "backend": each.backend, "driver": each.driver, "device": each.device, "source": each.source}


def paths(modules: Sequence[tuple[str, str]]) -> list[str]:
    """A pipeline's files."""
    return list(dict.fromkeys(path for _, path in modules))


def _side(side: Side) -> dict[str, Any]:
    targets = [target(each) for each in side.targets.values()]
    return {"label": side.label, "complete": side.complete, "pipelines": len(side.subjects), "targets": targets}


def _counts(difference: Difference) -> dict[str, int]:
    return {
        "both": len(difference.both),
        "new": len(difference.new),
        "gone": len(difference.gone),
        "renamed": len(difference.renamed),
        "compared": difference.compared,
        "affected": len(difference.affected),
        "recoded": len(difference.recoded),
        "statuses": len(difference.statuses),
        "unanswered": len(difference.unanswered),
    }


def _subject(subject: Subject) -> dict[str, Any]:
    return {"pipeline": subject.id, "paths": paths(subject.modules)}


def _pipelines(pair: tuple[Subject, Subject]) -> dict[str, Any]:
    return {"pipeline": pair[1].id, "before_pipeline": pair[0].id}


def _status(change: StatusChange, difference: Difference) -> dict[str, Any]:
    return {
        **_pipelines(change.subject),
        "target": difference.targets[change.target][1].id if change.target is not None else None,
        "before": {"status": change.before.status, "reason": change.before.reason},
        "after": {"status": change.after.status, "reason": change.after.reason},
        "verdict": change.verdict,
    }


def _row(row: Row) -> dict[str, Any]:
    return {"executable": row.heading.name, "stages": list(row.heading.stages), "bound": row.heading.bound}


def _place(place: Place, difference: Difference) -> dict[str, Any]:
    return {
        **_pipelines(place.subject),
        "target": difference.targets[place.target][1].id,
        **_row(place.rows[1]),
        "before_executable": place.rows[0].heading.name,
    }


def _lonely(lonely: Lonely, difference: Difference, side: int) -> dict[str, Any]:
    target = difference.targets[lonely.target][side].id
    return {"pipeline": lonely.subject.id, "target": target, **_row(lonely.row)}


def _executables(outcome: DiffOutcome) -> Iterator[dict[str, Any]]:
    view = outcome.view
    for place in outcome.difference.affected:
        changes = [_change(each) for each in place.changes() if not view.statistics or wants(view, each.info)]
        if changes:
            yield {**_place(place, outcome.difference), "changes": changes}


def _change(change: Change) -> dict[str, Any]:
    return {
        **_info(change.info),
        "before": _value(change.before, change.info),
        "after": _value(change.after, change.info),
        "kind": change.kind,
        "verdict": change.verdict,
    }


def _info(info: StatisticInfo) -> dict[str, Any]:
    return {"name": info.name, "key": info.key, "unit": info.unit, "better": info.better, "role": info.role}


def _value(value: Value, info: StatisticInfo) -> dict[str, Any] | None:
    """None for what was not reported; ``value`` is null for what is no number."""
    if value is None:
        return None
    if isinstance(value, str):
        return {"value": None, "text": value}
    return {**number(value), "text": value_words(value, info)} if info.role == "identity" else number(value)


def _chosen(total: Total, outcome: DiffOutcome) -> bool:
    return not outcome.view.statistics or any(wants(outcome.view, info) for info in total.infos)


def _total(total: Total, difference: Difference) -> dict[str, Any]:
    return {
        "target": difference.targets[total.target][1].id,
        **_info(total.infos[0]),
        "name": total.name,
        "statistics": [info.name for info in total.infos],
        "before": number(total.before),
        "after": number(total.after),
        "helped": total.helped,
        "hurt": total.hurt,
        "same": total.same,
        "affected": {"before": number(total.affected[0]), "after": number(total.affected[1])},
        "left_out": total.left_out,
    }


def _gate(gated: Gated, difference: Difference) -> dict[str, Any]:
    return {
        "gate": gated.gate.text,
        "checked": gated.checked,
        "problem": gated.problem,
        "breaches": _gated(gated.breaches, difference),
        "unjudged": _gated(gated.unjudged, difference),
    }


def _gated(pairs: Sequence[tuple[Place, Change]], difference: Difference) -> list[dict[str, Any]]:
    return [{**_place(place, difference), **_change(change)} for place, change in pairs]
