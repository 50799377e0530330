"""The published schema agrees with the types, and everything that is written follows it."""

from __future__ import annotations

import dataclasses
import json
from importlib import resources
from typing import Any

import jsonschema
import pytest

from shaderstat import instrumentation, model
from shaderstat.model import Diagnostic, Failure, PipelineEvent, Report, Result, ResultEvent
from tests.reporters.runs import GOLDEN, answered, executable, golden, pipeline, radv, statistic, target, written

SCHEMA: dict[str, Any] = json.loads((resources.files("shaderstat.schemas") / "report-1.json").read_text("utf-8"))
DOCUMENT = jsonschema.Draft202012Validator(SCHEMA)
LINE = jsonschema.Draft202012Validator({**SCHEMA["$defs"]["Line"], "$defs": SCHEMA["$defs"]})

FAILED = Result(
    "water", "radv:navi21", "failed", failure=Failure("compile", "driver/error", vk_result="VK_ERROR_UNKNOWN")
)
REFUSED = Result("x", None, "invalid", diagnostics=(Diagnostic("error", "spirv/empty", "empty file", offset=0),))

SAMPLES = {
    "golden": golden(),
    "nothing": answered([]),
    "every format": answered(
        [
            (
                pipeline("blur", variant={"0": 1}, workgroup=(8, 8, 1)),
                [
                    radv("compute", 24),
                    executable(
                        "compute",
                        statistic("a", 2**64 - 1),
                        statistic("b", 2**63, "int64"),
                        statistic("c", 0x7FF8000000000000, "float64"),
                        statistic("d", 2, "bool32"),
                        subgroup_size=7,
                    ),
                ],
            )
        ],
        target(),
        target("host:0"),
    ),
    "failures": answered(
        [],
        more=[
            PipelineEvent(pipeline("water")),
            ResultEvent(FAILED),
            PipelineEvent(pipeline("x", None)),
            ResultEvent(REFUSED),
        ],
    ),
}


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_golden_report_follows_it() -> None:
    DOCUMENT.validate(json.loads(GOLDEN.read_bytes()))


@pytest.mark.parametrize("name", SAMPLES)
def test_documents_follow_it(name: str) -> None:
    DOCUMENT.validate(json.loads(written("json", SAMPLES[name])))


@pytest.mark.parametrize("name", SAMPLES)
def test_lines_follow_it(name: str) -> None:
    for line in written("jsonl", SAMPLES[name]).splitlines():
        LINE.validate(json.loads(line))


# Members that reports of before don't have.
ADDED = {
    ("StatisticInfo", "bits"),
    ("State", "given"),
    ("Representation", "index"),
    ("Target", "gpu"),
    ("Target", "settings"),
    ("Result", "instrumentation"),
}


def dataclass_of(name: str) -> type:
    found = getattr(model, name, None) or getattr(instrumentation, name)
    assert isinstance(found, type)
    return found


@pytest.mark.parametrize("name", [*sorted(set(SCHEMA["$defs"]) - {"Line"}), "Report"])
def test_members_are_those_of_the_types_in_their_order(name: str) -> None:
    definition = SCHEMA if name == "Report" else SCHEMA["$defs"][name]
    fields = [field.name for field in dataclasses.fields(dataclass_of(name))]
    assert list(definition["properties"]) == fields
    assert definition["required"] == [each for each in fields if (name, each) not in ADDED]


def test_every_type_of_a_report_is_described() -> None:
    seen: set[str] = set()

    def visit(node: Any) -> None:
        if isinstance(node, dict):
            seen.update(str(value).rsplit("/", 1)[-1] for word, value in node.items() if word == "$ref")
            for value in node.values():
                visit(value)
        elif isinstance(node, list):
            for value in node:
                visit(value)

    visit({word: value for word, value in SCHEMA.items()})
    assert seen == set(SCHEMA["$defs"]) - {"Line"}
    assert {field.name for field in dataclasses.fields(Report)} == set(SCHEMA["properties"])


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("results", 0, "executables", 0, "statistics", 0, "value"), "0xb8c266acedac62cc"),
        (("results", 0, "executables", 0, "statistics", 0, "value"), True),
        (("results", 0, "executables", 0, "index"), 0.5),
        (("schema", "version"), 2),
        (("schema", "name"), "other"),
        (("results", 0, "status"), None),
    ],
)
def test_what_does_not_follow_it_is_refused(where: tuple[str | int, ...], value: object) -> None:
    report = json.loads(GOLDEN.read_bytes())
    place = report
    for step in where[:-1]:
        place = place[step]
    place[where[-1]] = value
    assert not DOCUMENT.is_valid(report)


def test_unknown_members_and_words_are_allowed() -> None:
    report = json.loads(GOLDEN.read_bytes())
    report["results"][0]["status"] = "postponed"
    report["results"][0]["until"] = "later"
    DOCUMENT.validate(report)
