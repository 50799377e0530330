"""Files in, facts out: what their modules ask for, without any compiler. The plain form is that of ``reflect --json``.

The module's numbers as Vulkan's words: a binding's type is VkDescriptorType's name less its prefix, a topology is
VkPrimitiveTopology's.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

from shaderstat.errors import InvalidSpirv, ShaderstatError, Unsupported
from shaderstat.inputs.entry_points import EntryChoice
from shaderstat.inputs.files import File
from shaderstat.inputs.files import read as read_file
from shaderstat.inputs.finding import find_files
from shaderstat.inputs.modules import nothing_to_compile, refusal
from shaderstat.model import Diagnostic
from shaderstat.pipeline.spec_values import Choice, mixed_types, resolve
from shaderstat.plain import dataclass
from shaderstat.registry import spirv as registry
from shaderstat.spirv.facts import Binding, EntryPoint, InterfaceVariable, Reflection, SpecConstant
from shaderstat.spirv.reflect import reflect
from shaderstat.spirv.scan import scan
from shaderstat.spirv.words import Words, load

VERSION = 1

Plain = dict[str, Any]

_TOPOLOGIES = {
    "points": "POINT_LIST",
    "lines": "LINE_LIST",
    "lines_adjacency": "LINE_LIST_WITH_ADJACENCY",
    "triangles": "TRIANGLE_LIST",
    "triangles_adjacency": "TRIANGLE_LIST_WITH_ADJACENCY",
}
_TESSELLATION = ("tessellation_control", "tessellation_evaluation")


@dataclass(frozen=True, slots=True)
class Reflected:
    """What a file came to.

    Attributes:
        path: for people and reports.
        sha256: of the file; empty where it couldn't be read.
        status: ``ok``, ``skipped``, ``invalid`` or ``unsupported``.
        reflection: the module's facts; None unless `status` is ``ok``.
        entries: the entry points that were asked for, each with its specialization applied.
        diagnostics: what there is to say of it.
    """

    path: str
    sha256: str = ""
    status: str = "ok"
    reflection: Reflection | None = None
    entries: tuple[EntryPoint, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def read(
    paths: Sequence[str | os.PathLike[str]], *, entries: Sequence[str] = (), spec: Sequence[Choice] = ()
) -> list[Reflected]:
    """Reflect every module that `paths` lead to.

    Args:
        entries: only entry points of such names, ``[STAGE:]NAME`` or a glob; empty for all.
        spec: values of specialization constants: (stage or None, SpecId or name, value).

    Raises:
        ShaderstatError: a path that leads nowhere, or something in `entries` or `spec` that no module has.
    """
    chosen = EntryChoice(entries)
    found: set[int] = set()
    result = [_file(file, chosen, spec, found) for file in find_files(paths)]
    chosen.close()
    for place, (stage, name, _) in enumerate(spec):
        if place not in found and any(one.entries for one in result):
            raise ShaderstatError(f"--spec {f'{stage}:' if stage else ''}{name}: no module has this constant")
    return result


def _file(file: File, chosen: EntryChoice, spec: Sequence[Choice], found: set[int]) -> Reflected:
    """`found` takes the places in `spec` of those that found a constant."""
    if file.problem is not None:
        return Reflected(file.path, status="invalid", diagnostics=(file.problem,))
    sha256, data = "", b""
    try:
        source, data = read_file(file)
        sha256 = source.sha256
        nothing = nothing_to_compile(scan(data))
        if nothing is not None:
            return Reflected(file.path, sha256, nothing[0], diagnostics=(nothing[1],))
        words = load(data)
        reflection = reflect(words)
        entries = tuple(_specialized(words, entry, spec, found) for entry in chosen(reflection.entries))
    except InvalidSpirv as error:
        return Reflected(file.path, sha256, "invalid", diagnostics=(refusal(error, file.path, data),))
    except Unsupported as error:
        said = Diagnostic("error", error.code, error.message, error.hint)
        return Reflected(file.path, sha256, "unsupported", diagnostics=(said,))
    said_once = dict.fromkeys(each for entry in entries for each in mixed_types(entry.spec_constants))
    return Reflected(file.path, sha256, "ok", reflection, entries, tuple(said_once))


def _specialized(words: Words, entry: EntryPoint, spec: Sequence[Choice], found: set[int]) -> EntryPoint:
    values, matched = resolve(spec, entry.stage, entry.spec_constants)
    found |= matched
    if not values:
        return entry
    return reflect(words, values, only=(entry.stage, entry.name)).entries[0]


# ── The plain form ────────────────────────────────────────────────────────────────────────────────────────────────


def to_plain(modules: Sequence[Reflected]) -> Plain:
    """All of it as JSON can hold it: ``{"schema": …, "modules": {PATH: {"status", "entries": […], …}}}``."""
    schema = {"name": "shaderstat-reflection", "version": VERSION}
    return {"schema": schema, "modules": {one.path: _module(one) for one in modules}}


def _module(one: Reflected) -> Plain:
    plain: Plain = {"sha256": one.sha256 or None, "status": one.status}
    if one.reflection is not None:
        facts = one.reflection
        plain |= {
            "spirv_version": "{}.{}".format(*facts.version),
            "generator": f"0x{facts.generator:08x}",
            "capabilities": [registry.name("Capability", number) for number in facts.capabilities],
            "extensions": list(facts.extensions),
            "unused_bindings": [_binding(each) for each in facts.unused_bindings],
        }
    plain["entries"] = [entry_to_plain(entry) for entry in one.entries]
    plain["diagnostics"] = [
        {
            "severity": each.severity,
            "code": each.code,
            "message": each.message,
            "hint": each.hint,
            "offset": each.offset,
        }
        for each in one.diagnostics
    ]
    return plain


def entry_to_plain(entry: EntryPoint) -> Plain:
    """One entry point. What its stage doesn't have is null, or an empty list."""
    pushed = entry.push_constants
    return {
        "name": entry.name,
        "stage": entry.stage,
        "bindings": [_binding(each) for each in entry.bindings],
        "set_layout_count": max((each.set + 1 for each in entry.bindings), default=0),
        "push_constants": {"offset": pushed.offset, "size": pushed.size} if pushed else None,
        "spec_constants": [_constant(each) for each in entry.spec_constants],
        "local_size": list(entry.local_size) if entry.local_size else None,
        "shared_bytes": entry.shared_bytes,
        "vertex_inputs": _attributes(entry.inputs) if entry.stage == "vertex" else [],
        "color_outputs": [_output(each) for each in entry.outputs] if entry.stage == "fragment" else [],
        "dual_source": entry.dual_source,
        "writes_depth": entry.writes_depth,
        "input_attachment_indices": list(entry.input_attachment_indices),
        "topology": _topology(entry),
        "patch_control_points": entry.patch_control_points,
        "domain": entry.topology if entry.stage in _TESSELLATION else None,
        "output_primitives": entry.topology if entry.stage == "mesh" else None,
        "inputs": [_variable(each) for each in entry.inputs],
        "outputs": [_variable(each) for each in entry.outputs],
        "built_ins": {
            "inputs": [registry.name("BuiltIn", number) for number in sorted(entry.builtins_in)],
            "outputs": [registry.name("BuiltIn", number) for number in sorted(entry.builtins_out)],
        },
    }


def _binding(binding: Binding) -> Plain:
    plain: Plain = {
        "set": binding.set,
        "binding": binding.binding,
        "type": binding.type,
        "count": binding.count,
        "name": binding.name,
    }
    if binding.alternatives:
        plain["alternatives"] = list(binding.alternatives)
    if binding.input_attachment_index is not None:
        plain["input_attachment_index"] = binding.input_attachment_index
    return plain


def _constant(constant: SpecConstant) -> Plain:
    """An id may stand on several constants: `other_types` where they are not all of the first one's type."""
    default = constant.default
    plain: Plain = {
        "id": constant.id,
        "name": constant.name,
        "type": constant.type,
        "default": default if math.isfinite(default) else _endless(float(default)),
    }
    if constant.other_types:
        plain["other_types"] = list(constant.other_types)
    return plain


def _endless(number: float) -> str:
    """JSON has no word for these; the report's are the same."""
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _topology(entry: EntryPoint) -> str | None:
    """VkPrimitiveTopology's name less its prefix, where the stage leaves no choice."""
    if entry.stage in _TESSELLATION:
        return "PATCH_LIST"
    return _TOPOLOGIES.get(entry.topology or "") if entry.stage == "geometry" else None


def _attributes(variables: Sequence[InterfaceVariable]) -> list[Plain]:
    """What vertex inputs must be fed by: an attribute for each location, from its first component to the last that is
    read, since inputs may share a location by Component and a format can't begin but at the first."""
    found: dict[tuple[int, str], int] = {}
    for each in variables:
        unit = 2 if each.width == 64 else 1  # a Component counts words of 32 bits
        place = each.location, type_word(each)
        found[place] = max(found.get(place, 0), each.component // unit + each.components)
    return [
        {"location": location, "component": 0, "type": word, "components": components}
        for (location, word), components in found.items()
    ]


def _output(variable: InterfaceVariable) -> Plain:
    return {
        "location": variable.location,
        "index": variable.index,
        "type": type_word(variable),
        "components": variable.components,
        "component": variable.component,
    }


def _variable(variable: InterfaceVariable) -> Plain:
    decorations = {
        "flat": variable.flat,
        "noperspective": variable.noperspective,
        "centroid": variable.centroid,
        "sample": variable.sample,
        "patch": variable.patch,
        "per_vertex": variable.per_vertex,
        "per_primitive": variable.per_primitive,
    }
    return {
        "location": variable.location,
        "component": variable.component,
        "type": type_word(variable),
        "components": variable.components,
        "name": variable.name,
        "decorations": [word for word, is_so in decorations.items() if is_so],
    }


def type_word(variable: InterfaceVariable) -> str:
    """``float``, ``int``, ``uint``; ``double`` for 64-bit floats; others with their width: ``int64``, ``float16``."""
    if variable.width == 32:
        return variable.scalar
    if variable.scalar == "float" and variable.width == 64:
        return "double"
    return f"{variable.scalar}{variable.width}"
