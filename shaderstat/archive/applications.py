"""The applications that an archive was captured from: drivers compile other code for some of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from shaderstat.archive.format import NAMES, Tag, name
from shaderstat.archive.layouts import chained
from shaderstat.archive.members import bad, hash_of, listed, number, read
from shaderstat.archive.records import Records
from shaderstat.errors import InvalidSpirv, Unsupported
from shaderstat.model import Diagnostic, Setup
from shaderstat.registry import vulkan

# Vulkan 1.0 applications are replayed as 1.1 by Fossilize as well: 1.0 has no way to ask for features.
_VULKAN_1_1 = 1 << 22 | 1 << 12


class Applications:
    """Which application each object of some archives is from, and what its device was like.

    Attributes:
        remarks: what of them can't be understood: pipelines are compiled without it.
    """

    def __init__(self, records: Records) -> None:
        """Read the applications, and the links where there are several of these."""
        remarks: list[Diagnostic] = []
        self._setups = {}
        for hash in records.hashes(Tag.APPLICATION):
            try:
                self._setups[hash] = _setup(records, hash, remarks)
            except (InvalidSpirv, Unsupported) as error:
                remarks.append(_unknown_features(error.message, records, hash))
                self._setups[hash] = Setup()
        self.remarks = tuple(remarks)
        self._none = Setup()
        self._links: dict[tuple[int, int], int] = {}
        if len(self._setups) > 1:
            for (tag, hash), application in _links(records):
                if application in self._setups:
                    known = self._links.setdefault((tag, hash), application)
                    self._links[tag, hash] = min(known, application)
        self._add_used(records)

    def _add_used(self, records: Records) -> None:
        """Features that an application must have had, since it used them, and that archives don't tell."""
        for tag, features in _USED:
            for hash in records.hashes(tag):
                try:
                    text = records.payload(tag, hash)
                except InvalidSpirv:
                    continue  # it will be told when it is compiled
                for pattern, names in features:
                    if pattern.search(text):
                        application = self._application(tag, hash)
                        before = self._none if application is None else self._setups[application]
                        after = replace(before, wished=tuple(dict.fromkeys((*before.wished, *names))))
                        if application is None:
                            self._none = after
                        else:
                            self._setups[application] = after

    def setup(self, tag: Tag, hash: int) -> Setup:
        """The device of the application that an object is from: of several, of the first in the order of their hashes;
        the usual device where none is known."""
        application = self._application(tag, hash)
        return self._none if application is None else self._setups[application]

    def _application(self, tag: Tag, hash: int) -> int | None:
        if not self._setups:
            return None
        return self._links.get((tag, hash), min(self._setups))


def _chained(struct: str) -> re.Pattern[bytes]:
    """Finds a structure in a payload's text."""
    found = vulkan.struct(struct)
    assert found is not None
    return re.compile(rb'"sType"\s*:\s*%d\b' % (found.s_type or 0))


_BORDER = "VkPhysicalDeviceCustomBorderColorFeaturesEXT"
_COLOURS = (
    _chained("VkSamplerCustomBorderColorCreateInfoEXT"),
    ((_BORDER, "customBorderColors"), (_BORDER, "customBorderColorWithoutFormat")),
)
_ROBUSTNESS = (
    _chained("VkPipelineRobustnessCreateInfo"),
    (("VkPhysicalDevicePipelineRobustnessFeatures", "pipelineRobustness"),),
)
# Left out of devices otherwise, since they change code: which records show that an application had them.
_USED = (
    (Tag.SAMPLER, (_COLOURS,)),
    (Tag.GRAPHICS, (_ROBUSTNESS,)),
    (Tag.COMPUTE, (_ROBUSTNESS,)),
    (Tag.RAY_TRACING, (_ROBUSTNESS,)),
)


def _links(records: Records) -> Iterator[tuple[tuple[int, int], int]]:
    """Those that can be read: a broken one costs nothing but itself."""
    for hash in records.hashes(Tag.LINK):
        with suppress(InvalidSpirv):
            link = records.document(Tag.LINK, hash).get("link")
            if isinstance(link, dict) and isinstance(link.get("tag"), int):
                yield (link["tag"], hash_of(link.get("hash"), "hash")), hash_of(link.get("application"), "application")


def _unknown_features(message: str, records: Records, hash: int) -> Diagnostic:
    return Diagnostic(
        "warning",
        "archive/application",
        f"{message}; its pipelines are compiled without it",
        path=records.path(Tag.APPLICATION, hash),
    )


def _setup(records: Records, hash: int, remarks: list[Diagnostic]) -> Setup:
    document = records.document(Tag.APPLICATION, hash)
    where = f"{NAMES[Tag.APPLICATION]} {name(hash)}"
    info = document.get("applicationInfo") or {}
    features = document.get("physicalDeviceFeatures") or {}
    if not isinstance(info, dict) or not isinstance(features, dict):
        raise bad(where, "objects are wanted")
    application: list[tuple[str, str | int]] = []
    for json, member in (
        ("applicationName", "pApplicationName"),
        ("engineName", "pEngineName"),
        ("applicationVersion", "applicationVersion"),
        ("engineVersion", "engineVersion"),
        ("apiVersion", "apiVersion"),
    ):
        value: Any = info.get(json)
        if value is None:
            continue
        if member.startswith("p"):
            if not isinstance(value, str) or "\0" in value:
                raise bad(f"{where}.{json}", f"{value!r:.60} is no name")
            application.append((member, value))
        else:
            number("uint32_t", value, f"{where}.{json}")
            application.append((member, max(value, _VULKAN_1_1) if member == "apiVersion" else value))
    switched = [("VkPhysicalDeviceFeatures", "robustBufferAccess", bool(features.get("robustBufferAccess", 0)))]
    for place, each in enumerate(listed(features.get("pNext") or [], f"{where}.pNext")):
        at = f"{where}.pNext[{place}]"
        s_type = each.get("sType") if isinstance(each, dict) else None
        struct = chained(s_type) if isinstance(s_type, int) else None
        if struct is None or "Features" not in struct:
            remarks.append(_unknown_features(f"{at}: no features have sType {s_type!r:.40}", records, hash))
            continue
        members = read(struct, each, at, lambda type, hash: None)
        switched += [(struct, member, bool(value)) for member, value in members.items()]
    return Setup(
        features=tuple(each for each in switched if not each[2]),
        application=tuple(application),
        wished=tuple((struct, member) for struct, member, on in switched if on),
    )
