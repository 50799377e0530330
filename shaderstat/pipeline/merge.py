"""Plain data laid over plain data, as `shaderstat.pipeline.spec` has it.

What is laid over is written as people write it, and as JSON can hold it: ``pNext`` is a mapping from a struct's name to
its members.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Lists whose elements have a number of their own: what is said of one leaves the others as they are.
KEYS: Mapping[str, str] = {
    "pBindings": "binding",
    "pVertexBindingDescriptions": "binding",
    "pVertexAttributeDescriptions": "location",
}


def lay(over: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """`over` on top of `base`: structs member by member, `KEYS`' lists element by element, anything else as a whole;
    None takes a member away."""
    result = dict(base)
    for name, value in over.items():
        below = result.get(name)
        if value is None:
            result.pop(name, None)
        elif name == "pNext":
            result["pNext"] = _chain(value, below or [])
        elif isinstance(value, Mapping):
            result[name] = lay(value, below if isinstance(below, Mapping) else {})
        elif name in KEYS:
            result[name] = _elements(value, below or [], KEYS[name])
        elif isinstance(value, list):
            result[name] = [lay(each, {}) if isinstance(each, Mapping) else each for each in value]
        else:
            result[name] = value
    if result.get("pNext") == []:
        del result["pNext"]
    return result


def _chain(over: Mapping[str, Any], base: list[Any]) -> list[list[Any]]:
    structs: dict[str, Any] = {name: members for name, members in base}
    for name, members in over.items():
        if members is None:
            structs.pop(name, None)
        else:
            structs[name] = lay(members, structs.get(name, {}))
    return [[name, members] for name, members in structs.items()]


def _elements(over: list[Any], base: list[Any], key: str) -> list[dict[str, Any]]:
    elements = {each[key]: each for each in base}
    for each in over:
        elements[each[key]] = lay(each, elements.get(each[key], {}))
    return [elements[number] for number in sorted(elements)]
