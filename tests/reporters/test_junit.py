"""JUnit XML, as the schema of a CI system and a foreign XML parser see it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lxml import etree

from tests.reporters.outcomes import HOSTILE, check_text, diff_text, outcome, verdict

SCHEMA = Path(__file__).parent / "foreign" / "junit-10.xsd"


def parsed(text: str) -> Any:
    """The root, after the schema had a look."""
    root = etree.fromstring(text.encode())
    etree.XMLSchema(etree.parse(str(SCHEMA))).assertValid(root)
    return root


def kinds(root: Any) -> dict[str, str]:
    """Test → what became of it."""
    return {case.get("name"): next((child.tag for child in case), "") for case in root.iter("testcase")}


def counts(element: Any) -> dict[str, int]:
    return {name: int(element.get(name)) for name in ("tests", "failures", "errors", "skipped") if element.get(name)}


def test_a_diff_is_a_test_for_each_pipeline_on_both_sides() -> None:
    root = parsed(diff_text("junit", outcome("spills:+0")))
    found = kinds(root)
    assert {name: kind for name, kind in found.items() if name.isalpha()} == {
        "better": "", "code": "", "crash": "error", "unsupported": "skipped",
    }  # fmt: skip
    (hostile,) = (name for name in found if name.startswith("a|"))
    assert found[hostile] == "failure" and "\x1b" not in hostile
    (suite, problems) = root.iter("testsuite")
    assert suite.get("name") == "radv:navi21" and problems.get("name") == "shaderstat"
    assert counts(suite) == {"tests": 5, "failures": 1, "errors": 1, "skipped": 1}
    assert counts(root) == {"tests": 6, "failures": 1, "errors": 2}


def test_without_gates_nothing_fails_but_what_has_no_answer() -> None:
    root = parsed(diff_text("junit", outcome()))
    assert counts(root) == {"tests": 5, "failures": 0, "errors": 1}


def test_a_check_is_a_test_for_each_limit() -> None:
    root = parsed(check_text("junit", verdict()))
    assert counts(root) == {"tests": 8, "failures": 2, "errors": 1}
    found = kinds(root)
    assert found["good::fragment::desktop::registers max 24".replace("fragment", "compute")] == ""
    assert found["crash"] == "error"
    failure = next(case for case in root.iter("failure") if "spills" in case.get("message"))
    assert failure.get("type") == "budget/spills"
    assert "accept: raise max in shaderstat.yaml:4" in failure.text


def test_hostile_text_is_text() -> None:
    text = diff_text("junit", outcome("spills:+0"))
    assert HOSTILE not in text and "\\x1b" in text and "\\ufffe" in text
