"""``diff`` and ``check`` as JSON, after their published schemas."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import jsonschema
import pytest

from shaderstat.compare.view import View
from tests.reporters.outcomes import check_text, diff_text, outcome, verdict


def schema(name: str) -> Any:
    return json.loads((resources.files("shaderstat.schemas") / f"{name}.json").read_text("utf-8"))


@pytest.mark.parametrize("name", ["diff-1", "check-1"])
def test_the_schemas_are_schemas(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))


def test_a_diff() -> None:
    document = json.loads(diff_text("json", outcome("spills:+0")))
    jsonschema.Draft202012Validator(schema("diff-1")).validate(document)
    assert document["schema"] == {"name": "shaderstat-diff", "version": 1}
    assert document["counts"] == {
        "both": 5, "new": 1, "gone": 1, "renamed": 0, "compared": 3, "affected": 2, "recoded": 1, "statuses": 1,
        "unanswered": 1,
    }  # fmt: skip
    (first, second) = document["executables"]
    changes = {each["name"]: each for each in first["changes"]}
    assert changes["Spilled VGPRs"]["before"] == {"value": 0, "text": None}
    assert (changes["Spilled VGPRs"]["kind"], changes["Spilled VGPRs"]["verdict"]) == ("from zero", "worse")
    assert second["pipeline"] == "better"
    assert document["gates"][0]["breaches"][0]["after"]["value"] == 40
    assert document["status"] == 2 and len(document["problems"]) == 1


def test_a_view_chooses_statistics() -> None:
    document = json.loads(diff_text("json", outcome(view=View(statistics=("registers",)))))
    names = {change["name"] for each in document["executables"] for change in each["changes"]}
    assert names == {"VGPRs"}
    assert [total["name"] for total in document["totals"]] == ["registers"]


def test_a_check() -> None:
    document = json.loads(check_text("json", verdict()))
    jsonschema.Draft202012Validator(schema("check-1")).validate(document)
    assert document["counts"] == {
        "rules": 3, "checks": 7, "failed": 2, "warned": 1, "passed": 4, "unanswered": 1, "allowed": 0,
    }  # fmt: skip
    assert [each["passed"] for each in document["checks"]] == [False, False, False, True, True, True, True]
    assert document["status"] == 2
