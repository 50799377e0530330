"""Write the JSON Schema of ``shaderstat.yaml``, for editors: every member and every name that may stand in it.

    python tools/generate_config_schema.py           writes shaderstat/schemas/config-1.json
    python tools/generate_config_schema.py --check   exit status 1 where it is stale

What Vulkan's structs may hold is taken from the registry, as the reader takes it (`shaderstat.config.vulkan`).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from shaderstat.config import manifest, manifest_run, runs, wishes
from shaderstat.config.vulkan import FLOATS, INTEGERS, KEYS, extensions_of, struct_members
from shaderstat.model import STAGE_WORDS, UNANSWERED
from shaderstat.registry import vulkan

TARGET = Path(__file__).parent.parent / "shaderstat" / "schemas" / "config-1.json"

Plain = dict[str, Any]

TEXT: Plain = {"type": "string"}
NULL: Plain = {"type": "null"}
NUMBER: Plain = {"type": "integer", "minimum": 0}


class Schema:
    """The schema, with the structs and enumerations that were asked for so far."""

    def __init__(self) -> None:
        self.definitions: dict[str, Plain] = {}

    def document(self) -> Plain:
        """All of it."""
        top: Plain = {
            "version": {"const": 1},
            "files": {"description": "Globs, relative to this file; paired by their names.", **one_or_more(TEXT)},
            "pairing": described(
                "How names tell what belongs together.",
                {"suffixes": {"description": "Endings that name a stage: _vs, .ps.", **one_or_more(TEXT)}},
            ),
            "samplers": {"type": "object", "additionalProperties": self.struct(manifest.SAMPLER)},
            "defaults": {"$ref": "#/$defs/state"},
            "pipelines": {"type": "object", "additionalProperties": {"$ref": "#/$defs/pipeline"}},
            "targets": {
                "description": "Compilers for -t, under names of one's own.",
                "type": "object",
                "propertyNames": {"pattern": "^[A-Za-z0-9_][A-Za-z0-9_.+-]*$"},
                "additionalProperties": {"$ref": "#/$defs/target"},
            },
        }
        top["baseline"] = {"description": "What limits with a sign are set against, relative to this file.", **TEXT}
        top["budgets"] = {"type": "array", "items": {"$ref": "#/$defs/budget"}}
        self.definitions["budget"] = self.budget()
        self.definitions["run"] = self.run()
        state = self.state()
        self.definitions["state"] = described("What is said of every pipeline's state.", state)
        self.definitions["pipeline"] = described(
            "A pipeline: its modules, or files that make several, and what is said of its state.",
            {"modules": one_or_more({"$ref": "#/$defs/module"}), "files": one_or_more(TEXT), **state},
        ) | {"oneOf": [{"required": ["modules"]}, {"required": ["files"]}]}
        plain = {"type": ["string", "number", "boolean"]}
        self.definitions["target"] = described(
            "A compiler: a driver just built, other variables, another machine.",
            {
                "driver": {"description": "Its manifest, relative to this file; behind a prefix a path there.", **TEXT},
                "gpu": {"description": "DRIVER:GPU, a target without a GPU that this one is otherwise like.", **TEXT},
                "device": {"description": "The number of a device of the Vulkan loader.", **NUMBER},
                "environment": {"type": "object", "additionalProperties": plain},
                "prefix": {"description": "What its process is put behind: ssh box.", **one_or_more(TEXT)},
                "python": {"description": "The interpreter behind the prefix.", **TEXT},
            },
        ) | {"not": {"required": ["gpu", "device"]}}
        module = {
            "path": TEXT,
            "stage": {"enum": list(STAGE_WORDS)},
            "entry": TEXT,
            "flags": self.enumeration("VkPipelineShaderStageCreateFlags"),
            "pNext": self.chain(manifest.STAGE),
        }
        self.definitions["module"] = {"anyOf": [TEXT, described("A module.", module) | {"required": ["path"]}]}
        self.definitions["sampler"] = {
            "anyOf": [{"type": "string", "description": "One of samplers."}, self.struct(manifest.SAMPLER)]
        }
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "urn:shaderstat:config:1",
            "title": "shaderstat.yaml, version 1",
            **described("Pipelines, and what is said of their state.", top),
            "$defs": dict(sorted(self.definitions.items())),
        }

    def budget(self) -> Plain:
        """A rule of ``shaderstat check``."""
        limits: Plain = {
            "type": "object",
            "additionalProperties": {"type": ["number", "string"], "pattern": r"^[+-]?[0-9][0-9_]*(\.[0-9]+)?( ?%)?$"},
        }
        globs = one_or_more(TEXT)
        return described(
            "Limits, and what they are for; what is not said is all.",
            {
                "name": TEXT,
                "pipeline": {"description": "Globs over pipelines' names.", **globs},
                "stage": globs,
                "executable": {"description": "Globs over the driver's own names.", **globs},
                "target": globs,
                "max": {"description": "By key or name; with a sign: from the baseline.", **limits},
                "min": limits,
                "compile_time": {"description": "Seconds, or 500 ms.", "type": ["number", "string"]},
                "allow": one_or_more({"enum": list(UNANSWERED)}),
                "severity": {"enum": ["error", "warning"]},
            },
        ) | {"anyOf": [{"required": [name]} for name in ("max", "min", "compile_time", "allow")]}

    def state(self) -> Plain:
        """What may be said of a pipeline's state."""
        formats = [name.removeprefix("VK_FORMAT_") for name in vulkan.values("VkFormat")]
        value = {"type": ["string", "number", "boolean"]}
        spec = {"type": "object", "additionalProperties": one_or_more(value)}
        short: Plain = {
            "subgroup_size": {"enum": list(wishes.SUBGROUP_SIZES)},
            "samples": {"enum": list(wishes.SAMPLES)},
            "color_format": names("VK_FORMAT_", [each for each in formats if not wishes.is_depth(each)]),
            "depth_format": names("VK_FORMAT_", [each for each in formats if wishes.is_depth(each)]),
            "topology": names(
                "VK_PRIMITIVE_TOPOLOGY_",
                [name.removeprefix("VK_PRIMITIVE_TOPOLOGY_") for name in vulkan.values("VkPrimitiveTopology")],
            ),
            "optimize": {"type": "boolean"},
            "dynamic_buffers": {"enum": list(wishes.DYNAMIC_BUFFERS)},
            "push_descriptors": {**NUMBER, "description": "The set whose descriptors are pushed."},
            "immutable_samplers": {"$ref": "#/$defs/sampler"},
            "profile": {"enum": list(wishes.PROFILES), "description": "The stack whose features are enabled."},
        }
        features = {
            struct.name: described(
                "", {member: {"type": "boolean"} for member in struct.members if member not in ("sType", "pNext")}
            )
            for struct in (*vulkan.feature_structs(), vulkan.struct("VkPhysicalDeviceFeatures"))
            if struct is not None
        }
        return {
            **short,
            **{kind: self.struct(name, manifest.ELSEWHERE) for kind, name in manifest.CREATE_INFOS.items()},
            "layout": self.layout(),
            "render_pass": self.struct(manifest.RENDER_PASS),
            "features": described("Device features, on or off.", features),
            "application": described(
                "VkApplicationInfo.",
                {
                    name: TEXT if name.startswith("p") else {"type": ["integer", "string", "number"]}
                    for name in struct_members(manifest.APPLICATION, ("pNext",))
                },
            ),
            "spec": {"anyOf": [spec, {"type": "array", "items": spec, "minItems": 1}]},
            "run": {"$ref": "#/$defs/run"},
        }

    def run(self) -> Plain:
        """``run:``."""

        def table(text: str, keys: str, value: Plain) -> Plain:
            members = {"type": "object", "additionalProperties": False, "patternProperties": {keys: value}}
            return {"description": text, **members}

        number = {"type": "integer", "minimum": 1}
        one: Plain = {"anyOf": [number, TEXT, {"type": "array", "items": number, "minItems": 1, "maxItems": 3}]}
        slot, fill = r"^[0-9]+\.[0-9]+$", "zeros, random or iota, :SIZE; or a file."
        return described(
            "How shaderstat instrument runs it.",
            {
                **{
                    name: {
                        "description": f"{runs.FORMS[kind][1]}; a list of such lists is several.",
                        "anyOf": [*one["anyOf"], {"type": "array", "items": one}],
                    }
                    for name, kind in manifest_run.COMMANDS.items()
                },
                "extent": {
                    "description": "W,H of the off-screen target.",
                    "anyOf": [TEXT, {"type": "array", "items": number, "minItems": 2, "maxItems": 2}],
                },
                "repeat": {"description": "How often it is submitted.", **number, "maximum": runs.MAX_REPEAT},
                "accumulate": {"description": "Let counts add up over the submissions.", "type": "boolean"},
                "metrics": {"description": "false: without instrumentation.", "type": "boolean"},
                "buffers": table(f"By SET.BINDING: {fill}", slot, TEXT),
                "images": table("By SET.BINDING: WxH, then :zeros, :random:SEED, :iota or a file.", slot, TEXT),
                "vertices": table(f"By the vertex buffer's binding: {fill}", "^[0-9]+$", TEXT),
                "push": {"description": "Bytes in hexadecimal, or a file.", "type": ["string", "integer"]},
                "read": table("By SET.BINDING: the file that the buffer goes to after the run.", slot, TEXT),
            },
        )

    def layout(self) -> Plain:
        """VkPipelineLayoutCreateInfo, its sets in place of handles."""
        set_layout = {"anyOf": [self.struct(manifest.SET_LAYOUT), {"type": "null"}]}
        own = self.members(manifest.LAYOUT, ("setLayoutCount", "pushConstantRangeCount"))
        own["pSetLayouts"] = {
            "description": "By number, or all of them in a list.",
            "anyOf": [
                {"type": "array", "items": set_layout},
                {"type": "object", "additionalProperties": False, "patternProperties": {"^[0-9]+$": set_layout}},
            ],
        }
        return described(manifest.LAYOUT, own)

    # ── Vulkan ────────────────────────────────────────────────────────────────────────────────────────────────────

    def struct(self, name: str, left_out: tuple[str, ...] = ()) -> Plain:
        """A reference to a struct's definition, which is made when it is first asked for."""
        if name not in self.definitions:
            self.definitions[name] = {}
            definition = described("", self.members(name, left_out))
            self.definitions[name] = definition
        return {"$ref": f"#/$defs/{name}"}

    def members(self, name: str, left_out: tuple[str, ...]) -> Plain:
        """The members of a struct that can be said; null takes one away."""
        found: Plain = {}
        for key, member in struct_members(name, left_out).items():
            if key == "pNext":
                found[key] = self.chain(name)
                continue
            value = self.value(member.type)
            if value is None:
                continue
            if member.type == "VkSampler":
                value = {"anyOf": [value, {"type": "array", "items": value}]}
            elif member.length and not vulkan.is_flags(member.type):
                value = {"type": "array", "items": value}
                if key in KEYS:
                    value["description"] = f"By {KEYS[key]}: those that aren't named stay as they are."
            elif member.length:
                value = {"anyOf": [value, {"type": "array", "items": value}]}
            found[key] = {"anyOf": [*value["anyOf"], NULL]} if [*value] == ["anyOf"] else {"anyOf": [value, NULL]}
        return found

    def chain(self, parent: str) -> Plain:
        """``pNext``."""
        structs = {name: {"anyOf": [self.struct(name), {"type": "null"}]} for name in sorted(extensions_of(parent))}
        return described(f"Structs that extend {parent}, by name.", structs)

    def value(self, type_: str) -> Plain | None:
        """One value of a type; None for handles."""
        if type_ == "VkSampler":
            return {"$ref": "#/$defs/sampler"}
        if vulkan.struct(type_) is not None:
            return self.struct(type_)
        if type_ == "VkBool32":
            return {"enum": [True, False, 0, 1]}
        if type_ in FLOATS:
            return {"type": ["number", "string"]}
        if type_ in INTEGERS:
            return {"type": ["integer", "string"]}
        if type_ == "char":
            return TEXT
        if vulkan.values(type_) or vulkan.is_flags(type_):
            return self.enumeration(type_)
        return None

    def enumeration(self, type_: str) -> Plain:
        """A reference to the names of an enumeration or of flags."""
        if type_ not in self.definitions:
            known = list(vulkan.values(type_))
            if "Flags" in type_:
                one: Plain = {"enum": known} if known else {"type": "string"}
                several = {"type": "string", "pattern": r"^VK_\w+( *\| *VK_\w+)+$"}
                choices = [one, several, {"type": "array", "items": one}, {"type": "integer"}]
                self.definitions[type_] = {"anyOf": choices}
            else:
                self.definitions[type_] = {"anyOf": [{"enum": known}, {"type": "integer"}]}
        return {"$ref": f"#/$defs/{type_}"}


def described(text: str, members: Plain) -> Plain:
    """A mapping of these members and no others."""
    head = {"description": text} if text else {}
    return {**head, "type": "object", "additionalProperties": False, "properties": members}


def one_or_more(item: Plain) -> Plain:
    """A list, or the one value that stands in its place."""
    return {"anyOf": [item, {"type": "array", "items": item}]}


def names(prefix: str, words: list[str]) -> Plain:
    """Names that may lack their prefix."""
    return {"anyOf": [{"enum": words}, {"type": "string", "pattern": f"^{prefix}"}]}


def lines(document: Plain) -> str:
    """A line for each member and each definition, so that two versions can be compared."""
    definitions = ",\n  ".join(f"{json.dumps(name)}: {compact(each)}" for name, each in document["$defs"].items())
    head = "".join(f" {json.dumps(name)}: {compact(each)},\n" for name, each in document.items() if name != "$defs")
    return f'{{\n{head} "$defs": {{\n  {definitions}\n }}\n}}\n'


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def main() -> int:
    text = lines(Schema().document())
    if "--check" in sys.argv[1:]:
        if TARGET.exists() and TARGET.read_text() == text:
            return 0
        print(f"{TARGET} is stale: python tools/generate_config_schema.py", file=sys.stderr)
        return 1
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
