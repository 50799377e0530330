"""The second look at a module, for stages that may belong together: what their interfaces cover, word by word.

The scan knows where a variable begins; its type tells how far it goes: a matrix takes a location for each column, an
array for each element, a block for each member, and two variables may share a location by Component. Functions are
not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from shaderstat.plain import dataclass
from shaderstat.spirv.declare import Declarations
from shaderstat.spirv.facts import EXECUTION_MODELS, InterfaceVariable
from shaderstat.spirv.locations import INPUT, OUTPUT, interface
from shaderstat.spirv.parse import parse
from shaderstat.spirv.words import load


@dataclass(frozen=True, slots=True)
class Interfaces:
    """User-defined inputs and outputs of an entry point, as in `shaderstat.spirv.facts.EntryPoint`."""

    inputs: tuple[InterfaceVariable, ...]
    outputs: tuple[InterfaceVariable, ...]


@dataclass(frozen=True, slots=True)
class Misfit:
    """What a stage reads, and what the stage before it writes there instead; None for nothing."""

    reads: str
    writes: str | None = None


def interfaces(data: bytes) -> dict[tuple[str, str], Interfaces]:
    """The interfaces of every entry point, by stage and name; specialization constants have their defaults.

    Args:
        data: a file as read.

    Raises:
        InvalidSpirv, Unsupported: as `shaderstat.spirv.reflect.reflect`, for all that stands before the functions.
    """
    module = parse(load(data), functions=False)
    declarations = Declarations(module, {})
    found = {}
    for entry in module.entries:
        stage = EXECUTION_MODELS.get(entry.model)
        if stage is None:
            continue
        listed = [declarations.variable(id) for id in entry.interface if id in module.variables]
        found[stage, entry.name] = Interfaces(
            *(
                interface(stage, storage, (each for each in listed if each.storage == storage)).located
                for storage in (INPUT, OUTPUT)
            )
        )
    return found


def misfit(before: Iterable[InterfaceVariable], after: Iterable[InterfaceVariable]) -> Misfit | None:
    """The first thing wrong between a stage's outputs and the next one's inputs; None where they match.

    Every location and component that is read must be written (VUID-RuntimeSpirv-OpEntryPoint-08743), with the same
    type and width (-07754), for a patch or primitive as for a vertex ("Interface Matching"). That more is written than
    read is no fault, and neither is interpolation.
    """
    written = dict(_words(before))
    missing: dict[tuple[int, str], list[int]] = {}
    for place, type_ in _words(after):
        location, word, whose = place
        there = written.get(place)
        if there is None:
            missing.setdefault((location, whose), []).append(word)
        elif there != type_ and not missing:
            return Misfit(f"location {location} as {type_}", there)
    if not missing:
        return None
    location, whose = min(missing)
    if any((location, word, whose) in written for word in range(4)):
        words = ", ".join(map(str, sorted(set(missing[location, whose]))))
        return Misfit(f"component {words} of location {location}{whose}")
    found = sorted(each for each, others in missing if others == whose)
    return Misfit(f"location {', '.join(map(str, found[:8]))}{whose}")


# Location, component, and whose it is: a vertex's, a patch's or a primitive's.
_Place = tuple[int, int, str]


def _words(variables: Iterable[InterfaceVariable]) -> Iterator[tuple[_Place, str]]:
    """Every component of 32 bits with its type; one of 64 bits takes two, a narrower one takes one all the same."""
    for each in variables:
        whose = " of a patch" if each.patch else " of a primitive" if each.per_primitive else ""
        type_ = f"{each.scalar}{each.width}"
        for word in range(each.component, each.component + each.components * max(each.width // 32, 1)):
            yield (each.location + word // 4, word % 4, whose), type_
