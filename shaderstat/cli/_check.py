"""The work of ``check``: rules and a run in, a verdict out, in every format that was asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from fnmatch import fnmatchcase

import click

from shaderstat.budget import Judge, Verdict
from shaderstat.cli import say
from shaderstat.cli._destinations import Destination, FileOutput
from shaderstat.cli._settings import Settings
from shaderstat.cli._sides import events_of, is_report
from shaderstat.cli._summary import step_summary
from shaderstat.cli._tally import Tally
from shaderstat.config.baseline import read_baseline, render
from shaderstat.config.budgets import BASELINE, Budgets, read_budgets, rule_of_option
from shaderstat.errors import ShaderstatError
from shaderstat.model import Baseline, Event, Pipeline, Rule
from shaderstat.plain import dataclass
from shaderstat.reporters.outcomes import write_check
from shaderstat.reporters.text import printable

# Formats that tell of checks that hold, too.
_TELLS_ALL = frozenset({"junit", "json"})

_TOLD = 10


@dataclass(frozen=True, slots=True)
class Question:
    """The rules, and the baseline: None where there is no such file."""

    rules: tuple[Rule, ...]
    path: str
    baseline: Baseline | None


def question(given: Settings, context: click.Context) -> Question:
    """What the options and the nearest ``shaderstat.yaml`` ask for.

    Raises:
        click.UsageError: neither asks for anything.
        ShaderstatError: a rule or the baseline can't be read, or a baseline is needed and there is none.
    """
    options = given.options
    path = options["config"] or given.request.config
    if path is None:
        from shaderstat.engine import nearest_manifest

        path = nearest_manifest()
    budgets = read_budgets(path) if path is not None else Budgets()
    rules = list(budgets.rules)
    rules += [rule_of_option("--max", text) for text in options["most"]]
    rules += [rule_of_option("--min", text) for text in options["least"]]
    if not rules and not options["update_baseline"]:
        raise click.UsageError("no budgets: write them in shaderstat.yaml, or say --max registers=64", context)
    place = options["baseline"] or budgets.baseline or os.path.join(os.path.dirname(path or ""), BASELINE)
    baseline: Baseline | None = None
    with suppress(FileNotFoundError):
        baseline = read_baseline(place)
    relative = next((limit for rule in rules for limit in rule.limits if limit.relative), None)
    if relative is not None and baseline is None and not options["update_baseline"]:
        raise ShaderstatError(
            f"{printable(place)}: there is no baseline, and {relative.statistic} {relative.text} needs one",
            hint="shaderstat check --update-baseline writes it",
        )
    return Question(tuple(rules), place, baseline)


def verdict(given: Settings, question: Question, opened: Sequence[tuple[str, Destination]]) -> int:
    """Judge a run. Returns the exit status.

    Raises:
        ShaderstatError: nothing could be answered, or the baseline can't be written.
    """
    update: bool = given.options["update_baseline"]
    judge = Judge(
        question.rules,
        # What is taken now holds against itself.
        None if update else question.baseline,
        keep=any(format in _TELLS_ALL for format, _ in opened),
        take=update,
        again=lambda pipeline, target: _again(given, pipeline, target),
        accept=_accept(given),
    )
    tally = Tally(given)
    with closing(_events(given, question)) as events:  # type: ignore[type-var]  # it is a generator
        for event in events:
            tally.feed(event)
            judge.feed(event)
    tally.progress.clear()
    found = judge.finish()
    if update:
        found.unknown.clear()
        _write(given, question, found, judge.taken)
    remarks: list[str] = []
    for format, place in opened:
        remarks += write_check(format, found, place.stream, given.reporter_options("check", place.path is None))
        place.stream.flush()
    step_summary(
        [format for format, _ in opened],
        lambda page: write_check("markdown", found, page, given.reporter_options("check", False)),
    )
    if not given.quiet:
        for line in dict.fromkeys(remarks):
            say(line)
    for line in found.problems[:_TOLD]:
        say(f"error: {line}")
    if len(found.problems) > _TOLD:
        say(f"error: {len(found.problems) - _TOLD} more problems")
    return found.status


def _events(given: Settings, question: Question) -> Iterator[Event]:
    paths = given.request.paths
    if len(paths) == 1 and is_report(paths[0]):
        return events_of(paths[0])
    from shaderstat import engine  # late: a slip in the options is told before anything is loaded

    # A remembered answer has no compile time: where that is what is judged, compilers are asked.
    timed = any(rule.compile_time is not None for rule in question.rules)
    return engine.run(replace(given.request, refresh=True) if timed else given.request)


def _write(given: Settings, question: Question, found: Verdict, taken: Baseline) -> None:
    """Write the baseline, unless the run isn't worth one. Targets of other runs, and pipelines that ``--pipeline``
    left out of this one, keep what they have."""
    if found.unanswered or found.problems:
        found.problems.append(f"{printable(question.path)}: not written, since not all was answered")
        return
    before = question.baseline or Baseline()
    compilers = {**before.compilers, **taken.compilers}
    numbers = {**before.numbers, **taken.numbers}
    if given.request.pipelines:
        for target, pipelines in taken.numbers.items():
            kept = {
                name: each
                for name, each in before.numbers.get(target, {}).items()
                if not any(fnmatchcase(name, glob) for glob in given.request.pipelines)
            }
            numbers[target] = {**kept, **pipelines}
    output = FileOutput(question.path)
    try:
        output.stream.write(render(Baseline(compilers, numbers)))
        output.commit()
    except BaseException:
        output.discard()
        raise
    if not given.quiet:
        count = sum(len(pipelines) for pipelines in taken.numbers.values())
        say(f"{printable(question.path)}: {count} pipelines written")


def _again(given: Settings, pipeline: Pipeline, target: str | None) -> tuple[str, ...]:
    """The command that shows one pipeline on one target."""
    request = given.request
    command = ["shaderstat", "stats"]
    if request.paths and not is_report(request.paths[0]):
        command += dict.fromkeys(module.path for module in pipeline.modules)
    elif request.config is not None:
        command += ["--config", request.config, "--pipeline", pipeline.name]
    else:
        command += dict.fromkeys(module.path for module in pipeline.modules)
    command += ["-t", target] if target is not None else []
    if request.driver_manifest is not None:
        command += ["--driver", request.driver_manifest]
    for name, value in request.environment.items():
        command += ["--env", f"{name}={value}"]
    for name, value in pipeline.variant.items():
        command += ["--spec", f"{name}={value}"]
    if request.scenario is not None:
        command += ["--scenario", request.scenario]
    return tuple(command)


def _accept(given: Settings) -> tuple[str, ...]:
    """The command that takes this run's numbers into the baseline."""
    return ("shaderstat", *given.request.arguments, "--update-baseline")
