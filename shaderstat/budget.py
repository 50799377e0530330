"""Results and rules in, verdicts out. No input, no output.

    judge = Judge(rules, baseline)
    for event in events: judge.feed(event)
    verdict = judge.finish()

A number that can't be read is no number that holds, and a rule that looks at nothing holds nothing: both are problems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from fractions import Fraction

from shaderstat.model import (
    UNANSWERED,
    Baseline,
    EndEvent,
    Event,
    Executable,
    Limit,
    Pipeline,
    PipelineEvent,
    Result,
    ResultEvent,
    Rule,
    StatisticInfo,
    Target,
    TargetEvent,
    numbered,
    quantity,
)
from shaderstat.plain import dataclass

Number = int | float


def bound(limit: Limit, baseline: Number | None) -> Fraction | None:
    """What a limit comes to; None where it is relative and there is no baseline."""
    if not limit.relative:
        return limit.amount
    if baseline is None:
        return None
    base = Fraction(baseline)
    return base + (abs(base) * limit.amount / 100 if limit.percent else limit.amount)


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """One statistic of one executable (of a whole pipeline: the compile time) held against one limit.

    Attributes:
        bound: what the limit comes to; `baseline` what was accepted, where it is relative.
        again, accept: the commands that show the number again, and that take it into the baseline.
    """

    rule: Rule
    limit: Limit
    pipeline: str
    modules: tuple[tuple[str, str], ...]
    executable: str
    target: str
    value: Number
    bound: Fraction
    baseline: Number | None
    holds: bool
    again: tuple[str, ...] = ()
    accept: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Unanswered:
    """A pipeline that gave no answer, and that no rule allows to."""

    pipeline: str
    modules: tuple[tuple[str, str], ...]
    target: str
    status: str
    reason: str
    reproduce: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Verdict:
    """What became of the rules.

    Attributes:
        passed: how many checks hold; `kept` has them where they were asked for.
        failures, warnings: checks that don't, by the rule's severity.
        unanswered: pipelines of which nothing is known.
        allowed: the same, where a rule allows it.
        problems: why the verdict can't be relied on: one line each.
        unknown: executables that the baseline doesn't have.
    """

    rules: int = 0
    passed: int = 0
    kept: list[Check] = field(default_factory=list)
    failures: list[Check] = field(default_factory=list)
    warnings: list[Check] = field(default_factory=list)
    unanswered: list[Unanswered] = field(default_factory=list)
    allowed: list[Unanswered] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    targets: dict[str, Target] = field(default_factory=dict)

    @property
    def checks(self) -> int:
        return self.passed + len(self.failures) + len(self.warnings)

    @property
    def status(self) -> int:
        """0: all errors' rules hold. 1: one doesn't. 2: that can't be told."""
        return 2 if self.problems or self.unanswered else int(bool(self.failures))


def executable_key(executables: Sequence[Executable], executable: Executable) -> str:
    """What an executable is called in a baseline: its stages, with a number where others have the same."""
    stages = "+".join(executable.stages) or executable.name
    same = [each for each in executables if each.stages == executable.stages]
    place = next(number for number, each in enumerate(same) if each is executable)
    return stages if place == 0 else f"{stages}#{place + 1}"


class Judge:
    """Holds results against rules as they come.

    Args:
        keep: remember the checks that hold, too.
        take: remember the numbers, for `taken`.
        again: gives the command that shows a pipeline on a target; `accept` is the one that updates the baseline.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        baseline: Baseline | None = None,
        *,
        keep: bool = False,
        take: bool = False,
        again: Callable[[Pipeline, str | None], tuple[str, ...]] = lambda pipeline, target: (),
        accept: tuple[str, ...] = (),
    ) -> None:
        self._rules = rules
        self._baseline = baseline
        self._keep = keep
        self._take = take
        self._again = again
        self._accept = accept
        self._verdict = Verdict(rules=len(rules))
        self._pipelines: dict[str, Pipeline] = {}
        self._used: set[int | tuple[int, str]] = set()  # limits that looked at something
        self._answering: set[int] = set()  # rules that some answered pipeline falls under, and
        self._waiting: set[int] = set()  # those that one without an answer does
        self._infos: dict[str, dict[tuple[str, str, int], StatisticInfo]] = {}
        self._informing: dict[tuple[int, str], set[str]] = {}  # limits by a key that only informs
        self._unsupported: dict[str, Unanswered] = {}
        self._answered: set[str] = set()
        self._complete = False
        self._taken = Baseline()

    def feed(self, event: Event) -> None:
        """Take the next event of a run."""
        if isinstance(event, TargetEvent):
            self._verdict.targets[event.target.id] = event.target
            statistics = event.target.statistics
            self._infos[event.target.id] = dict(zip(numbered(statistics), statistics, strict=True))
            self._compiler(event.target)
        elif isinstance(event, PipelineEvent):
            self._pipelines[event.pipeline.id] = event.pipeline
        elif isinstance(event, ResultEvent):
            self._result(event.result)
        elif isinstance(event, EndEvent):
            self._complete = event.run.complete

    def finish(self) -> Verdict:
        """The verdict, after the last event."""
        verdict = self._verdict
        verdict.unanswered += [one for id, one in self._unsupported.items() if id not in self._answered]
        if not self._complete:
            verdict.problems.append("the run broke off: what it did not reach is not judged")
        for rule in self._rules:
            self._unused(rule)
        return verdict

    @property
    def taken(self) -> Baseline:
        """This run's numbers, as a baseline."""
        return self._taken

    # ── Results ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _result(self, result: Result) -> None:
        pipeline = self._pipelines.get(result.pipeline)
        rules = [rule for rule in self._rules if _wants_result(rule, pipeline, result)]
        if result.status in UNANSWERED:
            self._not_answered(result, pipeline, rules)
            return
        self._answered.add(result.pipeline)
        for rule in rules:
            self._answering.add(id(rule))
            if rule.compile_time is not None and result.status == "ok":
                self._compile_time(rule, rule.compile_time, result)
        shown = [each for each in result.executables if not each.synthetic]
        for executable in shown:
            self._executable(result, executable, executable_key(shown, executable), rules)

    def _not_answered(self, result: Result, pipeline: Pipeline | None, rules: Sequence[Rule]) -> None:
        reason = next((each.message for each in result.diagnostics if each.severity == "error"), "")
        failure = result.failure
        if failure is not None:
            reason = f"{failure.signal or failure.vk_result or failure.code} in {failure.phase}"
        one = Unanswered(
            result.pipeline,
            _modules(pipeline),
            result.target or "",
            result.status,
            reason,
            failure.reproduce if failure else (),
        )
        self._waiting.update(id(rule) for rule in rules)
        if any(result.status in rule.allow for rule in rules):
            self._verdict.allowed.append(one)
        elif result.status == "unsupported":
            self._unsupported.setdefault(result.pipeline, one)
        else:
            self._verdict.unanswered.append(one)

    def _compile_time(self, rule: Rule, limit: Limit, result: Result) -> None:
        if result.durations_ns.wall is None or result.cached:
            self._verdict.problems.append(f"{rule.place}: {result.pipeline}: its compile time was not measured")
            return
        value = result.durations_ns.wall / 1e9
        self._hold(rule, limit, result, "", value, limit.amount, None)

    def _executable(self, result: Result, executable: Executable, key: str, rules: Sequence[Rule]) -> None:
        known = self._infos.get(result.target or "", {})
        cells = [
            Cell(info, place[0] if place[2] == 0 else f"{place[0]} ({place[2] + 1})", quantity(each, info))
            for place, each in zip(numbered(executable.statistics), executable.statistics, strict=True)
            for info in (known.get(place) or StatisticInfo(each.name, each.format, ""),)
        ]
        if self._take:
            of_target = self._taken.numbers.setdefault(result.target or "", {})
            of_target.setdefault(result.pipeline, {})[key] = {
                cell.name: cell.value for cell in cells if cell.value is not None and cell.info.role != "identity"
            }
        base = self._baseline_of(result, key)
        for rule in rules:
            if _wants_executable(rule, executable):
                for limit in rule.limits:
                    self._limit(rule, limit, result, key, cells, base)

    def _limit(
        self,
        rule: Rule,
        limit: Limit,
        result: Result,
        key: str,
        cells: Sequence[Cell],
        base: Mapping[str, Number] | None,
    ) -> None:
        found = named(cells, limit.statistic)
        if not found:
            folded = limit.statistic.casefold()
            informing = {cell.info.name for cell in cells if (cell.info.key or "").casefold() == folded}
            self._informing.setdefault((id(limit), result.target or ""), set()).update(informing)
        for group in found:
            self._used |= {id(limit), (id(limit), result.target or "")}
            values = [cell.value for cell in group if cell.value is not None]
            if len(values) < len(group):
                name = next(cell.name for cell in group if cell.value is None)
                self._verdict.problems.append(f"{rule.place}: {result.pipeline} {key}: {name} is no number")
                continue
            accepted = [base[cell.name] for cell in group if cell.name in base] if base is not None else []
            baseline = _sum(accepted) if len(accepted) == len(group) else None
            most = bound(limit, baseline)
            if most is None:
                self._verdict.unknown.append(f"{result.pipeline} {key} on {result.target}")
            else:
                self._hold(rule, limit, result, key, _sum(values), most, baseline)

    def _hold(
        self, rule: Rule, limit: Limit, result: Result, key: str, value: Number, bound: Fraction, base: Number | None
    ) -> None:
        self._used.add(id(limit))
        verdict = self._verdict
        holds = Fraction(value) <= bound if limit.most else Fraction(value) >= bound
        if holds:
            verdict.passed += 1
        if holds and not self._keep:
            return
        pipeline = self._pipelines.get(result.pipeline)
        check = Check(
            rule,
            limit,
            result.pipeline,
            _modules(pipeline),
            key,
            result.target or "",
            value,
            bound,
            base if limit.relative else None,
            holds,
            self._again(pipeline, result.target) if pipeline is not None and not holds else (),
            self._accept,
        )
        (verdict.kept if holds else verdict.failures if rule.severity == "error" else verdict.warnings).append(check)

    # ── The baseline ──────────────────────────────────────────────────────────────────────────────────────────────

    def _compiler(self, target: Target) -> None:
        words = compiler(target)
        if target.id not in self._taken.compilers and self._baseline is not None:
            before = self._baseline.compilers.get(target.id)
            if before is not None and before.rpartition(", ")[0] != words.rpartition(", ")[0]:
                self._verdict.problems.append(f"the baseline of {target.id} is that of {before}; this is {words}")
        self._taken.compilers[target.id] = words

    def _baseline_of(self, result: Result, key: str) -> Mapping[str, Number] | None:
        if self._baseline is None:
            return None
        return self._baseline.numbers.get(result.target or "", {}).get(result.pipeline, {}).get(key)

    # ── Rules that look at nothing ────────────────────────────────────────────────────────────────────────────────

    def _unused(self, rule: Rule) -> None:
        limits = [*rule.limits, *((rule.compile_time,) if rule.compile_time else ())]
        if not limits and id(rule) not in self._answering | self._waiting:
            self._verdict.problems.append(f"{rule.place}: {rule.name}: matched no pipeline")
        for limit in limits:
            only_waiting = id(rule) in self._waiting and id(rule) not in self._answering
            place = f"{rule.path}:{limit.line}" if rule.path is not None else rule.place
            what = f"{place}: {rule.name}" if rule.name != place else place
            for (its, target), names in self._informing.items():
                # A target whose statistics only inform has not been judged, whatever the others have.
                if its == id(limit) and names and (its, target) not in self._used:
                    why = (
                        f"what has this key only informs on {target}; {' or '.join(sorted(names))} can be named instead"
                    )
                    self._verdict.problems.append(f"{what}: {limit.statistic}: {why}")
                    self._used.add(its)
            if id(limit) not in self._used and not only_waiting:
                self._verdict.problems.append(f"{what}: {limit.statistic}: matched nothing")


def compiler(target: Target) -> str:
    """Which compiler a baseline is of: ``radv for Null hardware (RADV NAVI21), Mesa 22.3.6``."""
    driver = target.driver
    return f"{driver.name} for {target.device.name.strip()}, {driver.info or driver.version}"


@dataclass(frozen=True, slots=True)
class Cell:
    """One statistic of an executable: `name` tells it from others of that name; `value` None is no number."""

    info: StatisticInfo
    name: str
    value: Number | None


def named(cells: Sequence[Cell], name: str) -> list[list[Cell]]:
    """What `name` stands for: each statistic that has it, or the short one; else, as one, all that judge by a key.

    A key as it is written (``spills``) is no driver's name in other letters (``Spills``), which may count something
    else.
    """
    folded = name.strip().casefold()
    quantities = [cell for cell in cells if cell.info.role != "identity"]
    of_key = any(cell.info.key == name for cell in quantities)
    found = [cell for cell in quantities if cell.info.name.strip() == name]
    if not found and not of_key:
        found = [cell for cell in quantities if cell.info.name.strip().casefold() == folded]
        found = found or [cell for cell in quantities if (cell.info.label or "").casefold() == folded]
    if found:
        return [[cell] for cell in found]
    key = folded.replace(" ", "_")
    judging = [cell for cell in quantities if cell.info.key == key and cell.info.role == "trigger"]
    return [judging] if judging else []


def _wants_result(rule: Rule, pipeline: Pipeline | None, result: Result) -> bool:
    names = {result.pipeline, *((pipeline.name,) if pipeline else ())}
    return _matches(names, rule.pipelines) and _matches({result.target or ""}, rule.targets)


def _wants_executable(rule: Rule, executable: Executable) -> bool:
    return _matches(executable.stages, rule.stages) and _matches({executable.name}, rule.executables)


def _matches(names: Iterable[str], globs: Sequence[str]) -> bool:
    return not globs or any(fnmatchcase(name, glob) for name in names for glob in globs)


def _sum(numbers: Sequence[Number]) -> Number:
    if all(isinstance(number, int) for number in numbers):
        return sum(numbers)
    total = sum(map(Fraction, numbers), Fraction(0))
    return total.numerator if total.denominator == 1 else float(total)


def _modules(pipeline: Pipeline | None) -> tuple[tuple[str, str], ...]:
    """(stage, path) each."""
    return tuple((module.stage or "", module.path) for module in pipeline.modules) if pipeline else ()
