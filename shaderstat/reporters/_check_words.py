"""What every format says of budgets, in words: printable, never cut."""

from __future__ import annotations

from fractions import Fraction

from shaderstat.budget import Check, Unanswered, Verdict
from shaderstat.reporters._diff_words import plural
from shaderstat.reporters.text import printable, shell_words


def number_words(value: int | float | Fraction) -> str:
    """All digits of a number; a fraction as a decimal one."""
    if isinstance(value, Fraction):
        value = value.numerator if value.denominator == 1 else float(value)
    return repr(value)


def comparison(check: Check) -> str:
    """``84 > 64``; ``84 > 67.2 (64 +5%)``."""
    if check.holds:
        sign = "≤" if check.limit.most else "≥"
    else:
        sign = ">" if check.limit.most else "<"
    unit = " s" if check.rule.compile_time is check.limit else ""
    words = f"{number_words(check.value)} {sign} {number_words(check.bound)}{unit}"
    return f"{words} ({number_words(check.baseline)} {check.limit.text})" if check.baseline is not None else words


def statistic_words(check: Check) -> str:
    return printable(check.limit.statistic)


def place_words(check: Check) -> str:
    """Where the limit stands: ``shaderstat.yaml:14``, or the option."""
    if check.rule.path is None:
        return printable(check.rule.name)
    return printable(f"{check.rule.path}:{check.limit.line or check.rule.line}")


def again_words(check: Check) -> str:
    """The command that shows the number again."""
    return shell_words(check.again)


def accept_words(check: Check) -> str:
    """What accepts the number."""
    if check.limit.relative:
        return shell_words(check.accept)
    which = "max" if check.limit.most else "min"
    if check.rule.compile_time is check.limit:
        which = "compile_time"
    verb = "raise" if check.limit.most else "lower"
    return (
        f"{verb} {which} in {place_words(check)}" if check.rule.path is not None else f"{verb} it: {place_words(check)}"
    )


def unanswered_words(one: Unanswered) -> str:
    """``crashed: SIGSEGV in compile``."""
    return printable(f"{one.status}: {one.reason}" if one.reason else one.status)


def summary(verdict: Verdict) -> str:
    """``12 rules, 604 checks: 1 failed, 1 warned, 602 passed``."""
    parts = [
        f"{count} {word}"
        for count, word in (
            (len(verdict.failures), "failed"),
            (len(verdict.warnings), "warned"),
            (verdict.passed, "passed"),
        )
        if count or word == "passed"
    ]
    words = f"{plural(verdict.rules, 'rule')}, {plural(verdict.checks, 'check')}: {', '.join(parts)}"
    unanswered = len(verdict.unanswered)
    return f"{words}; {plural(unanswered, 'pipeline')} without an answer" if unanswered else words
