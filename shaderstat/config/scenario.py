"""Scenario files: what the mock shall do in place of its analysis, in YAML.

Everything is optional, and everything that is not said is as it always is::

    driver: {id: 3, name: radv, version: 22.3.6, info: Mesa 22.3.6}
    device: {name: NAVI21, vendor_id: 0x1002, device_id: 0x73bf, type: discrete_gpu, api_version: 1.3.230,
             pipeline_cache_uuid: 00000000000000000000000000000000}
    missing: no such GPU here            # opening the device fails with this line
    open: {stderr: "loaded\\n"}            # what happens meanwhile: an event, see below
    lacks:                               # globs: what the device hasn't got; it has all else
      extensions: [VK_EXT_mesh_shader]
      features: ["*.shaderFloat64"]      # Struct.member
      formats: [VK_FORMAT_R64*]
    limits: {maxPushConstantsSize: 128}  # properties by their member's name; there is no other limit
    instrumentation:                     # VK_ARM_shader_instrumentation, which the mock doesn't offer otherwise
      metrics: [fma, {name: ls, description: Loads and stores}]
      per_basic_block: true

    rules:                               # for each pipeline the first that matches
    - match: "*/slow*.spv"               # a glob over the paths of its modules, or over their last parts
      create: {sleep: 0.5}
    - match: {path: "*.spv", stage: compute}
      create: {crash: SIGSEGV, stderr: "ACO ERROR\\n"}
      query: {result: VK_ERROR_OUT_OF_HOST_MEMORY}
      destroy: {crash: SIGABRT}
      lost: 1                            # elements of each list that are counted and not written
      incomplete: true                   # VK_INCOMPLETE, however large the array
      without: [statistics]              # or representations: an empty list
      failing: {representations: VK_ERROR_UNKNOWN}     # this query alone returns an error, for every executable
      executables:                       # in place of the mock's own; [] for none
      - name: Vertex Shader
        description: merged
        stages: [vertex, geometry]       # or a number
        subgroup_size: 48
        statistics:
        - {name: VGPRs, format: uint64, value: 18446744073709551615}
        - {name: VGPRs, format: float64, value: nan, description: a second one of that name}
        - {name: "", format: 7, bits: 0xdeadbeef}      # bits: the union's eight bytes as they are
        representations:
        - {name: Assembly, text: "s_endpgm\\n", repeat: 1000000}
        - {name: ELF, binary: 7f 45 4c 46}
        - {name: Odd, binary: ff fe 00 41, is_text: true}
      run: {sleep: 0.1}                  # what happens while it runs: an event
      blocks:                            # what was counted in its run: a value for each metric
      - {index: 0, stages: compute, values: [4096, 128]}
      - {submission: 1, index: 0, sub_index: 2, stages: [vertex, fragment], basic_block: 3, values: [0, 1]}
      written: {0.1: 00 00 80 3f}        # what buffers hold after it, in hexadecimal

An *event* is what happens during a call, in this order: ``stdout`` and ``stderr`` are written, ``sleep`` seconds pass,
and then at most one of ``crash`` (the name of a signal that ends a process), ``exit`` (a status), ``hang: true`` and
``result`` (a VkResult).
"""

from __future__ import annotations

import signal
import struct
from collections.abc import Callable, Mapping
from typing import Any

from shaderstat.config import runs
from shaderstat.config.reader import Node, read
from shaderstat.config.wishes import Wrong
from shaderstat.model import STAGE_BITS, STATISTIC_FORMATS

Plain = dict[str, Any]

_EVENT = ("stdout", "stderr", "sleep", "crash", "exit", "hang", "result")
_LISTS = ("statistics", "representations")

# Signals that a process is stopped by, or that it ignores, unless it says otherwise (signal(7)).
_HARMLESS = frozenset("SIGCHLD SIGCONT SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGWINCH".split())


def read_scenario(path: str) -> Plain:
    """A scenario file as `Launch.scenario`.

    Raises:
        ShaderstatError: the file can't be read, or says what isn't known here; with its line.
    """
    root = read(path)
    if root is None:
        return {}
    scenario = _members(
        root,
        {
            "driver": lambda node: _members(
                node, {"id": Node.integer, "name": Node.text, "version": _version, "info": Node.text}
            ),
            "device": _device,
            "missing": Node.text,
            "open": _event,
            "lacks": lambda node: _members(node, dict.fromkeys(("extensions", "features", "formats"), _texts)),
            "limits": lambda node: {name: each.integer(-(2**63), 2**64 - 1) for name, each in node.table().items()},
            "instrumentation": _instrumentation,
            "rules": lambda node: [_rule(each) for each in node.items()],
        },
    )
    _check_blocks(root, scenario)
    return scenario


def _check_blocks(root: Node, scenario: Plain) -> None:
    """A driver gives one value for each metric."""
    metrics = len(scenario.get("instrumentation", {"metrics": ()})["metrics"])
    for rule in root.mapping(scenario)["rules"].items() if "rules" in scenario else ():
        for name, blocks in rule.table().items():
            for each in blocks.items() if name == "blocks" else ():
                values = each.table()["values"]
                if len(values.items()) != metrics:
                    raise values.error(
                        f"one value for each metric is wanted here, {metrics or 'and there is none'}",
                        None if metrics else "instrumentation: {metrics: [fma]} says which",
                    )


def _instrumentation(node: Node) -> Plain:
    given = node.mapping(("metrics", "per_basic_block"), required=("metrics",))
    metrics = [_metric(each) for each in given["metrics"].items()]
    if not metrics:
        raise given["metrics"].error("a device that has it has one metric at least")
    return {
        "metrics": metrics,
        "per_basic_block": given["per_basic_block"].boolean() if "per_basic_block" in given else False,
    }


def _metric(node: Node) -> Plain:
    if not node.is_mapping:
        return {"name": node.text(), "description": ""}
    return {"description": "", **_members(node, {"name": Node.text, "description": Node.text})}


def _block(node: Node) -> Plain:
    numbers = {"submission": 0, "index": 0, "sub_index": 0, "basic_block": 0}
    given = node.mapping((*numbers, "stages", "values"), required=("stages", "values"))
    return {
        **{name: given[name].integer() if name in given else number for name, number in numbers.items()},
        "stages": _stages(given["stages"]),
        "values": [each.integer(0, 2**64 - 1) for each in given["values"].items()],
    }


def _written(node: Node) -> list[Any]:
    """[set, binding, hexadecimal] each."""
    found = []
    for key, value in node.pairs():
        try:
            found.append([*runs.slot(key.source()), _hex(value).hex()])
        except Wrong as error:
            raise key.error(str(error), error.hint) from None
    return found


def _members(node: Node, readers: Mapping[str, Callable[[Node], Any]]) -> Plain:
    return {name: readers[name](value) for name, value in node.mapping(readers).items()}


def _texts(node: Node) -> list[str]:
    return [each.text() for each in node.one_or_more()]


def _version(node: Node) -> str:
    """``22.3.6`` is text to YAML, ``580.159`` a number."""
    value = node.scalar()
    return value if isinstance(value, str) else str(value)


def _device(node: Node) -> Plain:
    return _members(
        node,
        {
            "name": Node.text,
            "vendor_id": Node.integer,
            "device_id": Node.integer,
            "type": Node.text,
            "api_version": _api_version,
            "pipeline_cache_uuid": _uuid,
        },
    )


def _api_version(node: Node) -> str:
    parts = _version(node).split(".")
    if not (2 <= len(parts) <= 3 and all(part.isascii() and part.isdigit() and len(part) < 5 for part in parts)):
        raise node.error("an API version is wanted here", "1.3.230, for instance")
    return ".".join([*parts, "0"][:3])


def _uuid(node: Node) -> str:
    text = node.scalar()
    text = text if isinstance(text, str) else f"{text:032}" if isinstance(text, int) else ""
    if len(text) != 32 or set(text) - set("0123456789abcdef"):
        raise node.error("32 hexadecimal digits are wanted here, in lower case", "put them in quotes")
    return text


def _event(node: Node) -> Plain:
    given = node.mapping(_EVENT)
    ways_out = [name for name in ("crash", "exit", "hang", "result") if name in given]
    if len(ways_out) > 1:
        raise given[ways_out[1]].error(f"{ways_out[0]} and {ways_out[1]}: only one of them can happen")
    event: Plain = {name: given[name].text() for name in ("stdout", "stderr") if name in given}
    if "sleep" in given:
        event["sleep_s"] = given["sleep"].number()
        if not 0 <= event["sleep_s"] <= 86400:
            raise given["sleep"].error("seconds from 0 to 86400 are wanted here")
    if "crash" in given:
        event["crash"] = given["crash"].choice([each.name for each in signal.Signals])
        if event["crash"] in _HARMLESS:
            raise given["crash"].error(f"{event['crash']} ends no process", "hang: true is for one that stands still")
    if "exit" in given:
        event["exit"] = given["exit"].integer(0, 255)
    if "hang" in given:
        event["hang"] = given["hang"].boolean()
    if "result" in given:
        event["result"] = _result(given["result"])
    return event


def _result(node: Node) -> str:
    text = node.text()
    if not text.startswith("VK_"):
        raise node.error("the name of a VkResult is wanted here", "VK_ERROR_UNKNOWN, for instance")
    return text


def _rule(node: Node) -> Plain:
    rule = _members(
        node,
        {
            "match": _match,
            "create": _event,
            "query": _event,
            "destroy": _event,
            "lost": lambda each: each.integer(0, 2**20),
            "incomplete": Node.boolean,
            "without": lambda each: [one.choice(_LISTS) for one in each.one_or_more()],
            "failing": lambda each: _members(each, dict.fromkeys(_LISTS, _result)),
            "executables": lambda each: [_executable(one) for one in each.items()],
            "run": _event,
            "blocks": lambda each: [_block(one) for one in each.items()],
            "written": _written,
        },
    )
    if "result" in rule.get("destroy", {}):
        raise node.error("destroy returns nothing: it has no result")
    return {**rule.pop("match", {}), **rule}


def _match(node: Node) -> Plain:
    if not node.is_mapping:
        return {"path": node.text()}
    return _members(node, {"path": Node.text, "stage": lambda each: each.choice([*STAGE_BITS, "*"])})


def _executable(node: Node) -> Plain:
    given = node.mapping(("name", "description", "stages", "subgroup_size", *_LISTS))
    return {
        "name": given["name"].text() if "name" in given else "",
        "description": given["description"].text() if "description" in given else "",
        "stages": _stages(given["stages"]) if "stages" in given else 0,
        "subgroup_size": given["subgroup_size"].integer() if "subgroup_size" in given else 0,
        "statistics": [_statistic(each) for each in given["statistics"].items()] if "statistics" in given else [],
        "representations": [_representation(each) for each in given["representations"].items()]
        if "representations" in given
        else [],
    }


def _stages(node: Node) -> int:
    """Words, or VkShaderStageFlags as a number."""
    bits = 0
    for each in node.one_or_more():
        bits |= each.integer() if isinstance(each.scalar(), int) else STAGE_BITS[each.choice(list(STAGE_BITS))]
    return bits


def _statistic(node: Node) -> Plain:
    given = node.mapping(("name", "description", "format", "value", "bits"), required=("name", "format"))
    form = given["format"]
    number = form.scalar()
    format = form.integer() if isinstance(number, int) else STATISTIC_FORMATS.index(form.choice(STATISTIC_FORMATS))
    if ("value" in given) == ("bits" in given):
        raise node.error("either value or bits is wanted here")
    return {
        "name": given["name"].text(),
        "description": given["description"].text() if "description" in given else "",
        "format": format,
        "bits": given["bits"].integer(0, 2**64 - 1) if "bits" in given else _bits(given["value"], format, form),
    }


def _bits(node: Node, format: int, form: Node) -> int:
    """A value as VkPipelineExecutableStatisticValueKHR holds it."""
    word = STATISTIC_FORMATS[format] if format < len(STATISTIC_FORMATS) else ""
    if word == "bool32":
        return int(node.boolean())
    if word == "int64":
        return node.integer(-(2**63), 2**63 - 1) & (2**64 - 1)
    if word == "uint64":
        return node.integer(0, 2**64 - 1)
    if word == "float64":
        bits: int = struct.unpack("<Q", struct.pack("<d", node.number()))[0]
        return bits
    raise form.error("a format without a name has bits, not a value")


def _representation(node: Node) -> Plain:
    given = node.mapping(("name", "description", "text", "binary", "is_text", "repeat"), required=("name",))
    if ("text" in given) == ("binary" in given):
        raise node.error("either text or binary is wanted here")
    if "text" in given:
        data = given["text"].text().encode("utf-8", "surrogatepass")
    else:
        data = _hex(given["binary"])
    return {
        "name": given["name"].text(),
        "description": given["description"].text() if "description" in given else "",
        "is_text": given["is_text"].boolean() if "is_text" in given else "text" in given,
        "hex": data.hex(),
        "repeat": given["repeat"].integer(0, 2**30) if "repeat" in given else 1,
    }


def _hex(node: Node) -> bytes:
    try:
        return bytes.fromhex(node.source())
    except ValueError:
        raise node.error("hexadecimal digits are wanted here, two a byte", "put them in quotes") from None
