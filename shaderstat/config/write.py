"""A pipeline's whole state as a manifest that gives the same pipeline when it is read back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from shaderstat.config.manifest import CREATE_INFOS, ELSEWHERE, LAYOUT, RENDER_PASS, SAMPLER, SET_LAYOUT, STAGE
from shaderstat.model import STAGE_BITS, Setup
from shaderstat.plain import dataclass
from shaderstat.registry import vulkan

# What fits into one line of this many columns is written into one.
WIDTH = 100

_UNUSED = 0xFFFFFFFF
_PLAIN = re.compile(r"[A-Za-z_./][\w./|\-]*")
_PLAIN_VALUE = re.compile(r"[\w./|\-+]+")
# Words that YAML 1.1 takes for something else.
_WORDS = frozenset("true false yes no on off y n null ~ .nan .inf".split())

Plain = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Written:
    """A pipeline to write.

    Attributes:
        name: in the manifest.
        modules: path, stage, entry point, and whether its file has no other one.
        spec: specialization values by ``[STAGE:]CONSTANT``, as they were typed.
        setup: the device's.
        state: everything that is compiled, as `shaderstat.pipeline.spec.to_plain` has it.
        comments: lines for people.
        captured: the archive's pipeline, ``capture.foz:HASH``, where not all of it can be written out: what is written
            then lies over that.
        run: what its ``run:`` says.
    """

    name: str
    modules: Sequence[tuple[str, str, str, bool]]
    spec: Mapping[str, str]
    setup: Setup
    state: Plain
    comments: Sequence[str] = ()
    captured: str = ""
    run: Plain = field(default_factory=dict)


def manifest(pipelines: Iterable[Written], comments: Sequence[str] = ()) -> Iterator[str]:
    """The manifest's lines."""
    yield from (f"# {line}" for line in comments)
    yield "pipelines:"
    for one in pipelines:
        yield ""
        yield f"  {_key(one.name)}:"
        yield from (f"    # {line}" for line in one.comments)
        yield from _lines(_pipeline(one), 4)


def _pipeline(one: Written) -> dict[str, Any]:
    state = one.state
    run = {"run": one.run} if one.run else {}
    infos = sorted(state["stages"], key=lambda info: bool(info["synthetic"]))
    if one.captured:
        # Its device and what it is specialised with are the archive's business, too.
        return {"files": one.captured, state["kind"]: _captured_info(state), **run}
    found: dict[str, Any] = {"modules": [_module(*module, infos) for module in one.modules]}
    if one.spec:
        found["spec"] = {name: _Raw(value) for name, value in one.spec.items()}
    if one.setup.profile != "vulkan":
        found["profile"] = one.setup.profile
    features: dict[str, Any] = {}
    for struct, member, on in one.setup.features:
        features.setdefault(struct, {})[member] = on
    if features:
        found["features"] = features
    if one.setup.application:
        found["application"] = dict(one.setup.application)
    kind = state["kind"]
    left_out = ("renderPass", *(("subpass",) if not state["create_info"].get("subpass") else ()))
    create_info = {name: value for name, value in state["create_info"].items() if name not in left_out}
    if create_info:
        found[kind] = _struct(create_info, CREATE_INFOS[kind])
    layout = {name: value for name, value in state["layout"].items() if name != "pSetLayouts"}
    samplers = [_struct(each, SAMPLER) for each in state["samplers"]]
    sets = {number: _set_layout(each, samplers) for number, each in enumerate(state["set_layouts"])}
    found["layout"] = {**({"pSetLayouts": sets} if sets else {}), **_struct(layout, LAYOUT)}
    if state["render_pass"] is not None:
        found["render_pass"] = _struct(state["render_pass"], RENDER_PASS)
    return found | run


def _captured_info(state: Plain) -> dict[str, Any]:
    """What of a captured create info can be said: no handles, and what is not there need not be taken away."""
    create_info = {
        name: value for name, value in state["create_info"].items() if value is not None and name not in ELSEWHERE
    }
    if "pNext" in create_info:
        # Whoever says dynamic rendering has no render pass, here.
        ignored = {"VkPipelineLibraryCreateInfoKHR"}
        ignored |= {"VkPipelineRenderingCreateInfo"} if state["render_pass"] is not None else set()
        chain = [each for each in create_info["pNext"] if each[0] not in ignored]
        create_info = {**create_info, "pNext": chain}
        if not chain:
            del create_info["pNext"]
    return _struct(create_info, CREATE_INFOS[state["kind"]])


def _module(path: str, stage: str, entry: str, alone: bool, infos: Sequence[Plain]) -> Any:
    flag = next(info for info in infos if _is(info, stage, entry))
    said = _struct({name: flag[name] for name in ("flags", "pNext") if name in flag}, STAGE)
    if alone and not said:
        return path
    return {"path": path, **({} if alone else {"stage": stage, "entry": entry}), **said}


def _is(info: Plain, stage: str, entry: str) -> bool:
    bit = vulkan.value("VkShaderStageFlagBits", info["stage"])
    return bit == STAGE_BITS[stage] and info["entry_point"] == entry


def _set_layout(plain: Plain, samplers: Sequence[Plain]) -> dict[str, Any]:
    result = _struct(plain, SET_LAYOUT)
    for each in result["pBindings"]:
        if "pImmutableSamplers" in each:
            each["pImmutableSamplers"] = [samplers[place] for place in each["pImmutableSamplers"]]
    return result


def _struct(plain: Plain, name: str) -> dict[str, Any]:
    """A struct's members as people write them: truth values, the names of special numbers, pNext as a mapping."""
    struct = vulkan.struct(name)
    assert struct is not None, name
    result: dict[str, Any] = {}
    for key, value in plain.items():
        if key == "pNext":
            result[key] = {each: _struct(members, each) for each, members in value}
        elif isinstance(value, list) and not struct.members[key].length:
            (result[key],) = value  # a pointer to one number
        elif isinstance(value, list):
            result[key] = [_value(each, key, struct.members[key].type) for each in value]
        else:
            result[key] = _value(value, key, struct.members[key].type)
    return result


def _value(value: Any, key: str, type_: str) -> Any:
    if isinstance(value, Mapping):
        return _struct(value, type_)
    if type_ == "VkBool32":
        return bool(value)
    if value == _UNUSED and key == "attachment":
        return "VK_ATTACHMENT_UNUSED"
    if value == _UNUSED and key.endswith("Shader"):
        return "VK_SHADER_UNUSED_KHR"
    return value


# ── YAML ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Raw(str):
    """A value that is read as it stands: ``0x10`` and ``true`` need no quotes."""

    __slots__ = ()


def _lines(value: Any, indent: int) -> Iterator[str]:
    """A mapping or a list, a line for each member that fits into one."""
    blank = " " * indent
    if isinstance(value, Mapping):
        for key, each in value.items():
            head = f"{blank}{_key(key)}:"
            yield from _member(head, each, indent + (0 if isinstance(each, list) else 2))
    else:
        for each in value:
            flow = _flow(each)
            if not isinstance(each, Mapping) or len(blank) + 2 + len(flow) <= WIDTH:
                yield f"{blank}- {flow}"
                continue
            first, *rest = _lines(each, indent + 2)
            yield f"{blank}- {first.lstrip()}"
            yield from rest


def _member(head: str, value: Any, indent: int) -> Iterator[str]:
    flow = _flow(value)
    if not isinstance(value, (Mapping, list)) or not value or len(head) + 1 + len(flow) <= WIDTH:
        yield f"{head} {flow}"
    else:
        yield head
        yield from _lines(value, indent)


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)}: {_flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(each) for each in value) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, _Raw):
        return str(value) if _PLAIN_VALUE.fullmatch(value) and value not in ("-", "~") else _quoted(value)
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) and value.lower() not in _WORDS else _quoted(value)
    return str(value)


def _quoted(text: str) -> str:
    """In double quotes, nothing in it that YAML or a terminal might stumble over."""
    escapes = {'"': '\\"', "\\": "\\\\"}
    return '"' + "".join(escapes.get(each) or _character(each) for each in text) + '"'


def _character(each: str) -> str:
    if each.isprintable():
        return each
    return f"\\u{ord(each):04x}" if ord(each) < 0x10000 else f"\\U{ord(each):08x}"


def _float(value: float) -> str:
    """YAML wants a point in a float, and before infinity and what is no number."""
    text = repr(value)
    if text in ("nan", "inf", "-inf"):
        return text.replace("nan", ".nan").replace("inf", ".inf")
    return text if "." in text else text.replace("e", ".0e")


def _key(key: Any) -> str:
    return str(key) if isinstance(key, int) or key.isdecimal() else _scalar(str(key))
