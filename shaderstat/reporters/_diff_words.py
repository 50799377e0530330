"""What every format says of a difference, in words: printable, never cut."""

from __future__ import annotations

from shaderstat.compare import Change, Difference, Place, StatusChange
from shaderstat.compare.difference import Lonely, Total, judged
from shaderstat.compare.sides import Outcome, Row, Subject, Value
from shaderstat.model import StatisticInfo
from shaderstat.reporters._gathered import MISSING, driver_words
from shaderstat.reporters.text import printable

_KINDS = {
    "from zero": "from zero",
    "to zero": "to zero",
    "reported": "not reported before",
    "not reported": "not reported any more",
    "unreadable": "no number",
}


def value_words(value: Value, info: StatisticInfo) -> str:
    """A cell with all its digits: ``0x…`` for a hash, ``·`` for what was not reported."""
    if value is None:
        return MISSING
    if isinstance(value, str):
        return printable(value)
    if info.role == "identity" and isinstance(value, int):
        return f"0x{value:0{info.bits // 4}x}"
    return repr(value)


def percent(ratio: float, digits: int = 1) -> str:
    """``+31.2 %``; a change that would round to nothing keeps the digits that show it."""
    while digits < 6 and ratio and abs(ratio) * 100 < 0.5 * 10**-digits:
        digits += 1
    if ratio and abs(ratio) * 100 < 0.5 * 10**-digits:
        return f"{ratio * 100:+.1g} %"
    return f"{ratio * 100:+.{digits}f} %"


def kind_words(change: Change, digits: int = 1) -> str:
    """How it changed: ``+31.2 %``, ``from zero``, ``not reported before``."""
    if change.info.role in ("identity", "equality"):
        return ""
    if change.kind == "value" and change.ratio is not None:
        return percent(change.ratio, digits)
    return _KINDS.get(change.kind, "")


def style(verdict: str) -> str:
    """A verdict's colour."""
    return {"worse": "red", "better": "green"}.get(verdict, "")


def name_words(subject: tuple[Subject, Subject]) -> str:
    """A pipeline's name: AFTER's, and BEFORE's where it was another."""
    before, after = (printable(each.id) for each in subject)
    return after if before == after else f"{after} (was {before})"


def place_words(place: Place) -> str:
    """An executable's stages, or the driver's name for it where others have the same stages."""
    return row_words(place.rows[1], place.siblings)


def row_words(row: Row, siblings: int = 1) -> str:
    stages = "+".join(row.heading.stages)
    words = stages if stages and siblings == 1 else printable(row.heading.name) or stages or "(unnamed)"
    return words + (" ≤" if row.heading.bound == "upper" else "")


def lonely_words(lonely: Lonely) -> str:
    """An executable of one side alone, with the driver's name for it: its stages may be those of another."""
    words, name = row_words(lonely.row), printable(lonely.row.heading.name)
    return f"{printable(lonely.subject.id)} {words}" + (f" ({name})" if name and name != words else "")


def status_words(change: StatusChange) -> str:
    """``ok → crashed (SIGSEGV in compile)``."""
    return f"{change.before.status} → {_outcome_words(change.after)}"


def _outcome_words(outcome: Outcome) -> str:
    return printable(f"{outcome.status} ({outcome.reason})" if outcome.reason else outcome.status)


def target_words(difference: Difference, place: int) -> str:
    """``radv:navi21 · RADV, Mesa 22.3.6``; both of them where they are not the same."""
    words = [f"{printable(each.id)} · {driver_words(each)}" for each in difference.targets[place]]
    return " → ".join(dict.fromkeys(words))


def count_words(difference: Difference) -> str:
    """``300 pipelines on both sides, 2 new, 1 gone``."""
    both = len(difference.both)
    words = [f"{both} pipeline{'' if both == 1 else 's'} on both sides"]
    words += [
        f"{len(each)} {name}"
        for name, each in (("new", difference.new), ("gone", difference.gone), ("renamed", difference.renamed))
        if each
    ]
    return ", ".join(words)


def affected_words(total: Total) -> str:
    """How the sum over affected executables changed: ``+4.1 %``."""
    return kind_words(Change(total.infos[0], *total.affected))


def interesting(total: Total) -> bool:
    """Whether a sum judges, and anything in it moved."""
    return judged(total.infos[0]) != 0 and bool(total.helped or total.hurt)


def counted(total: Total) -> bool:
    """Whether any executable has it on both sides."""
    return bool(total.helped or total.hurt or total.same)


def plural(count: int, noun: str) -> str:
    """``1 executable``, ``4 executables``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
