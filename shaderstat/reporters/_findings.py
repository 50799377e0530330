"""What formats for machines tell of a diff or a check: findings, the worst first, under rule ids that stay the same."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from urllib.parse import quote

from shaderstat.budget import Check, Unanswered, Verdict
from shaderstat.compare.difference import Change, Difference, Place, StatusChange
from shaderstat.compare.outcome import DiffOutcome, lost
from shaderstat.model import StatisticInfo
from shaderstat.plain import dataclass
from shaderstat.reporters import _check_words, _diff_words
from shaderstat.reporters.text import printable, shell_words

# From worst to best, in SARIF's words.
LEVELS = ("error", "warning", "note")

# What a rule id's first part stands for.
KINDS = {
    "budget": "A shader takes more than its budget allows.",
    "regression": "A statistic became worse.",
    "status": "A pipeline has no answer.",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is bad, or became worse.

    Attributes:
        rule: ``budget/registers``, ``regression/spills``, ``status/crashed``.
        level: one of `LEVELS`.
        message: one line.
        path: the file of the executable's last stage, or of the pipeline's.
        identity: what makes it the same finding in the next run: no numbers.
        help: how to see it again, and what accepts it.
        unanswered: it isn't that a number is bad: there is none.
    """

    rule: str
    level: str
    message: str
    pipeline: str
    executable: str
    target: str
    path: str | None
    identity: tuple[str, ...]
    help: str = ""
    unanswered: bool = False

    @property
    def title(self) -> str:
        """``registers: water fragment``."""
        return f"{self.rule.partition('/')[2]}: {' '.join(filter(None, (self.pipeline, self.executable)))}"


def of_diff(outcome: DiffOutcome) -> list[Finding]:
    """What broke a gate is an error; what else became worse a warning, or a note where gates say what counts."""
    difference = outcome.difference
    broken = {
        (id(place), id(change.info)): gated.gate.text for gated in outcome.gated for place, change in gated.breaches
    }
    quiet = "note" if outcome.gated else "warning"
    found = [_lost(each, difference) for each in difference.statuses if lost(each)]
    for place in difference.affected:
        for change in place.changes():
            gate = broken.get((id(place), id(change.info)))
            if gate is not None or change.verdict == "worse":
                found.append(_worse(place, change, difference, gate, quiet))
    return sorted(found, key=lambda each: LEVELS.index(each.level))


def of_check(verdict: Verdict) -> list[Finding]:
    """Failures, what has no answer, warnings."""
    found = [_check(each, "error") for each in verdict.failures]
    found += [_unanswered(each) for each in verdict.unanswered]
    return found + [_check(each, "warning") for each in verdict.warnings]


def _worse(place: Place, change: Change, difference: Difference, gate: str | None, quiet: str) -> Finding:
    info = change.info
    words = f"{_diff_words.value_words(change.before, info)} → {_diff_words.value_words(change.after, info)}"
    kind = _diff_words.kind_words(change)
    return Finding(
        rule=f"regression/{slug(info)}",
        level="error" if gate is not None else quiet,
        message=f"{printable(info.name)} {words}" + (f" ({kind})" if kind else "") + (f", over {gate}" if gate else ""),
        pipeline=printable(place.subject[1].id),
        executable=_diff_words.place_words(place),
        target=printable(difference.targets[place.target][1].id),
        path=_path(place.subject[1].modules, place.rows[1].heading.stages),
        identity=(place.subject[1].id, "+".join(place.rows[1].heading.stages), info.name),
    )


def _lost(change: StatusChange, difference: Difference) -> Finding:
    target = difference.targets[change.target][1].id if change.target is not None else ""
    return Finding(
        rule=f"status/{_word(change.after.status)}",
        level="error",
        message=_diff_words.status_words(change),
        pipeline=printable(change.subject[1].id),
        executable="",
        target=printable(target),
        path=_path(change.subject[1].modules),
        identity=(change.subject[1].id,),
        unanswered=True,
    )


def _check(check: Check, level: str) -> Finding:
    where = _check_words.place_words(check)
    commands = f"again: {_check_words.again_words(check)}; accept: {_check_words.accept_words(check)}"
    return Finding(
        rule=f"budget/{_word(check.limit.statistic)}",
        level=level,
        message=f"{_check_words.statistic_words(check)} {_check_words.comparison(check)}"
        f" ({printable(check.rule.name)}{', ' + where if check.rule.path else ''})",
        pipeline=printable(check.pipeline),
        executable=printable(check.executable),
        target=printable(check.target),
        path=_path(check.modules, tuple(check.executable.partition("#")[0].split("+"))),
        identity=(check.pipeline, check.executable, check.limit.statistic, check.rule.name),
        help=commands if check.again else "",
    )


def _unanswered(one: Unanswered) -> Finding:
    return Finding(
        rule=f"status/{_word(one.status)}",
        level="error",
        message=_check_words.unanswered_words(one),
        pipeline=printable(one.pipeline),
        executable="",
        target=printable(one.target),
        path=_path(one.modules),
        identity=(one.pipeline,),
        help=f"again: {shell_words(one.reproduce)}" if one.reproduce else "",
        unanswered=True,
    )


def slug(info: StatisticInfo) -> str:
    """A statistic's part of a rule id: its key, else its name."""
    return _word(info.key or info.name)


def _word(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.casefold()).strip("_") or "unnamed"


def _path(modules: tuple[tuple[str, str], ...], stages: tuple[str, ...] = ()) -> str | None:
    found = [path for stage, path in modules if stage in stages] or [path for _, path in modules]
    return found[-1] if found else None


def near(path: str) -> str:
    """A path as seen from the current folder, where it lies in it; else the whole of it."""
    whole = os.path.abspath(path)
    relative = os.path.relpath(whole)
    return whole if relative.startswith(os.pardir) else relative.replace(os.sep, "/")


def uri(path: str) -> str:
    """A file's URI (RFC 3986), relative where `near` is."""
    found = quote(os.fsencode(near(path)), safe="/")
    return f"file://{found}" if found.startswith("/") else found


def subjects(difference: Difference) -> Iterator[tuple[int | None, str]]:
    """(target, pipeline) of everything that both sides have an answer or a reason for."""
    for place, (_, target) in enumerate(difference.targets):
        of_target = difference.after.outcomes.get(target.id, {})
        for _, subject in difference.both:
            if subject.id in of_target:
                yield place, subject.id
    nowhere = difference.after.outcomes.get(None, {})
    for _, subject in difference.both:
        if subject.id in nowhere:
            yield None, subject.id
