"""The lines for standard error after a run: how much was answered, and the worst of it."""

from __future__ import annotations

from collections.abc import Sequence

from shaderstat.model import STATUSES, Event, PipelineEvent, ResultEvent, TargetEvent
from shaderstat.reporters._gathered import Gathered, executable_words
from shaderstat.reporters.select import index, joined
from shaderstat.reporters.text import printable


class Summary:
    """Counts a run's events as they pass; keeps no results."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._gathered = Gathered()
        self._executables = 0
        self._cached = 0
        self._worst: dict[tuple[str, str], list[tuple[float, str]]] = {}

    def feed(self, event: Event) -> None:
        """Take the next event of a run."""
        if isinstance(event, (TargetEvent, PipelineEvent)):
            self._gathered.feed(event)
        elif isinstance(event, ResultEvent):
            result = event.result
            self._counts[result.status] = self._counts.get(result.status, 0) + 1
            self._cached += result.cached
            shown = [executable for executable in result.executables if not executable.synthetic]
            self._executables += len(shown)
            self._rank(event)

    def lines(self, seconds: float | None = None) -> Sequence[str]:
        """The summary: one line for a single result, two for more.

        Args:
            seconds: the run's wall time, if it shall be told.
        """
        total = sum(self._counts.values())
        time = "" if seconds is None else f" in {seconds:.2f} s" if seconds < 1 else f" in {seconds:.1f} s"
        if total == 1 and self._counts.get("ok"):
            return [f"1 pipeline{time}"]
        order = [*STATUSES, *(status for status in self._counts if status not in STATUSES)]
        words = [f"{self._counts[status]} {printable(status)}" for status in order if self._counts.get(status)]
        words.append(f"{self._executables} executable{'' if self._executables == 1 else 's'}{time}")
        return [" · ".join(words) + f" ({self._cached} from cache)", *self._most()]

    def _rank(self, event: ResultEvent) -> None:
        """Keep the three executables of each target that take the most registers."""
        result = event.result
        target = self._gathered.targets.get(result.target or "")
        infos = index(target.statistics) if target else {}
        for executable in result.executables:
            if executable.synthetic:
                continue
            for statistic, info in joined(executable, infos):
                if info.key == "registers" and info.role == "trigger" and statistic.value:
                    words = f"{self._gathered.name(result)} {executable_words(result.executables, executable)}"
                    worst = self._worst.setdefault((result.target or "", info.label or info.name), [])
                    worst.append((statistic.value, f"{words} {statistic.value}"))
                    worst.sort(key=lambda pair: -pair[0])
                    del worst[3:]

    def _most(self) -> Sequence[str]:
        several = len({target for target, _ in self._worst}) > 1
        return [
            printable(f"{target}: " if several else "")
            + f"most {printable(label)}  "
            + " · ".join(text for _, text in worst)
            for (target, label), worst in self._worst.items()
            if len(worst) > 1
        ]
