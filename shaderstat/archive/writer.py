"""Pipelines as a stream archive that Fossilize's own tools replay, under the names that they would have given."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any, BinaryIO

from shaderstat.archive import hashes
from shaderstat.archive.format import DEFLATED, GENERATED, HEADER, MAGIC, OWN, TOPS, VERSION, Tag, name
from shaderstat.archive.hash_graphics import graphics
from shaderstat.archive.layouts import FIELDS
from shaderstat.archive.members import write
from shaderstat.archive.varints import encode
from shaderstat.errors import Unsupported
from shaderstat.model import Setup
from shaderstat.pipeline.spec import PipelineSpec, Plain
from shaderstat.registry import vulkan

_CONVERSION = "VkSamplerYcbcrConversionCreateInfo"
_USUAL = Setup()
_APPLICATION = (
    ("pApplicationName", "applicationName"),
    ("pEngineName", "engineName"),
    ("applicationVersion", "applicationVersion"),
    ("engineVersion", "engineVersion"),
    ("apiVersion", "apiVersion"),
)


class Writer:
    """Writes an archive, every object in it once.

    Attributes:
        pipelines: how many of them there are.
    """

    def __init__(self, stream: BinaryIO) -> None:
        """Write the header; `stream` stays the caller's."""
        self._stream = stream
        self._written: set[tuple[Tag, int]] = set()
        stream.write(MAGIC.ljust(15, b"\0") + bytes([VERSION]))

    @property
    def pipelines(self) -> int:
        return sum(tag in (Tag.GRAPHICS, Tag.COMPUTE, Tag.RAY_TRACING) for tag, _ in self._written)

    def add(self, spec: PipelineSpec, setup: Setup = _USUAL) -> int:
        """Write a pipeline and what it refers to.

        Args:
            setup: the device that it was compiled on; the usual one leaves no trace.

        Returns:
            Its hash.

        Raises:
            Unsupported: ``archive/unknown-structure`` or ``archive/unknown-member``: Fossilize has no word for some
                of its state. What it refers to may have been written.
        """
        of_application = self._application(setup) if setup != _USUAL else None
        return _Pipeline(self, spec, of_application).hash

    def put(
        self, tag: Tag, hash: int, document: Mapping[str, Any], of_application: int | None, binary: bytes = b""
    ) -> None:
        """Write one entry, unless it is there, and its link to an application."""
        if (tag, hash) not in self._written:
            text = json.dumps({"version": VERSION, **document}, separators=(",", ":")).encode()
            self._entry(tag, hash, text + (b"\0" + binary if tag is Tag.MODULE else b""))
        if of_application is not None and tag is not Tag.APPLICATION:
            linked = hashes.link(of_application, tag, hash)
            if (Tag.LINK, linked) not in self._written:
                link = {"application": name(of_application), "tag": int(tag), "hash": name(hash)}
                text = json.dumps({"version": VERSION, "link": link}, separators=(",", ":")).encode()
                self._entry(Tag.LINK, linked, text)

    def _entry(self, tag: Tag, hash: int, payload: bytes) -> None:
        packed = zlib.compress(payload, 6)
        key = f"{int(tag):024x}{name(hash)}".encode()
        self._stream.write(HEADER.pack(key, len(packed), DEFLATED, zlib.crc32(packed), len(payload)) + packed)
        self._written.add((tag, hash))

    def _application(self, setup: Setup) -> int:
        """An application of which nothing is known but what its device was like: profiles are no word of Fossilize's,
        their features are."""
        from shaderstat.pipeline import profiles

        said = profiles.application(setup)
        info: dict[str, Any] = {json: said[member] for member, json in _APPLICATION if member in said}
        if info:
            for json_name in ("applicationVersion", "engineVersion", "apiVersion"):
                info.setdefault(json_name, 0)
        features: dict[str, Any] = {"robustBufferAccess": 0}
        chain: dict[str, dict[str, Any]] = {}
        for (struct, member), on in profiles.switched(setup).items():
            if (struct, member) == ("VkPhysicalDeviceFeatures", "robustBufferAccess"):
                features["robustBufferAccess"] = int(on)
            elif struct in FIELDS and member in FIELDS[struct].split():
                chain.setdefault(struct, {})[member] = int(on)
        if chain:
            features["pNext"] = [
                {"sType": _s_type(struct), **{each: members.get(each, 0) for each in FIELDS[struct].split()}}
                for struct, members in chain.items()
            ]
        document = {"applicationInfo": info, "physicalDeviceFeatures": features}
        hash = hashes.application(document)
        self.put(Tag.APPLICATION, hash, document, None)
        return hash


class _Pipeline:
    """One pipeline on its way into an archive: what it refers to is written first."""

    def __init__(self, writer: Writer, spec: PipelineSpec, of_application: int | None) -> None:
        self._writer = writer
        self._spec = spec
        self._of_application = of_application
        self._hashes: dict[tuple[str, Any], int] = {}
        self.hash = self._pipeline()

    def _pipeline(self) -> int:
        spec = self._spec
        tag, struct = {
            "compute": (Tag.COMPUTE, "VkComputePipelineCreateInfo"),
            "graphics": (Tag.GRAPHICS, "VkGraphicsPipelineCreateInfo"),
            "ray_tracing": (Tag.RAY_TRACING, "VkRayTracingPipelineCreateInfoKHR"),
        }[spec.kind]
        plain = {"layout": 0, **spec.create_info}
        if any(struct.startswith("VkPipelineCreateFlags2CreateInfo") for struct, _ in plain.get("pNext") or ()):
            plain["flags"] = 0  # they are for nothing then, and Fossilize records none
        if spec.render_pass is not None:
            plain["renderPass"] = 0
        record = write(struct, plain, self._reference)
        if spec.kind == "compute":
            hash = hashes.compute(record)
        elif spec.kind == "ray_tracing":
            hash = hashes.ray_tracing(record)
        else:
            hash = graphics(record, self._render_pass_record)
        own = {OWN: {GENERATED: spec.synthetic_stages}} if spec.synthetic_stages else {}
        return self._put(tag, hash, record, own=own)

    def _put(self, tag: Tag, hash: int, record: Plain, top: str = "", own: Plain | None = None) -> int:
        self._writer.put(tag, hash, {top or TOPS[tag][0]: {name(hash): record}, **(own or {})}, self._of_application)
        return hash

    def _reference(self, type: str, value: Any) -> Any:
        """The hash of what an index of the spec stands for; written when it is first asked for. Of an embedded sampler
        its members, the conversion among them."""
        if type == "VkSamplerCreateInfo":
            return self._with_conversion(value)
        key = (type, value)
        if key not in self._hashes:
            self._hashes[key] = self._object(type, value)
        return self._hashes[key]

    def _object(self, type: str, index: int) -> int:
        spec = self._spec
        if type == "VkShaderModule":
            return self._module(spec.modules[index].words)
        if type == "VkSampler":
            return self._sampler(spec.samplers[index])
        if type == "VkPipeline":
            return _Pipeline(self._writer, spec.libraries[index], self._of_application).hash
        if type == "VkDescriptorSetLayout":
            record = write("VkDescriptorSetLayoutCreateInfo", spec.set_layouts[index], self._reference)
            return self._put(Tag.SET_LAYOUT, hashes.set_layout(record), record)
        if type == "VkPipelineLayout":
            record = write("VkPipelineLayoutCreateInfo", spec.layout, self._reference)
            return self._put(Tag.PIPELINE_LAYOUT, hashes.pipeline_layout(record), record)
        assert type == "VkRenderPass" and spec.render_pass is not None
        record = write(spec.render_pass_type, spec.render_pass, self._reference)
        if spec.render_pass_type == "VkRenderPassCreateInfo":
            return self._put(Tag.RENDER_PASS, hashes.render_pass(record), record, "renderPasses")
        return self._put(Tag.RENDER_PASS, hashes.render_pass2(record), record, "renderPasses2")

    @property
    def _render_pass_record(self) -> Plain | None:
        spec = self._spec
        if spec.render_pass is None:
            return None
        return write(spec.render_pass_type, spec.render_pass, self._reference)

    def _sampler(self, plain: Plain) -> int:
        record = write("VkSamplerCreateInfo", self._with_conversion(plain), self._reference)
        return self._put(Tag.SAMPLER, hashes.sampler(record), record)

    def _with_conversion(self, plain: Plain) -> Plain:
        chain = []
        for struct, members in plain.get("pNext") or ():
            if struct == "VkSamplerYcbcrConversionInfo":
                struct, members = _CONVERSION, self._spec.conversions[members["conversion"]]
            chain.append([struct, members])
        return {**plain, "pNext": chain}

    def _module(self, words: bytes) -> int:
        hash = hashes.module(words)
        packed = encode(words)
        record = {"varintOffset": 0, "varintSize": len(packed), "codeSize": len(words), "flags": 0}
        document = {TOPS[Tag.MODULE][0]: {name(hash): record}}
        self._writer.put(Tag.MODULE, hash, document, self._of_application, packed)
        return hash


def _s_type(struct: str) -> int:
    found = vulkan.struct(struct)
    if found is None or found.s_type is None:
        raise Unsupported("archive/unknown-structure", f"{struct} has no sType")
    return found.s_type
