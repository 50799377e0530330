"""The C types that are used, against vk.xml: size, and offset of every member."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from shaderstat.backends.vulkan import executables
from shaderstat.backends.vulkan.binding import extra_ffi, ffi
from shaderstat.backends.vulkan.builder import Layout, struct_layout
from shaderstat.errors import Unsupported
from shaderstat.registry import vulkan as registry

GENERATOR = Path(__file__).resolve().parents[3] / "tools" / "generate_vulkan_registry.py"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_vulkan_registry", GENERATOR)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def scratch(generator: ModuleType) -> Any:
    """An FFI that has parsed the declarations of all our structs, as vk.xml has them."""
    pytest.importorskip("cffi")
    vk = pytest.importorskip("vulkan_object").get_vulkan_object()
    xml = generator.Registry(vk)
    if xml.version != ".".join(map(str, registry.VERSION)):
        pytest.skip("another vk.xml is installed than the tables are made of")
    namespace: dict[str, Any] = {}
    exec(generator.compiled(xml.declarations(xml.structs, ())), namespace)
    return namespace["ffi"]


def layout(name: str) -> Layout | None:
    try:
        return struct_layout(name)
    except Unsupported:
        return None


def test_every_struct_lies_in_memory_as_vk_xml_says(scratch: Any) -> None:
    compared = 0
    for name in registry.struct_names():
        found = layout(name)
        if found is None:
            continue
        ours, theirs = found.ffi.typeof(found.c_type), scratch.typeof(name)
        assert found.ffi.sizeof(ours) == scratch.sizeof(theirs), name
        offsets = [(key, field.offset, field.bitshift, field.bitsize) for key, field in ours.fields]
        assert offsets == [(key, field.offset, field.bitshift, field.bitsize) for key, field in theirs.fields], name
        compared += 1
    assert compared > 450


def test_only_features_lack_a_c_type() -> None:
    """They are written as plain words: see FeatureChain."""
    lacking = {name for name in registry.struct_names() if layout(name) is None}
    assert lacking <= {struct.name for struct in registry.feature_structs()}
    assert "VkPhysicalDeviceVulkan14Features" in lacking


def test_features_lie_in_memory_as_plain_words(scratch: Any) -> None:
    for struct in registry.feature_structs():
        c_type = scratch.typeof(struct.name)
        offsets = [(key, field.offset) for key, field in c_type.fields]
        members = list(struct.members)[2:]
        assert offsets == [("sType", 0), ("pNext", 8), *((key, 16 + 4 * i) for i, key in enumerate(members))]
        assert scratch.sizeof(c_type) == 16 + (4 * len(members) + 7) // 8 * 8


@pytest.mark.parametrize(
    ("name", "packed", "members"),
    [
        ("VkPipelineExecutablePropertiesKHR", executables.EXECUTABLE, (16, 20, 276, 532)),
        ("VkPipelineExecutableStatisticKHR", executables.STATISTIC, (16, 272, 528, 536)),
        ("VkPipelineExecutableInternalRepresentationKHR", executables.REPRESENTATION, (16, 272, 528, 536, 544)),
    ],
)
def test_what_is_read_as_bytes(name: str, packed: Any, members: tuple[int, ...]) -> None:
    """Offsets of the specification's structs on LP64, and the formats that read them."""
    c_type = ffi.typeof(name)
    assert ffi.sizeof(c_type) == packed.size
    assert tuple(field.offset for _, field in c_type.fields[2:]) == members
    marked = bytearray(packed.size)
    for number, offset in enumerate(members, 1):
        marked[offset] = number
    values = packed.unpack(marked)
    assert [value[0] if isinstance(value, bytes) else value & 0xFF for value in values] == [*range(1, len(members) + 1)]


def test_handles_of_the_second_ffi_take_those_of_the_first() -> None:
    """It declares them as ``void *``."""
    calls = [name for name in extra_ffi.list_types()[0] if name.startswith("PFN_")]
    assert len(calls) == 7
    for name in calls:
        assert extra_ffi.typeof(name).args[0] is extra_ffi.typeof("void *")
