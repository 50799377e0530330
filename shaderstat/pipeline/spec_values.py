"""Specialization values as a person types them, made into values of the constants' own types.

``0x`` integers are numbers in every type: 0x10 is 16 for a float too, as in C; ``0x1.8p3`` is C's hexadecimal float.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from shaderstat.errors import Unsupported
from shaderstat.model import Diagnostic
from shaderstat.spirv.facts import SpecConstant

# (stage or None for every stage, SpecId or name, value)
Choice = tuple[str | None, str, str]

_WORDS = {"true": True, "false": False}
_FLOATS = {"float16": "<e", "float32": "<f", "float64": "<d"}


def resolve(
    choices: Sequence[Choice], stage: str, constants: Sequence[SpecConstant]
) -> tuple[dict[int, int | float | bool], set[int]]:
    """The values that `choices` give to one module's constants.

    A choice that names a constant by its name reaches every constant of that name; a later choice wins.

    Returns:
        Values by SpecId, and the places in `choices` of those that found a constant.

    Raises:
        Unsupported: ``spirv/spec-value`` where a value is none of the constant's type.
    """
    values: dict[int, int | float | bool] = {}
    found: set[int] = set()
    for place, (wanted_stage, wanted, text) in enumerate(choices):
        if wanted_stage not in (None, stage):
            continue
        for constant in constants:
            if wanted == (str(constant.id) if wanted.isdecimal() else constant.name):
                values[constant.id] = value(text, constant)
                found.add(place)
    return values, found


def mixed_types(constants: Sequence[SpecConstant]) -> list[Diagnostic]:
    """A remark on each SpecId that stands on constants of several types: its value reaches all of them, bit for bit."""
    return [
        Diagnostic(
            "warning",
            "spirv/spec-id-types",
            f"specialization constant {each.id} is {' and '.join((each.type, *each.other_types))} in one module:"
            " a value reaches all of them, bit for bit",
        )
        for each in constants
        if each.other_types
    ]


def value(text: str, constant: SpecConstant) -> int | float | bool:
    """`text` as a value of the constant's type.

    Raises:
        Unsupported: ``spirv/spec-value``.
    """
    try:
        if constant.type == "bool":
            return _bool(text)
        if constant.type in _FLOATS:
            return _float(text, _FLOATS[constant.type])
        return _int(text, constant.type)
    except (ValueError, OverflowError):
        name = f" ({constant.name})" if constant.name else ""
        raise Unsupported(
            "spirv/spec-value",
            f"{text!r} is no {constant.type}: the type of specialization constant {constant.id}{name}",
            hint="write a number in the type's range, decimal or 0x…; true or false for a bool",
        ) from None


def _bool(text: str) -> bool:
    word = text.strip().lower()
    if word in _WORDS:
        return _WORDS[word]
    number = int(word, 0)
    if number not in (0, 1):
        raise ValueError(text)
    return number == 1


def _int(text: str, kind: str) -> int:
    word = text.strip().lower()
    number = int(_WORDS[word]) if word in _WORDS else int(word, 0)
    width = int(kind.lstrip("uint"))
    if kind.startswith("u"):
        low, high = 0, 2**width - 1
    else:
        low, high = -(2 ** (width - 1)), 2 ** (width - 1) - 1
        if "x" in word and high < number < 2**width:
            number -= 2**width  # 0xffffffff is how people write an int32 of −1
    if not low <= number <= high:
        raise ValueError(text)
    return number


def _float(text: str, packing: str) -> float:
    word = text.strip().lower()
    if word.lstrip("+-").startswith("0x"):
        number = float.fromhex(word) if "p" in word or "." in word else float(int(word, 16))
    else:
        number = float(word)
    if math.isfinite(number):
        struct.pack(packing, number)  # raises OverflowError where the type can't hold it
    return number
