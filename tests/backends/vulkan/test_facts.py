"""What is read off a device: features as plain words, texts, versions."""

from __future__ import annotations

import pytest

from shaderstat.backends.vulkan.binding import ffi
from shaderstat.backends.vulkan.facts import FeatureChain, driver_version, text, unpack_version
from shaderstat.registry import vulkan as registry

CORE = "VkPhysicalDeviceFeatures"
FLOAT16 = "VkPhysicalDeviceShaderFloat16Int8Features"
FIFTY_SIX = "VkPhysicalDevice16BitStorageFeatures"


@pytest.fixture
def chain() -> FeatureChain:
    structs = [registry.struct(name) for name in (FLOAT16, FIFTY_SIX)]
    return FeatureChain(struct for struct in structs if struct is not None)


def test_a_driver_can_walk_the_chain(chain: FeatureChain) -> None:
    base = ffi.cast("VkPhysicalDeviceFeatures2 *", chain.pointer)
    first = ffi.cast(f"{FLOAT16} *", base.pNext)
    second = ffi.cast(f"{FIFTY_SIX} *", first.pNext)
    assert (base.sType, first.sType, second.sType) == (1000059000, 1000082000, 1000083000)
    assert second.pNext == ffi.NULL


def test_bits_are_read_under_their_names(chain: FeatureChain) -> None:
    base = ffi.cast("VkPhysicalDeviceFeatures2 *", chain.pointer)
    base.features.robustBufferAccess = 1  # the first
    base.features.inheritedQueries = 1  # the last
    ffi.cast(f"{FLOAT16} *", base.pNext).shaderInt8 = 1
    assert chain.read() == {(CORE, "robustBufferAccess"), (CORE, "inheritedQueries"), (FLOAT16, "shaderInt8")}


def test_bits_are_written_and_all_others_cleared(chain: FeatureChain) -> None:
    base = ffi.cast("VkPhysicalDeviceFeatures2 *", chain.pointer)
    base.features.robustBufferAccess = 1
    wanted = {(CORE, "geometryShader"), (FIFTY_SIX, "storageInputOutput16")}
    chain.write(wanted)
    assert chain.read() == wanted
    assert (base.features.robustBufferAccess, base.features.geometryShader) == (0, 1)
    second = ffi.cast(f"{FIFTY_SIX} *", ffi.cast("void **", base.pNext)[1])
    assert (second.storageInputOutput16, second.storageBuffer16BitAccess) == (1, 0)


def test_texts_of_drivers() -> None:
    assert text(ffi.new("char[8]", b"radv")) == "radv"
    assert text(ffi.new("char[4]", b"radv")) == "radv"
    assert text(ffi.new("char[8]", b"caf\xe9")) == "caf\ufffd"


def test_versions() -> None:
    """VK_API_VERSION_1_3 is 4206592 (VK_MAKE_API_VERSION(0, 1, 3, 0)); the variant is in the highest three bits."""
    assert unpack_version(4206592 + 230) == (1, 3, 230)
    assert unpack_version(1 << 29 | 4206592) == (1, 3, 0)


@pytest.mark.parametrize(
    ("driver", "number", "shown"),
    [
        (3, 22 << 22 | 3 << 12 | 6, "22.3.6"),
        (4, 580 << 22 | 159 << 14 | 3 << 6, "580.159.3"),
        (5, 101 << 14 | 5972, "101.5972"),
        (0, 1, "0.0.1"),
    ],
)
def test_driver_versions_are_packed_by_vendor(driver: int, number: int, shown: str) -> None:
    assert driver_version(driver, number) == shown
