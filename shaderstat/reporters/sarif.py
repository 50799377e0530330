"""SARIF 2.1.0 (OASIS), as code scanning takes it: stable rule ids, and fingerprints that no number goes into."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, BinaryIO

from shaderstat._version import __version__
from shaderstat.budget import Verdict
from shaderstat.compare.outcome import DiffOutcome
from shaderstat.reporters._findings import KINDS, Finding, of_check, of_diff, uri
from shaderstat.reporters.base import Options
from shaderstat.reporters.text import escaped_json

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

# What GitHub takes of one run.
MOST = 25_000


def diff(outcome: DiffOutcome, stream: BinaryIO, options: Options) -> Sequence[str]:
    return _write(of_diff(outcome), outcome.distrust, outcome.status != 2, stream)


def check(verdict: Verdict, stream: BinaryIO, options: Options) -> Sequence[str]:
    return _write(of_check(verdict), verdict.problems, verdict.status != 2, stream)


def _write(findings: list[Finding], problems: Sequence[str], trusted: bool, stream: BinaryIO) -> Sequence[str]:
    kept = findings[:MOST]
    rules = sorted({each.rule for each in kept})
    places = {rule: place for place, rule in enumerate(rules)}
    driver = {
        "name": "shaderstat",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(rule) for rule in rules],
    }
    notifications = [{"level": "error", "message": {"text": line}} for line in problems]
    if len(kept) < len(findings):
        line = f"{len(findings) - len(kept)} results beyond the first {MOST} are left out"
        notifications.append({"level": "warning", "message": {"text": line}})
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": trusted, "toolExecutionNotifications": notifications}],
        "columnKind": "unicodeCodePoints",
        "results": [_result(each, places[each.rule]) for each in kept],
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    stream.write(escaped_json(json.dumps(document, indent=1)).encode("ascii") + b"\n")
    return [f"SARIF: {len(findings) - len(kept)} results left out"] if len(kept) < len(findings) else []


def _rule(rule: str) -> dict[str, Any]:
    kind, _, about = rule.partition("/")
    words = about.replace("_", " ")
    return {
        "id": rule,
        "name": "".join(part.capitalize() for part in (kind, *about.split("_"))),
        "shortDescription": {"text": f"{KINDS.get(kind, kind)[:-1]}: {words}."},
        "defaultConfiguration": {"level": "error"},
    }


def _result(finding: Finding, place: int) -> dict[str, Any]:
    message = finding.message + (f" on {finding.target}" if finding.target else "")
    name = " ".join(filter(None, (finding.pipeline, finding.executable)))
    location: dict[str, Any] = {
        "logicalLocations": [{"name": finding.executable or finding.pipeline, "fullyQualifiedName": name}]
    }
    if finding.path is not None:
        # SPIR-V has no lines, but results without one are not shown.
        region = {"startLine": 1}
        location["physicalLocation"] = {"artifactLocation": {"uri": uri(finding.path)}, "region": region}
    return {
        "ruleId": finding.rule,
        "ruleIndex": place,
        "level": finding.level,
        "message": {"text": f"{name}: {message}" + (f"\n{finding.help}" if finding.help else "")},
        "locations": [location],
        "partialFingerprints": {"shaderstat/v1": _fingerprint(finding)},
    }


def _fingerprint(finding: Finding) -> str:
    parts = json.dumps([finding.rule, finding.target, *finding.identity])
    return hashlib.sha256(parts.encode("ascii")).hexdigest()[:32]
