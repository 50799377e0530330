"""Records of archives: what identifies an object with all that it refers to, and payloads that are no JSON of ours."""

from __future__ import annotations

import io
import json
from functools import partial
from typing import Any

import pytest

from shaderstat.archive.applications import Applications
from shaderstat.archive.capture import Captured
from shaderstat.archive.format import Tag
from shaderstat.archive.records import Records
from shaderstat.archive.stream import Stream
from shaderstat.errors import InvalidSpirv, Unsupported
from tests.archive.test_containers import MAGIC, entry

GRAPHICS = "graphicsPipelines"


def records(*entries: bytes) -> Records:
    return Records([Stream(partial(io.BytesIO, MAGIC + b"".join(entries)), "an.foz")])


def layout(hash: int, binding: int) -> bytes:
    bindings = [{"descriptorType": 7, "descriptorCount": 1, "stageFlags": 32, "binding": binding}]
    record = {"version": 6, "setLayouts": {f"{hash:016x}": {"flags": 0, "bindings": bindings}}}
    return entry(Tag.SET_LAYOUT, hash, json.dumps(record).encode())


def pipeline(hash: int, record: dict[str, Any], *, tag: Tag = Tag.GRAPHICS, top: str = GRAPHICS) -> bytes:
    return entry(tag, hash, json.dumps({"version": 6, top: {f"{hash:016x}": record}}).encode())


# ── Identity ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "reference", ['"000000000000000b"', '"000000000000000B"', '"b"', '"0b"', r'"\u0062"', r'"000000000000000\u0062"']
)
def test_what_is_referred_to_counts_however_its_name_is_written(reference: str) -> None:
    """`members.hash_of` takes one to sixteen digits, and JSON has escapes for all of them."""
    text = f'{{"version":6,"pipelineLayouts":{{"000000000000000a":{{"setLayouts":[{reference}]}}}}}}'
    one = entry(Tag.PIPELINE_LAYOUT, 10, text.encode())
    first, second = (records(one, layout(11, binding)) for binding in (0, 1))
    assert first.fingerprint(Tag.PIPELINE_LAYOUT, 10) != second.fingerprint(Tag.PIPELINE_LAYOUT, 10)
    assert first.fingerprint(Tag.PIPELINE_LAYOUT, 10) == records(layout(11, 0), one).fingerprint(
        Tag.PIPELINE_LAYOUT, 10
    )


def test_what_refers_to_itself_and_long_chains_have_an_identity() -> None:
    chain = [pipeline(n, {"basePipelineHandle": f"{n % 3000 + 1:016x}"}) for n in range(1, 3001)]
    found = records(*chain)
    assert found.fingerprint(Tag.GRAPHICS, 1) != found.fingerprint(Tag.GRAPHICS, 2)


# ── Damaged entries ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_damaged_entry_is_skipped_where_there_is_another() -> None:
    bad, good = entry(payload=b'{"a":1}', crc=1), entry(payload=b'{"a":2}')
    for both in (
        records(bad, good),
        Records([Stream(partial(io.BytesIO, MAGIC + one), "an.foz") for one in (bad, good)]),
    ):
        assert both.payload(Tag.COMPUTE, 1) == b'{"a":2}'
    with pytest.raises(InvalidSpirv) as caught:
        records(bad, bad).payload(Tag.COMPUTE, 1)
    assert (caught.value.code, caught.value.offset) == ("archive/crc", 16)


# ── Payloads ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("payload", "told"),
    [
        (b"", "no JSON: nothing at all"),
        (b"{", "no JSON: Expecting property name enclosed in double quotes, byte 1"),
        (b"\xff{}", "text that is no Unicode"),
        (rb'{"a": "\ud800"}', "text that is no Unicode"),
        (b'{"a": ' + b"1" * 5000 + b"}", "no JSON: a number of thousands of digits"),
        (b'{"a": NaN}', "no JSON: NaN is no number"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[]", "an object is wanted"),
    ],
)
def test_what_is_no_json_is_told_in_one_line(payload: bytes, told: str) -> None:
    with pytest.raises(InvalidSpirv) as caught:
        records(entry(payload=payload)).document(Tag.COMPUTE, 1)
    assert caught.value.message == f"compute pipeline 0000000000000001: {told}"
    assert caught.value.path == "an.foz"


def test_a_surrogate_pair_is_a_character() -> None:
    found = records(entry(payload=rb'{"a": "\ud83d\ude00"}'))
    assert found.document(Tag.COMPUTE, 1) == {"a": "\N{GRINNING FACE}"}


# ── Pipelines ─────────────────────────────────────────────────────────────────────────────────────────────────────


def refusal(found: Records, hash: int) -> InvalidSpirv:
    with pytest.raises(InvalidSpirv) as caught:
        Captured(found, Tag.GRAPHICS, hash).spec()
    return caught.value


def test_a_whole_number_that_no_float_holds_is_a_bad_value() -> None:
    record = {"multisampleState": {"rasterizationSamples": 1, "minSampleShading": 10**400}}
    error = refusal(records(pipeline(1, record)), 1)
    assert error.code == "archive/value"
    assert "minSampleShading: a number is wanted" in error.message


def test_a_chain_has_each_structure_once() -> None:
    chained = {"sType": 1000099001, "discardRectangleMode": 0, "discardRectangles": []}
    error = refusal(records(pipeline(1, {"stages": [], "pNext": [chained, chained]})), 1)
    assert error.code == "archive/value"
    assert error.message.endswith("pNext[1]: a second VkPipelineDiscardRectangleStateCreateInfoEXT")


def test_an_enumeration_has_no_values_but_its_own() -> None:
    record = {"stages": [], "inputAssemblyState": {"topology": 77, "flags": 0, "primitiveRestartEnable": 0}}
    with pytest.raises(Unsupported) as caught:
        Captured(records(pipeline(1, record)), Tag.GRAPHICS, 1).spec()
    assert caught.value.code == "archive/unknown-value"
    assert caught.value.message.endswith("topology: no VkPrimitiveTopology that is known here is 77")


def test_a_graphics_pipeline_is_made_of_something() -> None:
    error = refusal(records(pipeline(1, {"flags": 0, "stages": []})), 1)
    assert (error.code, error.message) == (
        "archive/value",
        "graphics pipeline 0000000000000001: it has no stage, nor libraries",
    )


def test_libraries_of_libraries_end() -> None:
    """Six layers of four pipelines, each of which is made of the four of the next: 4^6 in all."""
    library = 1000290000  # VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR
    layers = [[100 * layer + one for one in range(1, 5)] for layer in range(1, 7)]
    entries = [
        pipeline(hash, {"pNext": [{"sType": library, "libraries": [f"{one:016x}" for one in below]}] if below else []})
        for layer, below in zip(layers, [*layers[1:], []], strict=True)
        for hash in layer
    ]
    error = refusal(records(*entries), 101)
    assert (error.code, error.message) == (
        "limit/libraries",
        "graphics pipeline 0000000000000065 is made of more than 1024 libraries",
    )


@pytest.mark.parametrize("chain", [5, {"sType": 1}, "text"])
def test_features_that_are_no_list_cost_the_application_alone(chain: Any) -> None:
    document = {"version": 6, "applicationInfo": {}, "physicalDeviceFeatures": {"pNext": chain}}
    applications = Applications(records(entry(Tag.APPLICATION, 1, json.dumps(document).encode())))
    (remark,) = applications.remarks
    assert remark.message == (
        "application info 0000000000000001.pNext: a list is wanted; its pipelines are compiled without it"
    )
