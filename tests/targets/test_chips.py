"""GPUs' names: one chip, one name, under every spelling that some driver wants or some person uses."""

from __future__ import annotations

import pytest

from shaderstat.errors import NoTarget
from shaderstat.targets import chips


@pytest.mark.parametrize(
    ("driver", "word", "name", "spellings"),
    [
        ("radv", "navi21", "navi21", ("navi21",)),
        ("radv", "NAVI21", "navi21", ("navi21",)),
        # Mesa 22.3 knows gfx1100, Mesa 25 and the shims navi31 (null winsys and ac_null_device of those versions)
        ("radv", "navi31", "navi31", ("navi31", "gfx1100")),
        ("radv", "gfx1100", "navi31", ("navi31", "gfx1100")),
        ("radv", "aldebaran", "mi200", ("mi200", "aldebaran")),
        ("radv", "strix1", "gfx1150", ("gfx1150", "strix1")),
        # Nouveau's code names and chipset numbers (its page CodeNames)
        ("nvk", "ad102", "ad102", ("192",)),
        ("nvk", "192", "ad102", ("192",)),
        ("nvk", "0x192", "ad102", ("192",)),
        ("nvk", "NV192", "ad102", ("192",)),
        ("nvk", "gk104", "gk104", ("e4",)),
        ("turnip", "a740", "a740", ("740",)),
        ("turnip", "740", "a740", ("740",)),
        ("turnip", "adreno740", "a740", ("740",)),
        ("agx", "g13g", "g13g", ()),
        ("agx", "M1", "g13g", ()),
    ],
)
def test_a_chip_by_any_of_its_names(driver: str, word: str, name: str, spellings: tuple[str, ...]) -> None:
    chip = chips.find(driver, word)
    assert (chip.name, chip.spellings) == (name, spellings)


@pytest.mark.parametrize(
    ("driver", "word", "expected"),
    [
        ("radv", "navi12x", "radv:navi12"),
        ("radv", "7900xtx", "radv:navi31 (RX 7900 XT/XTX)"),
        ("radv", "gfx9", "radv:gfx940"),
        ("nvk", "rtx4080", "nvk:ad103 (RTX 4080)"),
        ("nvk", "ad101", "nvk:ad10"),
        ("nvk", "999", "nvk:gb205"),
        ("turnip", "a741", "turnip:a740"),
        ("agx", "g14", "agx:g13g (Apple M1)"),
        ("radv", "", "radv:"),
        ("radv", "\x1b[31m", "radv:"),
    ],
)
def test_an_unknown_gpu_names_the_nearest(driver: str, word: str, expected: str) -> None:
    with pytest.raises(NoTarget) as caught:
        chips.find(driver, word)
    assert expected in (caught.value.hint or "")
    assert caught.value.hint and caught.value.hint.count(f"{driver}:") <= 3


def test_no_word_means_two_chips_of_a_driver() -> None:
    for driver, table in chips.CHIPS.items():
        words = [word for chip in table.values() for word in {chip.name, *chip.spellings, *chip.aliases}]
        assert len(words) == len(set(words)), driver
        assert all(word == word.lower() for word in words)
        assert all(chip.usual and chip.name == name for name, chip in table.items())


def test_chipset_numbers_follow_from_code_names_of_recent_generations() -> None:
    """TU10x is 16x, GA10x 17x, AD10x 19x, GB20x 1bx: the last digit is the code name's, but for TU116 and TU117."""
    for name, chip in chips.CHIPS["nvk"].items():
        generation = {"tu": "16", "ga": "17", "ad": "19", "gb": "1b"}.get(name[:2])
        if generation and name not in ("tu116", "tu117"):
            assert chip.spellings == (generation + name[-1],)
