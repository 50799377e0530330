"""Write shaderstat/schemas/report-1.json, the JSON Schema of reports, from the model's types and their docstrings.

    python tools/generate_schema.py           writes the file
    python tools/generate_schema.py --check   exit status 1 where the file is stale

All members are required, since shaderstat writes all of them, always. One that is added to version 1 after its
publication goes into ADDED, so that older reports stay valid. Unknown members and unknown words are allowed everywhere.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any

import msgspec

from shaderstat import instrumentation, model
from shaderstat.model import REPORT_VERSION, Report
from shaderstat.reporters import read  # noqa: F401  the types of a result's members, all of them

TARGET = Path(__file__).parent.parent / "shaderstat" / "schemas" / f"report-{REPORT_VERSION}.json"

# (type, member) added after publication: not required.
ADDED: frozenset[tuple[str, str]] = frozenset(
    {
        ("StatisticInfo", "bits"),
        ("State", "given"),
        ("Representation", "index"),
        ("Target", "gpu"),
        ("Result", "instrumentation"),
    }
)

# The words of today; a later version may add some.
WORDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("Result", "status"): model.STATUSES,
    ("Failure", "phase"): model.PHASES,
    ("Statistic", "format"): model.STATISTIC_FORMATS,
    ("StatisticInfo", "format"): model.STATISTIC_FORMATS,
    ("StatisticInfo", "better"): ("less", "more"),
    ("StatisticInfo", "role"): ("trigger", "info", "identity", "equality"),
    ("Executable", "bound"): ("exact", "upper"),
    ("Diagnostic", "severity"): ("error", "warning", "info"),
    ("Target", "source"): ("host", "null-device", "shim", "tree", "config", "mock"),
    ("Pipeline", "kind"): ("compute", "graphics", "ray_tracing"),
    ("State", "source"): ("inferred", "manifest", "archive"),
    ("Command", "kind"): instrumentation.COMMANDS,
}

# Header, end and the rest of the form with one object a line, by their ``type``.
LINES = {"target": "Target", "pipeline": "Pipeline", "result": "Result", "end": "Run"}


def schema() -> dict[str, Any]:
    """The schema as plain data."""
    (root,), definitions = msgspec.json.schema_components((Report,), ref_template="#/$defs/{name}")
    for name, definition in definitions.items():
        _finish(name, definition)
    report = definitions.pop("Report")
    assert root == {"$ref": "#/$defs/Report"}
    report["properties"]["schema"] = _identified(definitions)
    definitions["Line"] = _line()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:shaderstat:report:{REPORT_VERSION}",
        "title": f"shaderstat report, version {REPORT_VERSION}",
        "description": "Readers ignore members and accept words that they do not know. Where a report is written as "
        "one object a line, each follows $defs/Line.",
        **{word: value for word, value in report.items() if word not in ("title", "description")},
        "$defs": definitions,
    }


def _identified(definitions: dict[str, Any]) -> dict[str, Any]:
    """A report says which schema it follows; this one describes one of them."""
    own = definitions["Schema"]
    own["properties"]["name"]["const"] = model.Schema().name
    own["properties"]["version"]["const"] = REPORT_VERSION
    return {"$ref": "#/$defs/Schema"}


def _finish(name: str, definition: dict[str, Any]) -> None:
    summary, members = _documentation(getattr(model, name, None) or getattr(instrumentation, name))
    definition["description"] = summary
    definition["required"] = [each for each in definition["properties"] if (name, each) not in ADDED]
    for member, property in definition["properties"].items():
        property.pop("default", None)
        if member in members:
            property["description"] = members[member]
        if (name, member) in WORDS:
            property["examples"] = list(WORDS[name, member])


def _documentation(type: type) -> tuple[str, dict[str, str]]:
    """What a docstring says of a class, and of each of its members below ``Attributes:``."""
    summary, _, attributes = inspect.cleandoc(type.__doc__ or "").partition("\n\nAttributes:\n")
    members: dict[str, str] = {}
    for names, text in re.findall(r"^ {4}(\w[\w, ]*): (.*(?:\n {8}.*)*)", attributes, re.MULTILINE):
        for name in names.split(", "):
            members[name] = _flat(text)
    return _flat(summary), members


def _flat(text: str) -> str:
    return " ".join(text.replace("``", "`").split())


def _line() -> dict[str, Any]:
    head = {
        "type": "object",
        "properties": {
            "type": {"const": "header"},
            "schema": {"$ref": "#/$defs/Schema"},
            "producer": {"$ref": "#/$defs/Producer"},
            "run": {"$ref": "#/$defs/Run"},
        },
        "required": ["type", "schema", "producer", "run"],
    }
    others = [
        {"properties": {"type": {"const": word}}, "required": ["type"], "allOf": [{"$ref": f"#/$defs/{name}"}]}
        for word, name in LINES.items()
    ]
    return {
        "title": "Line",
        "description": "One line of a report in JSON lines. A target's later line replaces the earlier; without an "
        "end, the run broke off.",
        "oneOf": [head, *others],
    }


def render() -> str:
    """The file's text."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    text = render()
    if arguments == ["--check"]:
        stale = not TARGET.exists() or TARGET.read_text("utf-8") != text
        if stale:
            print(f"{TARGET.name} is stale: python tools/generate_schema.py", file=sys.stderr)
        return int(stale)
    TARGET.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
