"""Write the Vulkan tables from vk.xml, as the package vulkan-object ships it.

    python tools/generate_vulkan_registry.py           writes both files
    python tools/generate_vulkan_registry.py --check   exit status 1 where one is stale

- shaderstat/registry/_generated_vulkan.py: names and numbers. Tuples of constants: Python folds them into one
  marshalled constant, so that importing them costs a read of the .pyc and no byte code.
- shaderstat/backends/vulkan/_generated_ffi.py: the C types that the package `vulkan` lacks, as a compiled (ABI) cffi
  module, so that no C is parsed at run time.

What is in them follows from ROOTS: every struct that these reach or that extends one of those; from RUN_ROOTS; and
every enumeration in them. Platforms' own types and videos are left out.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent.parent / "shaderstat"
TABLES = PACKAGE / "registry" / "_generated_vulkan.py"
FFI = PACKAGE / "backends" / "vulkan" / "_generated_ffi.py"

# What a pipeline is made of: an extension that adds to these, or to their enumerations, is enabled on the device.
PIPELINE_ROOTS = (
    "VkComputePipelineCreateInfo",
    "VkGraphicsPipelineCreateInfo",
    "VkRayTracingPipelineCreateInfoKHR",
    "VkPipelineLayoutCreateInfo",
    "VkDescriptorSetLayoutCreateInfo",
    "VkSamplerCreateInfo",
    "VkRenderPassCreateInfo2",
    "VkRenderPassCreateInfo",
    "VkShaderModuleCreateInfo",
)
ROOTS = (
    *PIPELINE_ROOTS,
    "VkSamplerYcbcrConversionCreateInfo",
    "VkInstanceCreateInfo",
    "VkDeviceCreateInfo",
    "VkPhysicalDeviceFeatures2",
    "VkPhysicalDeviceProperties2",
    "VkFormatProperties2",
    "VkExtensionProperties",
    "VkQueueFamilyProperties",
    "VkPipelineInfoKHR",
    "VkPipelineExecutableInfoKHR",
    "VkPipelineExecutablePropertiesKHR",
    "VkPipelineExecutableStatisticKHR",
    "VkPipelineExecutableInternalRepresentationKHR",
    "VkShaderInstrumentationCreateInfoARM",
    "VkShaderInstrumentationMetricDescriptionARM",
    "VkShaderInstrumentationMetricDataHeaderARM",
)
# What a pipeline is run with; what extends these is taken only where it is named.
RUN_ROOTS = (
    "VkAccelerationStructureBuildGeometryInfoKHR",
    "VkAccelerationStructureBuildRangeInfoKHR",
    "VkAccelerationStructureBuildSizesInfoKHR",
    "VkAccelerationStructureCreateInfoKHR",
    "VkAccelerationStructureDeviceAddressInfoKHR",
    "VkBufferCreateInfo",
    "VkBufferDeviceAddressInfo",
    "VkBufferImageCopy",
    "VkBufferViewCreateInfo",
    "VkClearValue",
    "VkCommandBufferAllocateInfo",
    "VkCommandBufferBeginInfo",
    "VkCommandPoolCreateInfo",
    "VkDescriptorPoolCreateInfo",
    "VkDescriptorPoolInlineUniformBlockCreateInfo",
    "VkDescriptorSetAllocateInfo",
    "VkDescriptorSetVariableDescriptorCountAllocateInfo",
    "VkFenceCreateInfo",
    "VkFramebufferCreateInfo",
    "VkImageCreateInfo",
    "VkImageMemoryBarrier",
    "VkImageViewCreateInfo",
    "VkMemoryAllocateFlagsInfo",
    "VkMemoryAllocateInfo",
    "VkMemoryBarrier",
    "VkMemoryRequirements",
    "VkPhysicalDeviceMemoryProperties",
    "VkRenderPassBeginInfo",
    "VkRenderingInfo",
    "VkStridedDeviceAddressRegionKHR",
    "VkSubmitInfo",
    "VkWriteDescriptorSet",
    "VkWriteDescriptorSetAccelerationStructureKHR",
    "VkWriteDescriptorSetInlineUniformBlock",
)
MORE_ENUMS = ("VkResult", "VkSubgroupFeatureFlagBits", "VkFormatFeatureFlagBits", "VkFormatFeatureFlagBits2")

# Enumerations that many extensions add to without touching pipelines.
NOT_TELLING = {
    "VkStructureType",
    "VkObjectType",
    "VkImageLayout",
    "VkImageAspectFlagBits",
    "VkDependencyFlagBits",
    "VkPipelineStageFlagBits",
    "VkPipelineStageFlagBits2",
    "VkAccessFlagBits",
    "VkAccessFlagBits2",
    "VkAccessFlagBits3KHR",
}
# Extensions that the rule does not find: they change which SPIR-V or which state is valid without adding a type to it,
# or others depend on them. VK_KHR_portability_subset must be enabled where it is listed (VUID 04451).
MORE_EXTENSIONS = {
    "VK_KHR_maintenance1",
    "VK_KHR_maintenance3",
    "VK_KHR_maintenance4",
    "VK_KHR_maintenance6",
    "VK_KHR_maintenance7",
    "VK_KHR_maintenance9",
    "VK_KHR_spirv_1_4",
    "VK_KHR_relaxed_block_layout",
    "VK_KHR_uniform_buffer_standard_layout",
    "VK_KHR_shader_subgroup_extended_types",
    "VK_KHR_zero_initialize_workgroup_memory",
    "VK_KHR_acceleration_structure",
    "VK_KHR_deferred_host_operations",
    "VK_KHR_device_address_commands",
    "VK_KHR_device_fault",
    "VK_KHR_get_memory_requirements2",
    "VK_KHR_bind_memory2",
    "VK_KHR_format_feature_flags2",
    "VK_KHR_image_format_list",
    "VK_KHR_imageless_framebuffer",
    "VK_KHR_copy_commands2",
    "VK_KHR_driver_properties",
    "VK_KHR_depth_clamp_zero_one",
    "VK_KHR_pipeline_library_group_handles",
    "VK_KHR_portability_subset",
    "VK_KHR_robustness2",
    "VK_KHR_timeline_semaphore",
    "VK_EXT_scalar_block_layout",
    "VK_EXT_depth_range_unrestricted",
    "VK_EXT_depth_clamp_zero_one",
    "VK_EXT_dynamic_rendering_unused_attachments",
    "VK_EXT_fragment_density_map2",
    "VK_EXT_image_2d_view_of_3d",
    "VK_EXT_image_robustness",
    "VK_EXT_legacy_vertex_attributes",
    "VK_EXT_pipeline_library_group_handles",
    "VK_EXT_primitive_topology_list_restart",
    "VK_EXT_primitives_generated_query",
    "VK_EXT_rgba10x6_formats",
    "VK_EXT_robustness2",
    "VK_EXT_separate_stencil_usage",
    "VK_EXT_shader_object",
    "VK_EXT_shader_uniform_buffer_unsized_array",
    "VK_EXT_vertex_attribute_robustness",
    "VK_EXT_ycbcr_image_arrays",
    "VK_QCOM_tile_properties",
}
# What the rule finds and a compiler has no use for.
LESS_EXTENSIONS = re.compile(
    r"_video_|_external_memory_|_binary_import|_cuda_|_external_compute_queue|_optical_flow|_validation_cache"
    r"|_buffer_collection|_ray_tracing_validation|_device_generated_commands"
)
COMMANDS = (
    "vkEnumeratePhysicalDeviceShaderInstrumentationMetricsARM",
    "vkCreateShaderInstrumentationARM",
    "vkDestroyShaderInstrumentationARM",
    "vkCmdBeginShaderInstrumentationARM",
    "vkCmdEndShaderInstrumentationARM",
    "vkGetShaderInstrumentationValuesARM",
    "vkClearShaderInstrumentationMetricsARM",
)

TABLES_HEAD = '''"""Generated by tools/generate_vulkan_registry.py of vk.xml {version}: do not edit.

CONSTANTS: "NAME=value …" of plain numbers.
ENUMS: (type, "NAME=value …") of enumerations and flag bits; where a value has several names, today's comes first.
STRUCTS: (name, sType or -1, core version or "", extensions, aliases, extends, members), a member being "name:type" or
"name:type:len" (vk.xml's len, blanks left out; of arrays in the struct itself "[4]").
PROMOTED: (struct, "member=Struct.member …"): where the members of VkPhysicalDeviceVulkan1x{{Features,Properties}} stood
before.
PROVIDED: (name of an enumeration's value or of a flag bit, "VK_EXT_a VK_VERSION_1_3"): what brings it, any of them;
of those that pipelines are made of and that Vulkan 1.0 lacks.
EXTENSIONS: (device extension, "A+B C+D"): what it depends on, as alternatives of names that are all needed.
SPIRV: (capability or SPIR-V extension, alternatives), one of them being enough: (version, extension, struct, feature,
requires, property, member, value); requires is "A,B": one of them. "" where a part isn't said.
"""

# fmt: off

from __future__ import annotations

'''
FFI_HEAD = '''"""Generated by tools/generate_vulkan_registry.py of vk.xml {version}: do not edit.

The C types that the package `vulkan` lacks. Handles are `void *`, so that those of its ffi go in as they are.
"""

# fmt: off
# ruff: noqa
# mypy: ignore-errors

'''


class Registry:
    """vk.xml with what is asked of it here."""

    def __init__(self, vk: Any) -> None:
        self.vk = vk
        self.version: str = vk.headerVersionComplete
        platform = {name for name, each in vk.extensions.items() if each.platform not in (None, "provisional")}
        self.left_out = {
            name for name, each in vk.structs.items() if each.extensions and set(each.extensions) <= platform
        }
        self.structs = sorted({*self.reach(ROOTS), *self.reach(RUN_ROOTS, extended=False)})

    def reach(self, roots: tuple[str, ...], *, extended: bool = True) -> list[str]:
        """The structs that `roots` hold or point to, and those that extend one of them (if `extended`), sorted."""
        found: set[str] = set()
        todo = list(roots)
        while todo:
            name = todo.pop()
            struct = self.vk.structs.get(name)
            if struct is None or name in found or name in self.left_out or struct.videoStdHeader or "Video" in name:
                continue
            found.add(name)
            todo += [member.type for member in struct.members]
            todo += struct.extendedBy if extended else ()
        return sorted(found)

    def enums_of(self, structs: list[str]) -> set[str]:
        """The enumerations and flag bits in the members of `structs`."""
        found = set()
        for name in structs:
            for member in self.vk.structs[name].members:
                if member.type in self.vk.enums or member.type in self.vk.bitmasks:
                    found.add(member.type)
                flags = self.vk.flags.get(member.type)
                if flags is not None and flags.bitmaskName:
                    # the registry's accessors rely on the spelling
                    assert flags.bitmaskName == re.sub(r"Flags(\d*)", r"FlagBits\1", member.type), flags
                    found.add(flags.bitmaskName)
        return found

    def values(self, enum: str) -> str:
        """ENUMS' text for one type."""
        if enum in self.vk.enums:
            fields = self.vk.enums[enum].fields
        else:
            fields = self.vk.bitmasks[enum].flags
        pairs = [(field.name, field.value) for field in fields]
        pairs += [(alias, field.value) for field in fields for alias in field.aliases]
        return " ".join(f"{name}={value}" for name, value in pairs)

    def s_type(self, struct: Any) -> int:
        if struct.sType is None:
            return -1
        for field in self.vk.enums["VkStructureType"].fields:
            if struct.sType == field.name or struct.sType in field.aliases:
                return int(field.value)
        raise ValueError(f"{struct.name}: no {struct.sType}")

    def struct(self, name: str) -> tuple[object, ...]:
        """One row of STRUCTS."""
        struct = self.vk.structs[name]
        members = []
        for member in struct.members:
            text = f"{member.name}:{member.type}"
            if member.length and member.pointer:
                text += ":" + member.length.replace(" ", "")
            elif member.fixedSizeArray:
                text += ":" + "".join(f"[{self.size(size)}]" for size in member.fixedSizeArray)
            members.append(text)
        version = struct.version.name.removeprefix("VK_VERSION_").replace("_", ".") if struct.version else ""
        if not version and not struct.extensions:
            version = "1.0"
        return (
            name,
            self.s_type(struct),
            version,
            " ".join(struct.extensions),
            " ".join(struct.aliases),
            " ".join(each for each in struct.extends if each in self.structs),
            " ".join(members),
        )

    def promoted(self) -> list[tuple[str, str]]:
        rows = []
        for name in self.structs:
            parts = []
            for member in self.vk.structs[name].members:
                alias = member.capabilityAlias
                if alias is not None and hasattr(alias, "struct"):
                    parts.append(f"{member.name}={alias.struct}.{alias.member}")
                elif alias is not None:
                    parts.append(f"{member.name}={alias.name}")
            if parts:
                rows.append((name, " ".join(parts)))
        return rows

    def provided(self) -> list[tuple[str, str]]:
        rows = {}
        for enum in sorted(self.enums_of(self.reach(PIPELINE_ROOTS)) - NOT_TELLING):
            for field in self.vk.enums[enum].fields if enum in self.vk.enums else self.vk.bitmasks[enum].flags:
                versions = [each for each in field.definingRequirements if each.startswith("VK_VERSION_")]
                if field.extending and "VK_VERSION_1_0" not in versions:
                    rows[field.name] = " ".join([*field.extensions, *versions])
        return sorted(rows.items())

    def extensions(self) -> list[tuple[str, str]]:
        """The device extensions that touch what a pipeline is made of, or that SPIR-V needs."""
        structs = set(self.reach(PIPELINE_ROOTS))
        enums = self.enums_of(sorted(structs)) - NOT_TELLING
        spirv: set[str] = set()
        for each in self.vk.spirv:
            for enable in each.enable:
                spirv.update((enable.extension or enable.requires or "").split(","))
        rows = []
        for name, extension in sorted(self.vk.extensions.items()):
            if not extension.device or extension.platform not in (None, "provisional") or LESS_EXTENSIONS.search(name):
                continue
            if (
                name in spirv
                or name in MORE_EXTENSIONS
                or any(struct.name in structs for struct in extension.structs)
                or any(fields and enum in enums for enum, fields in extension.enumFields.items())
                or any(flags and bits in enums for bits, flags in extension.flagBits.items())
            ):
                needs = alternatives(extension.depends) if extension.depends else []
                rows.append((name, " ".join("+".join(sorted(each)) for each in needs)))
        return rows

    def spirv(self) -> list[tuple[str, tuple[tuple[str, ...], ...]]]:
        rows = []
        for each in sorted(self.vk.spirv, key=lambda each: str(each.name)):
            enables = []
            for enable in each.enable:
                version = (enable.version or "").removeprefix("VK_VERSION_").replace("_", ".")
                parts = (enable.extension, enable.struct, enable.feature, enable.requires)
                rest = (enable.property, enable.member, enable.value)
                enables.append((version, *(part or "" for part in (*parts, *rest))))
            rows.append((each.name, tuple(enables)))
        return rows

    def tables(self) -> str:
        """The text of `TABLES`."""
        enums = sorted(self.enums_of(self.structs) - {"VkStructureType"} | set(MORE_ENUMS))
        constants = ((name, constant.value) for name, constant in sorted(self.vk.constants.items()))
        text = TABLES_HEAD.format(version=self.version)
        text += f"VERSION = ({self.version.replace('.', ', ')})\n\n"
        text += f"CONSTANTS = {quoted(' '.join(f'{name}={value}' for name, value in constants))}\n"
        text += table("ENUMS", "tuple[str, str]", [(enum, self.values(enum)) for enum in enums])
        text += table(
            "STRUCTS", "tuple[str, int, str, str, str, str, str]", [self.struct(each) for each in self.structs]
        )
        text += table("PROMOTED", "tuple[str, str]", self.promoted())
        text += table("PROVIDED", "tuple[str, str]", self.provided())
        text += table("EXTENSIONS", "tuple[str, str]", self.extensions())
        text += table("SPIRV", "tuple[str, tuple[tuple[str, str, str, str, str, str, str, str], ...]]", self.spirv())
        return text

    # ── The second FFI ────────────────────────────────────────────────────────────────────────────────────────────

    def lacking(self, known: Any) -> list[str]:
        """The structs of the tables that `known`, the ffi of the package vulkan, has under no name. Feature structs are
        not among them: the builder writes those without a C type."""
        return [
            name
            for name in self.structs
            if "VkPhysicalDeviceFeatures2" not in self.vk.structs[name].extends
            and not any(has_type(known, each) for each in (name, *self.vk.structs[name].aliases))
        ]

    def declarations(self, names: list[str], commands: tuple[str, ...]) -> str:
        """C declarations of `names` and of all that they hold, for cffi."""
        ordered: list[str] = []

        def visit(name: str) -> None:
            struct = self.vk.structs[name]
            for member in struct.members:
                if member.type in self.vk.structs and member.type not in ordered and member.type != name:
                    visit(member.type)
            if name not in ordered:
                ordered.append(name)

        for name in names:
            visit(name)
        lines = [f"typedef {self.kind(name)} {name} {name};" for name in ordered]
        for name in ordered:
            members = " ".join(self.member(member) for member in self.vk.structs[name].members)
            lines.append(f"{self.kind(name)} {name} {{ {members} }};")
        for name in commands:
            command = self.vk.commands[name]
            parameters = ", ".join(self.c_type(each) for each in command.params)
            returns = "int32_t" if command.returnType == "VkResult" else command.returnType
            lines.append(f"typedef {returns} (*PFN_{name})({parameters});")
        return "\n".join(lines)

    def kind(self, name: str) -> str:
        return "union" if self.vk.structs[name].union else "struct"

    def member(self, member: Any) -> str:
        sizes = "".join(f"[{self.size(size)}]" for size in member.fixedSizeArray)
        bits = f" : {member.bitFieldWidth}" if member.bitFieldWidth else ""
        return f"{self.c_type(member)} {member.name}{sizes}{bits};"

    def size(self, size: str) -> int:
        constant = self.vk.constants.get(size)
        return int(constant.value if constant else size)

    def c_type(self, each: Any) -> str:
        """The type of a member or parameter in plain C: enumerations as int32_t, handles as void *."""
        name = str(each.type)
        stars = "*" * each.fullType.count("*")
        if name == "VkAllocationCallbacks":  # always NULL here
            plain = "void"
        elif name in self.vk.handles or name.startswith("PFN_"):
            plain = "void *"
        elif name in self.vk.structs:
            plain = name
        elif name in self.vk.enums:
            plain = "int32_t"
        elif name in self.vk.bitmasks or name in self.vk.flags:
            width = (self.vk.bitmasks.get(name) or self.vk.flags[name]).bitWidth
            plain = f"uint{width}_t"
        else:
            plain = {
                "VkBool32": "uint32_t",
                "VkSampleMask": "uint32_t",
                "VkDeviceSize": "uint64_t",
                "VkDeviceAddress": "uint64_t",
            }.get(name, name)
        return f"{plain}{stars}"

    def ffi(self) -> str:
        """The text of `FFI`."""
        declarations = self.declarations(self.lacking(vulkan_ffi()), COMMANDS)
        return FFI_HEAD.format(version=self.version) + compiled(declarations)


def compiled(declarations: str) -> str:
    """Python text of a compiled (ABI) cffi module whose `ffi` has parsed `declarations`."""
    import cffi

    builder = cffi.FFI()
    builder.cdef(declarations)
    builder.set_source("_generated_ffi", None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ffi.py"
        with contextlib.redirect_stdout(None):  # it says what it writes
            builder.emit_python_code(str(path))
        lines = path.read_text().splitlines()
    return "\n".join(line for line in lines if not line.startswith("#")).strip() + "\n"


def has_type(ffi: Any, name: str) -> bool:
    try:
        ffi.typeof(name)
    except Exception as error:  # its own class, ffi.error, which a compiled FFI does not export by name
        if type(error).__name__ not in ("error", "FFIError"):
            raise
        return False
    return True


def vulkan_ffi() -> Any:
    """The ffi of the package vulkan, without the package: importing that needs a Vulkan loader."""
    for path in importlib.metadata.files("vulkan") or ():
        if path.as_posix() == "vulkan/_vulkancache.py":
            spec = importlib.util.spec_from_file_location("_vulkancache", str(path.locate()))
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module.ffi
    raise FileNotFoundError("the package vulkan has no _vulkancache.py")


def alternatives(depends: str) -> list[frozenset[str]]:
    """vk.xml's `depends` ("," is or, "+" is and) as a list of alternatives, those that another one implies left out."""
    tokens = re.findall(r"[(),+]|[\w:]+", depends)

    def alternation() -> list[frozenset[str]]:
        found = conjunction()
        while tokens and tokens[0] == ",":
            tokens.pop(0)
            found = found + conjunction()
        return found

    def conjunction() -> list[frozenset[str]]:
        found = atom()
        while tokens and tokens[0] == "+":
            tokens.pop(0)
            found = [left | right for right in atom() for left in found]
        return found

    def atom() -> list[frozenset[str]]:
        token = tokens.pop(0)
        if token != "(":
            return [frozenset({token})]
        found = alternation()
        assert tokens.pop(0) == ")"
        return found

    found = alternation()
    assert not tokens, depends
    return [each for each in found if not any(other < each for other in found)]


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def literal(value: object) -> str:
    if isinstance(value, tuple):
        inner = ", ".join(literal(each) for each in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return quoted(value) if isinstance(value, str) else str(value)


def table(name: str, row_type: str, rows: list[Any]) -> str:
    body = "".join(f"    {literal(row)},\n" for row in rows)
    return f"\n{name}: tuple[{row_type}, ...] = (\n{body})\n"


def generate() -> dict[Path, str]:
    """The text of each file."""
    from vulkan_object import get_vulkan_object

    registry = Registry(get_vulkan_object())
    return {TABLES: registry.tables(), FFI: registry.ffi()}


def main() -> int:
    stale = {path: text for path, text in generate().items() if not path.exists() or path.read_text() != text}
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path} is stale: python tools/generate_vulkan_registry.py", file=sys.stderr)
        return 1 if stale else 0
    for path, text in stale.items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
