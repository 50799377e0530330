"""Input and Output variables, location by location (Vulkan specification, "Location and Component Assignment").

The functions here recurse once a level of nesting, of which `shaderstat.spirv.declare` allows 255.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from shaderstat.errors import InvalidSpirv, Unsupported
from shaderstat.plain import dataclass
from shaderstat.spirv.facts import InterfaceVariable, Type, Variable

INPUT, OUTPUT = 1, 3

_BUILT_IN, _NO_PERSPECTIVE, _FLAT, _PATCH, _CENTROID, _SAMPLE = 11, 13, 14, 15, 16, 17
_LOCATION, _COMPONENT, _INDEX, _PER_PRIMITIVE, _PER_VERTEX = 30, 31, 32, 5271, 5285

# Devices have some 32 vertex attributes and 128 components between stages; what asks for more than this is no shader.
MAX_LOCATIONS = 4096

# Where an interface's outer array stands for vertices (or a mesh's vertices and primitives), patches aside.
_ARRAYED = frozenset(
    {
        ("tessellation_control", INPUT),
        ("tessellation_control", OUTPUT),
        ("tessellation_evaluation", INPUT),
        ("geometry", INPUT),
        ("mesh", OUTPUT),
    }
)

_Decorations = Mapping[int, tuple[int, ...]]


@dataclass(slots=True)
class Interface:
    """One direction of an entry point: its variables in the module's order, what they hold by location, built-ins."""

    variables: tuple[Variable, ...]
    located: tuple[InterfaceVariable, ...]
    builtins: frozenset[int]


def interface(stage: str, storage: int, variables: Iterable[Variable]) -> Interface:
    """The interface of `stage` made of `variables`, all of storage class `storage`.

    Raises:
        InvalidSpirv: ``limit/interface``.
        Unsupported: ``spirv/interface-type``.
    """
    variables = tuple(variables)
    located: list[InterfaceVariable] = []
    builtins: set[int] = set()
    slots = _Slots()
    total = 0
    for variable in variables:
        if variable.builtin is not None:
            builtins.add(variable.builtin)
            continue
        type, decorations = variable.type, variable.decorations
        block = _innermost(type)
        inside = {each for member in block.members for each in member.decorations}
        if _BUILT_IN in inside:
            builtins.update(each.decorations[_BUILT_IN][0] for each in block.members if _BUILT_IN in each.decorations)
        patch = _PATCH in decorations or _PATCH in inside
        per_vertex = _PER_VERTEX in decorations or _PER_VERTEX in inside
        if type.element and type.kind in ("array", "runtime_array"):
            if per_vertex or ((stage, storage) in _ARRAYED and not patch):
                type = type.element
        total += slots.of(type)
        if total > MAX_LOCATIONS:
            raise InvalidSpirv("limit/interface", f"an interface of more than {MAX_LOCATIONS} locations")
        location = decorations[_LOCATION][0] if _LOCATION in decorations else None
        component = decorations[_COMPONENT][0] if _COMPONENT in decorations else 0
        located += _flatten(slots, type, decorations, location, component, variable.name)
    located.sort(key=lambda each: (each.location, each.component, each.index))
    return Interface(variables, tuple(located), frozenset(builtins))


def _innermost(type: Type) -> Type:
    """What an array, of arrays perhaps, is made of."""
    while type.kind in ("array", "runtime_array") and type.element:
        type = type.element
    return type


class _Slots:
    """How many locations a type takes, each type counted once."""

    def __init__(self) -> None:
        self._known: dict[int, int] = {}

    def of(self, type: Type) -> int:
        known = self._known.get(type.id)
        if known is None:
            known = self._known[type.id] = self._count(type)
        return known

    def _count(self, type: Type) -> int:
        match type.kind:
            case "array" | "matrix":
                return type.length * self.of(type.element) if type.element else 0
            case "struct":
                return sum(self.of(each.type) for each in type.members if _BUILT_IN not in each.decorations)
            case "vector":
                # 64-bit vectors of three and four components take two.
                return 2 if type.element and type.element.width == 64 and type.length > 2 else 1
            case "runtime_array":
                return 0
        return 1


def _flatten(
    slots: _Slots, type: Type, decorations: _Decorations, location: int | None, component: int, name: str
) -> Iterator[InterfaceVariable]:
    """One variable for each location that `type` takes from `location` on. Without one (and without one on a member)
    there is nothing to name it by: such a variable is left out, as the validator refuses it."""
    if type.kind == "struct":
        for member in type.members:
            if _BUILT_IN in member.decorations:
                continue
            if _LOCATION in member.decorations:
                location = member.decorations[_LOCATION][0]
            own = member.decorations.get(_COMPONENT, (0,))[0]
            inner = {**decorations, **member.decorations}
            label = f"{name}.{member.name}" if name else member.name
            yield from _flatten(slots, member.type, inner, location, own, label)
            if location is not None:
                location += slots.of(member.type)
    elif type.kind in ("array", "matrix") and type.element:
        step = slots.of(type.element)
        for position in range(type.length if step else 0):
            at = None if location is None else location + position * step
            yield from _flatten(slots, type.element, decorations, at, component, f"{name}[{position}]")
    elif location is not None:
        yield _leaf(type, decorations, location, component, name)


def _leaf(type: Type, decorations: _Decorations, location: int, component: int, name: str) -> InterfaceVariable:
    scalar = type.element if type.kind == "vector" and type.element else type
    kind: Literal["float", "int", "uint"]
    width = scalar.width
    if scalar.kind == "float":
        kind = "float"
    elif scalar.kind == "int":
        kind = "int" if scalar.signed else "uint"
    elif scalar.kind == "pointer":
        kind, width = "uint", 64  # a physical address
    else:
        raise Unsupported(
            "spirv/interface-type", f"interface variable {name or f'at location {location}'} has type {scalar.kind}"
        )
    return InterfaceVariable(
        location=location,
        component=component,
        scalar=kind,
        width=width,
        components=type.length if type.kind == "vector" else 1,
        name=name,
        index=decorations.get(_INDEX, (0,))[0],
        flat=_FLAT in decorations,
        noperspective=_NO_PERSPECTIVE in decorations,
        centroid=_CENTROID in decorations,
        sample=_SAMPLE in decorations,
        patch=_PATCH in decorations,
        per_vertex=_PER_VERTEX in decorations,
        per_primitive=_PER_PRIMITIVE in decorations,
    )
