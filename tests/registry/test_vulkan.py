"""The Vulkan tables against vk.xml, read by another route, and against the specification's own numbers."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from shaderstat.registry import vulkan as registry

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def xml() -> ElementTree.Element:
    """vk.xml as the package vulkan-object ships it, if that is the version of the tables."""
    vulkan_object = pytest.importorskip("vulkan_object")
    root = ElementTree.parse(Path(vulkan_object.__file__).with_name("vk.xml")).getroot()
    define = root.find("types/type[@category='define'][name='VK_HEADER_VERSION']")
    assert define is not None
    if int("".join(define.itertext()).split()[-1]) != registry.VERSION[2]:
        pytest.skip("another vk.xml is installed than the tables are made of")
    return root


def is_vulkan(element: ElementTree.Element, attribute: str = "api") -> bool:
    """Not only for Vulkan SC or vulkanbase."""
    return "vulkan" in (element.get(attribute) or "vulkan").split(",")


def numbers_of(xml: ElementTree.Element) -> dict[str, int]:
    """Every enumerant with a value, computed as the registry's documentation says: 1000000000 + 1000·(extension − 1) +
    offset for those of extensions."""
    found: dict[str, int] = {}
    aliases: dict[str, str] = {}

    def add(element: ElementTree.Element, extension: str | None) -> None:
        if not is_vulkan(element):
            return
        name = element.attrib["name"]
        if "alias" in element.attrib:
            aliases[name] = element.attrib["alias"]
        elif "bitpos" in element.attrib:
            found[name] = 1 << int(element.attrib["bitpos"])
        elif "offset" in element.attrib:
            number = int(element.get("extnumber") or extension or 0)
            sign = -1 if element.get("dir") == "-" else 1
            found[name] = sign * (1000000000 + 1000 * (number - 1) + int(element.attrib["offset"]))
        elif "value" in element.attrib and element.attrib["value"].lstrip("-").replace("0x", "").isalnum():
            found[name] = int(element.attrib["value"], 0)

    for group in xml.findall("enums"):
        if group.get("name") != "API Constants":
            for element in group.findall("enum"):
                add(element, None)
    for block in [*xml.findall("feature"), *xml.findall("extensions/extension")]:
        if block.tag == "extension" and not is_vulkan(block, "supported"):
            continue
        for element in block.findall("require/enum[@extends]"):
            add(element, block.get("number"))
    for name, target in aliases.items():
        while target in aliases:
            target = aliases[target]
        if target in found:
            found[name] = found[target]
    return found


def test_the_generated_files_are_fresh(xml: ElementTree.Element) -> None:
    pytest.importorskip("cffi")
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "generate_vulkan_registry.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_every_number_is_that_of_the_xml(xml: ElementTree.Element) -> None:
    known = numbers_of(xml)
    ours = {name: number for type, _ in registry.tables.ENUMS for name, number in registry.values(type).items()}
    assert len(ours) > 1500
    assert ours == {name: known.get(name) for name in ours}


def test_every_s_type_is_that_of_the_xml(xml: ElementTree.Element) -> None:
    known = numbers_of(xml)
    names = {}
    for element in xml.findall("types/type[@category='struct']"):
        for member in element.findall("member[@values]"):
            names[element.attrib["name"]] = member.attrib["values"]
    checked = 0
    for struct_name in registry.struct_names():
        struct = registry.struct(struct_name)
        assert struct is not None
        if struct.s_type is None:
            assert struct_name not in names
        else:
            assert struct.s_type == known[names[struct_name]], struct_name
            checked += 1
    assert checked > 450


def test_members_are_those_of_the_xml(xml: ElementTree.Element) -> None:
    members = {
        element.attrib["name"]: [member.findtext("name") for member in element.findall("member") if is_vulkan(member)]
        for element in xml.findall("types/type")
        if element.get("category") in ("struct", "union") and "alias" not in element.attrib and is_vulkan(element)
    }
    for name in registry.struct_names():
        struct = registry.struct(name)
        assert struct is not None
        assert list(struct.members) == members[name], name


# Numbers that the package `vulkan` has wrong, from the specification ("VkResult", "VkStructureType", …).
@pytest.mark.parametrize(
    ("type", "name", "number"),
    [
        ("VkResult", "VK_ERROR_VALIDATION_FAILED_EXT", -1000011001),
        ("VkResult", "VK_ERROR_OUT_OF_POOL_MEMORY", -1000069000),
        ("VkResult", "VK_ERROR_FRAGMENTATION", -1000161000),
        ("VkResult", "VK_PIPELINE_COMPILE_REQUIRED", 1000297000),
        ("VkResult", "VK_PIPELINE_COMPILE_REQUIRED_EXT", 1000297000),
        ("VkDescriptorType", "VK_DESCRIPTOR_TYPE_MUTABLE_EXT", 1000351000),
        ("VkFilter", "VK_FILTER_CUBIC_EXT", 1000015000),
        ("VkPipelineBindPoint", "VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR", 1000165000),
        ("VkPipelineCreateFlags", "VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR", 0x40),
        ("VkPipelineCreateFlags", "VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR", 0x80),
        ("VkPipelineCreateFlags2", "VK_PIPELINE_CREATE_2_INSTRUMENT_SHADERS_BIT_ARM", 0x8000000000),
        ("VkDriverId", "VK_DRIVER_ID_MESA_RADV", 3),
        ("uint32_t", "VK_ATTACHMENT_UNUSED", 0xFFFFFFFF),
        ("VkBool32", "VK_TRUE", 1),
    ],
)
def test_numbers(type: str, name: str, number: int) -> None:
    assert registry.value(type, name) == number


@pytest.mark.parametrize(
    ("name", "s_type"),
    [
        ("VkPipelineExecutableStatisticKHR", 1000269004),
        ("VkRayTracingPipelineCreateInfoKHR", 1000150015),
        ("VkRayTracingShaderGroupCreateInfoKHR", 1000150016),
        ("VkPipelineCreationFeedbackCreateInfoEXT", 1000192000),
        ("VkPipelineCreateFlags2CreateInfoKHR", 1000470005),
        ("VkPhysicalDeviceFragmentShaderBarycentricFeaturesKHR", 1000203000),
        ("VkPhysicalDeviceVulkan14Features", 55),
        ("VkShaderInstrumentationCreateInfoARM", 1000607002),
    ],
)
def test_s_types_also_by_an_older_name(name: str, s_type: int) -> None:
    struct = registry.struct(name)
    assert struct is not None
    assert struct.s_type == s_type


def test_flags_are_joined_by_bars() -> None:
    assert registry.value("VkShaderStageFlags", "VK_SHADER_STAGE_VERTEX_BIT|VK_SHADER_STAGE_FRAGMENT_BIT") == 0x11
    assert registry.value("VkShaderStageFlagBits", "VK_SHADER_STAGE_COMPUTE_BIT") == 0x20
    with pytest.raises(KeyError, match="VK_SHADER_STAGE_NOPE"):
        registry.value("VkShaderStageFlags", "VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_NOPE")
    with pytest.raises(KeyError):
        registry.value("VkFormat", "VK_SHADER_STAGE_VERTEX_BIT")


def test_a_number_has_todays_name() -> None:
    assert registry.name("VkResult", -1000174001) == "VK_ERROR_NOT_PERMITTED"
    assert registry.name("VkPhysicalDeviceType", 8) is None
    assert registry.result_name(0) == "VK_SUCCESS"
    assert registry.result_name(-4711) == "-4711"


def test_features_are_one_flat_shape() -> None:
    structs = registry.feature_structs()
    assert len(structs) > 250
    for struct in structs:
        assert list(struct.members)[:2] == ["sType", "pNext"], struct.name
        assert {member.type for member in list(struct.members.values())[2:]} == {"VkBool32"}, struct.name
        assert "VkDeviceCreateInfo" in struct.extends, struct.name


def test_where_a_feature_stood_before() -> None:
    promoted = registry.promoted("VkPhysicalDeviceVulkan12Features")
    assert promoted["shaderFloat16"] == ("VkPhysicalDeviceShaderFloat16Int8Features", "shaderFloat16")
    assert promoted["descriptorIndexing"] == ("VK_EXT_descriptor_indexing", "")
    properties = registry.promoted("VkPhysicalDeviceVulkan11Properties")
    assert properties["subgroupSupportedOperations"] == ("VkPhysicalDeviceSubgroupProperties", "supportedOperations")


def test_what_a_struct_comes_with() -> None:
    struct = registry.struct("VkPhysicalDeviceShaderFloat16Int8Features")
    assert struct is not None
    assert struct.is_provided((1, 2), frozenset())
    assert not struct.is_provided((1, 1), frozenset())
    assert struct.is_provided((1, 0), frozenset({"VK_KHR_shader_float16_int8"}))


# From "Appendix A: Vulkan Environment for SPIR-V", table "List of SPIR-V Capabilities and corresponding Vulkan
# features, extensions, or core version".
@pytest.mark.parametrize(
    ("capability", "needs"),
    [
        ("Shader", []),
        ("Matrix", []),
        ("Geometry", ["VkPhysicalDeviceFeatures.geometryShader"]),
        (
            "Int64Atomics",
            [
                "VkPhysicalDeviceVulkan12Features.shaderBufferInt64Atomics",
                "VkPhysicalDeviceVulkan12Features.shaderSharedInt64Atomics",
                "VkPhysicalDeviceShaderImageAtomicInt64FeaturesEXT.shaderImageInt64Atomics",
            ],
        ),
        (
            "GroupNonUniformVote",
            ["VkPhysicalDeviceVulkan11Properties.subgroupSupportedOperations & VK_SUBGROUP_FEATURE_VOTE_BIT"],
        ),
        ("RayTracingKHR", ["VkPhysicalDeviceRayTracingPipelineFeaturesKHR.rayTracingPipeline"]),
        ("DeviceGroup", ["Vulkan 1.1", "VK_KHR_device_group"]),
    ],
)
def test_what_capabilities_need(capability: str, needs: list[str]) -> None:
    found = registry.capability_requirements(capability)
    assert found is not None
    assert [str(each) for each in found] == needs


def test_what_vulkan_has_no_use_for_is_not_known() -> None:
    assert registry.capability_requirements("Kernel") is None
    assert registry.extension_requirements("SPV_INTEL_inline_assembly") is None


def test_what_a_spirv_extension_needs() -> None:
    found = registry.extension_requirements("SPV_KHR_variable_pointers")
    assert found is not None
    assert [str(each) for each in found] == ["Vulkan 1.1", "VK_KHR_variable_pointers"]


def test_every_requirement_names_what_the_tables_know() -> None:
    rows = 0
    for name, _ in registry.tables.SPIRV:
        for each in registry.capability_requirements(name) or ():
            rows += 1
            if each.struct:
                struct = registry.struct(each.struct)
                assert struct is not None and each.feature in struct.members, each
                assert each.requires
                assert (each.value != "") == (each.bits != 0)
    assert rows > 350


def test_every_extension_that_spirv_needs_is_one_that_gets_enabled() -> None:
    enabled = registry.device_extensions()
    for name, _ in registry.tables.SPIRV:
        for each in registry.capability_requirements(name) or ():
            for needed in (each.extension, *each.requires):
                assert not needed or needed.startswith("VK_VERSION_") or needed in enabled, (name, needed)


def test_no_cffi_is_loaded() -> None:
    code = (
        "import shaderstat.registry.vulkan, sys\n"
        "print([name for name in ('cffi', '_cffi_backend', 'vulkan') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"


def test_what_brings_a_value_of_an_enumeration() -> None:
    # "VK_DYNAMIC_STATE_CULL_MODE is provided by VK_VERSION_1_3 and VK_EXT_extended_dynamic_state" and so on in vk.xml
    assert registry.providers("VK_DYNAMIC_STATE_VIEWPORT") == ()
    assert set(registry.providers("VK_DYNAMIC_STATE_CULL_MODE")) == {"VK_EXT_extended_dynamic_state", "VK_VERSION_1_3"}
    assert registry.providers("VK_DYNAMIC_STATE_CULL_MODE_EXT") == registry.providers("VK_DYNAMIC_STATE_CULL_MODE")
    assert registry.providers("VK_DYNAMIC_STATE_VERTEX_INPUT_EXT") == ("VK_EXT_vertex_input_dynamic_state",)


def test_arrays_in_a_struct_have_their_size() -> None:
    blend = registry.struct("VkPipelineColorBlendStateCreateInfo")
    assert blend is not None
    assert blend.members["blendConstants"].length == "[4]"
    assert blend.members["pAttachments"].length == "attachmentCount"
