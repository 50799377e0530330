"""SARIF, after the standard's own schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.compare.reports import SPILLED_VGPRS, VGPRS, executable, pipeline, side
from tests.reporters import outcomes
from tests.reporters.outcomes import check_text, diff_text, outcome, verdict

SCHEMA = json.loads((Path(__file__).parent / "foreign" / "sarif-2.1.0.json").read_text("utf-8"))


def run_of(text: str) -> Any:
    """The one run, after the schema had a look."""
    document = json.loads(text)
    jsonschema.Draft4Validator(SCHEMA).validate(document)
    (run,) = document["runs"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    prints = [result["partialFingerprints"]["shaderstat/v1"] for result in run["results"]]
    assert len(set(prints)) == len(prints)
    return run


def test_a_diff() -> None:
    run = run_of(diff_text("sarif", outcome("spills:+0")))
    assert [(each["ruleId"], each["level"]) for each in run["results"]] == [
        ("status/crashed", "error"), ("regression/spills", "error"), ("regression/registers", "note"),
    ]  # fmt: skip
    assert run["invocations"][0]["executionSuccessful"] is False  # the crash can't be gated


def test_a_check() -> None:
    run = run_of(check_text("sarif", verdict()))
    assert [(each["ruleId"], each["level"]) for each in run["results"]] == [
        ("budget/registers", "error"), ("budget/spills", "error"), ("status/crashed", "error"),
        ("budget/vgprs", "warning"),
    ]  # fmt: skip
    assert "again: shaderstat stats" in run["results"][0]["message"]["text"]


def test_nothing_found_is_valid_too() -> None:
    assert (
        run_of(check_text("sarif", verdict(pipeline("a", executable((VGPRS, 1))), rules=outcomes.RULES[1:2])))[
            "results"
        ]
        == []
    )


def test_fingerprints_do_not_hang_on_numbers() -> None:
    def prints(spills: int) -> list[str]:
        from shaderstat.compare import compare
        from shaderstat.compare.outcome import DiffOutcome

        sides = (side(pipeline("a", executable((SPILLED_VGPRS, number)))) for number in (0, spills))
        run = run_of(diff_text("sarif", DiffOutcome(compare(*sides))))
        return [each["partialFingerprints"]["shaderstat/v1"] for each in run["results"]]

    assert prints(4) == prints(40) != []


def test_locations_are_relative_and_escaped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    run = run_of(diff_text("sarif", outcome(name="a b%|c")))
    (location,) = next(each for each in run["results"] if each["ruleId"] == "regression/spills")["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "shaders/a%20b%25%7Cc.spv"


def test_more_than_github_takes_is_cut_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shaderstat.reporters.sarif.MOST", 2)
    run = run_of(diff_text("sarif", outcome("spills:+0")))
    assert len(run["results"]) == 2
    assert "1 results beyond the first 2" in run["invocations"][0]["toolExecutionNotifications"][-1]["message"]["text"]
