"""``shaderstat.yaml``: named pipelines, their modules, and what is said of their state.

Everything is optional; paths are relative to the file. ``targets``, ``budgets`` and ``baseline`` are other readers'
business (`shaderstat.config.targets`, `shaderstat.config.budgets`)::

    files: shaders/**/*.spv                  # paired by their names, as on the command line
    pairing: {suffixes: [_vs, _ps, .vs]}     # endings of files and entry points that name a stage
    samplers: {linear: {magFilter: VK_FILTER_LINEAR}}
    defaults: {profile: dxvk, samples: 4}    # for every pipeline: any of what is said of a pipeline's state

    pipelines:
      water:
        modules:                             # one, or a list: a path, or more about it
        - water.vert.spv
        - path: library.spv                  # with flags and pNext of its VkPipelineShaderStageCreateInfo, too
          stage: fragment
          entry: water_ps
          pNext: {VkPipelineShaderStageRequiredSubgroupSizeCreateInfo: {requiredSubgroupSize: 32}}
        spec: {LIGHTS: [1, 2, 4], "fragment:0": true}   # all combinations; a list of mappings: each of them
        samples: 4                           # also subgroup_size, color_format, depth_format, topology, optimize,
        dynamic_buffers: uniform             # profile, push_descriptors (a set's number)
        immutable_samplers: linear
        graphics:                            # or compute, ray_tracing: members of its create info, under Vulkan's names
          pRasterizationState: {cullMode: VK_CULL_MODE_BACK_BIT}
          pNext:
            VkPipelineRobustnessCreateInfo:
              storageBuffers: VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_ROBUST_BUFFER_ACCESS
        layout:                              # VkPipelineLayoutCreateInfo; sets by number, bindings by theirs
          pSetLayouts: {0: {pBindings: [{binding: 1, descriptorType: VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC}]}}
        render_pass: {flags: 0}              # VkRenderPassCreateInfo2
        features: {VkPhysicalDeviceFeatures: {robustBufferAccess: true}}
        application: {pEngineName: Quake, apiVersion: 1.2}
        run: {draw: [36, 100], extent: [256, 256]}     # for shaderstat instrument: `shaderstat.config.manifest_run`
      post:
        files: post/**/*.spv                 # several pipelines of one state

    targets:                                 # compilers for -t, under names of one's own
      mine: {driver: build/radeon_icd.x86_64.json, gpu: "radv:navi31", environment: {RADV_DEBUG: nocache}}
      box: {prefix: ssh box, device: 0, python: python3.12}
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from shaderstat.config import wishes
from shaderstat.config.manifest_run import read_run
from shaderstat.config.reader import Node, read
from shaderstat.config.said import Entry, Features, Manifest, Piece, Said
from shaderstat.config.vulkan import read_chain, read_enum, read_member, read_struct
from shaderstat.model import STAGE_WORDS, SpecOption
from shaderstat.registry import vulkan

# A kind's create info, and what of it is said elsewhere or can't be.
CREATE_INFOS: Mapping[str, str] = {
    "graphics": "VkGraphicsPipelineCreateInfo",
    "compute": "VkComputePipelineCreateInfo",
    "ray_tracing": "VkRayTracingPipelineCreateInfoKHR",
}
ELSEWHERE = (
    "stageCount",
    "pStages",
    "stage",
    "layout",
    "renderPass",
    "basePipelineHandle",
    "basePipelineIndex",
    "pLibraryInfo",
)
LAYOUT, SET_LAYOUT, RENDER_PASS = (
    "VkPipelineLayoutCreateInfo",
    "VkDescriptorSetLayoutCreateInfo",
    "VkRenderPassCreateInfo2",
)
STAGE, SAMPLER, APPLICATION = "VkPipelineShaderStageCreateInfo", "VkSamplerCreateInfo", "VkApplicationInfo"

TOP = ("version", "files", "pairing", "samplers", "defaults", "pipelines", "targets", "budgets", "baseline")
SHORT = (*wishes.KINDS, "profile")
STATE = (*SHORT, *CREATE_INFOS, "layout", "render_pass", "features", "application", "spec", "run")
PIPELINE = ("modules", "files", *STATE)
MODULE = ("path", "stage", "entry", "flags", "pNext")


def read_manifest(path: str, *, runs: bool = False) -> Manifest:
    """Read a manifest.

    Args:
        runs: pipelines shall be run: what they are run with is read, too.

    Raises:
        ShaderstatError: the file can't be read, or says what isn't known here; with its line, and the nearest name.
    """
    root = read(path)
    return Manifest(path) if root is None else _Reader(path, runs).manifest(root)


class _Reader:
    """One file: what its parts refer to."""

    def __init__(self, path: str, runs: bool) -> None:
        self._path = path
        self._runs = runs
        self._folder = os.path.dirname(path)
        self._samplers: dict[str, dict[str, Any]] = {}

    def manifest(self, root: Node) -> Manifest:
        top = root.mapping(TOP)
        if "version" in top:
            top["version"].integer(1, 1)
        for name, node in (top["samplers"].table() if "samplers" in top else {}).items():
            self._samplers[name] = read_struct(node, SAMPLER, self._sampler_list)
        defaults = self._said(top["defaults"].mapping(STATE)) if "defaults" in top else Said()
        entries = []
        if "files" in top:
            entries.append(Entry("", (), self._files(top["files"]), Said()))
        if "pipelines" in top:
            entries += [self._entry(name, node) for name, node in top["pipelines"].table().items()]
        suffixes: tuple[str, ...] = ()
        if "pairing" in top:
            pairing = top["pairing"].mapping(("suffixes",))
            suffixes = tuple(_suffix(each) for each in pairing["suffixes"].one_or_more()) if pairing else ()
        return Manifest(self._path, tuple(entries), defaults, suffixes)

    def _entry(self, name: str, node: Node) -> Entry:
        if not name:
            raise node.error("a pipeline without a name")
        members = node.mapping(PIPELINE)
        if ("modules" in members) == ("files" in members):
            raise node.error(f"{name}: either modules or files is wanted: what shall be compiled")
        pieces = tuple(self._piece(each) for each in members["modules"].one_or_more()) if "modules" in members else ()
        files = self._files(members["files"]) if "files" in members else ()
        said = self._said({key: value for key, value in members.items() if key in STATE})
        return Entry(name, pieces, files, said)

    def _piece(self, node: Node) -> Piece:
        if not node.is_mapping:
            return Piece(self._module(node))
        members = node.mapping(MODULE, required=("path",))
        info: dict[str, Any] = {}
        if "flags" in members:
            info["flags"] = read_enum(members["flags"], "VkPipelineShaderStageCreateFlags")
        if "pNext" in members:
            info["pNext"] = read_chain(members["pNext"], STAGE, self._sampler_list)
        return Piece(
            self._module(members["path"]),
            _stage(members["stage"]) if "stage" in members else None,
            members["entry"].text() if "entry" in members else None,
            info,
        )

    def _module(self, node: Node) -> str:
        path = os.path.join(self._folder, node.text())
        if not os.path.lexists(path) and not _is_in_archive(path):
            known = (
                os.listdir(os.path.dirname(path) or os.curdir) if os.path.isdir(os.path.dirname(path) or ".") else []
            )
            close = difflib.get_close_matches(os.path.basename(path), known, n=1)
            raise node.error(f"{path}: no such file", f"did you mean {close[0]}?" if close else None)
        return path

    def _files(self, node: Node) -> tuple[str, ...]:
        return tuple(os.path.join(self._folder, each.text()) for each in node.one_or_more())

    # ── State ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _said(self, members: Mapping[str, Node]) -> Said:
        options: dict[str, Any] = {}
        layer: dict[str, Any] = {}
        for name, node in members.items():
            if name in CREATE_INFOS:
                layer[name] = read_struct(node, CREATE_INFOS[name], self._sampler_list, ELSEWHERE)
            elif name in wishes.KINDS:
                options[name] = self._short(name, node)
        if "layout" in members:
            layer["layout"] = self._layout(members["layout"])
        if "render_pass" in members:
            layer["render_pass"] = read_struct(members["render_pass"], RENDER_PASS, self._sampler_list)
        if options:
            layer["options"] = options
        return Said(
            layer,
            _checked(members["profile"], Node.text, wishes.profile) if "profile" in members else None,
            _features(members["features"]) if "features" in members else (),
            _application(members["application"]) if "application" in members else (),
            _spec(members["spec"]) if "spec" in members else (),
            read_run(members["run"], self._folder, files=self._runs) if "run" in members else {},
        )

    def _short(self, name: str, node: Node) -> Any:
        if name == "immutable_samplers":
            return self._sampler(node)
        return _SHORT[name](node)

    def _layout(self, node: Node) -> dict[str, Any]:
        """VkPipelineLayoutCreateInfo, with its set layouts in place of handles: by number, or all of them in a list."""
        found: dict[str, Any] = {}
        for name, value in node.mapping(("flags", "pSetLayouts", "pPushConstantRanges", "pNext")).items():
            if name == "pSetLayouts":
                sets = dict(enumerate(value.items())) if value.is_list else _by_number(value)
                found[name] = {
                    str(number): None if each.is_null else read_struct(each, SET_LAYOUT, self._sampler_list)
                    for number, each in sets.items()
                }
            else:
                found[name] = read_member(value, LAYOUT, name, self._sampler_list)
        return found

    def _sampler_list(self, node: Node) -> list[Any]:
        return [self._sampler(each) for each in node.one_or_more()]

    def _sampler(self, node: Node) -> dict[str, Any]:
        """A VkSamplerCreateInfo, or the name of one of ``samplers``."""
        if node.is_mapping:
            return read_struct(node, SAMPLER, self._sampler_list)
        return self._samplers[node.choice(list(self._samplers))]


def _by_number(node: Node) -> dict[int, Node]:
    found: dict[int, Node] = {}
    for key, value in node.pairs():
        found[key.integer(0, 255)] = value
    return found


def _suffix(node: Node) -> str:
    text = node.text()
    if not text or "/" in text:
        raise node.error("the ending of a name is wanted here", "_vs, for instance")
    return text


def _stage(node: Node) -> str:
    word = node.text()
    if word not in STAGE_WORDS:
        node.choice(list(STAGE_WORDS))
    return STAGE_WORDS[word]


def _checked(node: Node, read_: Callable[[Node], Any], check: Callable[[Any], Any]) -> Any:
    value = read_(node)
    try:
        return check(value)
    except wishes.Wrong as error:
        raise node.error(f"{value}: {error}", error.hint) from None


_SHORT: Mapping[str, Callable[[Node], Any]] = {
    "subgroup_size": lambda node: _checked(node, Node.integer, wishes.subgroup_size),
    "samples": lambda node: _checked(node, Node.integer, wishes.samples),
    "color_format": lambda node: _checked(node, Node.text, wishes.color_format),
    "depth_format": lambda node: _checked(node, Node.text, wishes.depth_format),
    "topology": lambda node: _checked(node, Node.text, wishes.topology),
    "optimize": Node.boolean,
    "dynamic_buffers": lambda node: node.choice(wishes.DYNAMIC_BUFFERS),
    "push_descriptors": lambda node: node.integer(0, 255),
}


def _features(node: Node) -> Features:
    found = []
    names = {struct.name: struct for struct in vulkan.feature_structs()}
    for name, members in node.table().items():
        struct = vulkan.struct(name)
        if struct is None or (struct.name not in names and struct.name != "VkPhysicalDeviceFeatures"):
            near = wishes.nearest(name, (*names, "VkPhysicalDeviceFeatures"))
            raise members.error(f"{name} is no struct of features", f"did you mean {near}?" if near else None)
        known = [member for member in struct.members if member not in ("sType", "pNext")]
        found += [(struct.name, member, its.boolean()) for member, its in members.mapping(known).items()]
    return tuple(found)


def _application(node: Node) -> tuple[tuple[str, str | int], ...]:
    members = node.mapping(("pApplicationName", "applicationVersion", "pEngineName", "engineVersion", "apiVersion"))
    return tuple((name, _name_or_version(name, value)) for name, value in members.items())


def _name_or_version(name: str, node: Node) -> str | int:
    """A name; or a version, as a number of VK_MAKE_API_VERSION or as ``1.2.3``."""
    if name.startswith("p"):
        return node.text()
    value = node.scalar()
    if isinstance(value, int) and not isinstance(value, bool):
        return node.integer()
    parts = str(value).split(".")
    if not 2 <= len(parts) <= 3 or not all(part.isascii() and part.isdigit() for part in parts):
        raise node.error("a version is wanted here", "1.2, for instance")
    major, minor, patch = (*map(int, parts), 0)[:3]
    if major > 127 or minor > 1023 or patch > 4095:
        raise node.error(f"{value} is no version of VK_MAKE_API_VERSION")
    return major << 22 | minor << 12 | patch


# ── Specialization ────────────────────────────────────────────────────────────────────────────────────────────────


def _spec(node: Node) -> tuple[tuple[SpecOption, ...], ...]:
    sets = node.items() if node.is_list else [node]
    if not sets:
        raise node.error("an empty list: leave it out")
    return tuple(tuple(_spec_option(key, value) for key, value in each.pairs()) for each in sets)


def _spec_option(key: Node, values: Node) -> SpecOption:
    name = key.scalar()
    if isinstance(name, bool) or not isinstance(name, int | str):
        raise key.error("the SpecId or the name of a constant is wanted here")
    word, colon, rest = str(name).partition(":")
    stage = STAGE_WORDS.get(word) if colon else None
    return SpecOption(stage, rest if stage else str(name), tuple(_spec_value(each) for each in values.one_or_more()))


def _is_in_archive(path: str) -> bool:
    """``captured.foz:078dec95bfd2d94c``: a module of an archive that is there."""
    archive, colon, hash = path.rpartition(":")
    return bool(colon) and re.fullmatch("[0-9a-f]{16}", hash) is not None and os.path.exists(archive)


def _spec_value(node: Node) -> str:
    """As on the command line: its type is the constant's business."""
    value = node.scalar()
    if isinstance(value, bool):
        return str(value).lower()
    if value is None or isinstance(value, str | int | float):
        text = node.source()
        if text:
            return text
    raise node.error("a value is wanted here")
