"""What is known of statistics: one YAML file per driver, chosen by VkDriverId, never by a device's name.

A file maps the driver's own names (and the names that other versions give the same thing) to a key that drivers share,
a unit, the direction that is good, a role and the label that driver developers know. Names are matched with case
folded, since drivers change it between versions (NVK: ``Code Size``, ``Code size``). What a file does not name stays
unknown, and is shown all the same.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from shaderstat.memory import Memory
from shaderstat.model import Device, Driver
from shaderstat.plain import dataclass

# VkDriverId (vk.xml) to the file's stem. The mock has no VkDriverId and is known by its name.
FILES: Mapping[int, str] = {
    1: "amd",
    2: "amd",
    3: "radv",
    4: "nvidia",
    5: "intel",
    6: "anv",
    18: "turnip",
    19: "v3dv",
    20: "panvk",
    24: "nvk",
    25: "pvr",
    26: "honeykrisp",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """What a dictionary says of one statistic; see `shaderstat.model.StatisticInfo` for the words.

    Attributes:
        bits: how many of the value's low bits mean something: 32 for a checksum of 32 bits in a UINT64, or where a
            driver writes only half of it.
    """

    key: str | None = None
    unit: str | None = None
    better: str | None = None
    role: str = "info"
    label: str | None = None
    note: str | None = None
    bits: int = 64


UNKNOWN = Entry()
UNKNOWN_HASH = Entry(role="identity")


@dataclass(frozen=True, slots=True)
class Dictionary:
    """The entries of one driver on one device, by case-folded name."""

    entries: Mapping[str, Entry]

    def lookup(self, name: str) -> Entry:
        """What is known of the statistic `name`: `UNKNOWN` where nothing is, `UNKNOWN_HASH` where its name ends in
        "hash", so that no unknown checksum is ever summed."""
        folded = name.casefold().strip()
        return self.entries.get(folded) or (UNKNOWN_HASH if folded.endswith("hash") else UNKNOWN)


def load(driver: Driver, device: Device | None = None, memory: Memory | None = None) -> Dictionary:
    """The dictionary of a driver. Without a file for it, an empty one.

    Args:
        device: settles what differs between a driver's GPUs; without it they are taken to be of the newest kind.
        memory: where what a file says is kept, since reading YAML takes longer than all lookups of a run.
    """
    stem = FILES.get(driver.id, "")
    if not driver.id and "mock" in driver.name.casefold():
        stem = "mock"
    return _load(stem, device.name if device else "", memory) if stem else Dictionary({})


def by_name(stem: str) -> Dictionary:
    """The dictionary of a file."""
    return _load(stem, "")


def whose(names: Iterable[str]) -> str | None:
    """The file's stem of the one driver that has statistics of these names, most of them at least; None where none
    has, or several. For tables that don't say what driver they are of; where a driver is named, that counts."""
    folded = {name.casefold().strip() for name in names}
    known = {stem: len(folded & by_name(stem).entries.keys()) for stem in dict.fromkeys(FILES.values())}
    ranked = sorted(known, key=lambda stem: -known[stem])
    best, second = known[ranked[0]], known[ranked[1]]
    return ranked[0] if best > second and 10 * best >= 8 * len(folded) else None


def _load(stem: str, device: str, memory: Memory | None = None) -> Dictionary:
    words = set(re.findall(r"\w+", device.casefold()))
    entries: dict[str, Entry] = {}
    for name, stored in read(stem, memory).items():
        given = dict(stored)
        aliases = given.pop("aliases", ())
        for case in given.pop("devices", ()):
            if words.intersection(case["chips"]):
                given.update({word: value for word, value in case.items() if word != "chips"})
        entry = Entry(**given)
        for each in (name, *aliases):
            entries[each.casefold()] = entry
    return Dictionary(entries)


def read(stem: str, memory: Memory | None = None) -> Mapping[str, Mapping[str, Any]]:
    """The statistics of one file as written: name → members of `Entry`, ``aliases`` (further names) and ``devices``
    (``chips``, words of a device's name in lower case, and the members that differ there)."""
    data = (Path(__file__).parent / f"{stem}.yaml").read_bytes()
    question = "dictionary", hashlib.sha256(data).hexdigest()
    statistics: Mapping[str, Mapping[str, Any]] | None = memory.fact(*question) if memory is not None else None
    if statistics is None:
        import yaml  # 20 ms, the C loader; the pure one takes seven times as long for a file

        statistics = yaml.load(data, getattr(yaml, "CSafeLoader", yaml.SafeLoader))["statistics"]
        assert statistics is not None
        if memory is not None:
            memory.note_fact(statistics, *question)
    return statistics
