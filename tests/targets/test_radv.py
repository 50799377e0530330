"""Names of RADV's null devices: the field's own, with every spelling that some version of Mesa wants."""

from __future__ import annotations

import pytest

from shaderstat.errors import NoTarget
from shaderstat.targets import radv


@pytest.mark.parametrize(
    ("given", "tried"),
    [
        ("navi21", ("navi21",)),
        ("NAVI21", ("navi21",)),
        # Mesa 22.3 knows gfx1100, Mesa 25 knows navi31 (radv_null_winsys.c / ac_null_device of those versions)
        ("navi31", ("navi31", "gfx1100")),
        ("gfx1100", ("gfx1100", "navi31")),
        ("aldebaran", ("aldebaran", "mi200")),
    ],
)
def test_a_chip_is_tried_under_every_name_it_has_had(given: str, tried: tuple[str, ...]) -> None:
    assert radv.spellings(given) == tried


def test_an_unknown_chip_names_the_nearest() -> None:
    with pytest.raises(NoTarget) as caught:
        radv.spellings("navi12x")
    assert "navi12" in (caught.value.hint or "")


def test_the_launch_sees_one_driver_alone() -> None:
    (launch,) = radv.launches("navi21", {}, "/x/radeon_icd.json")
    assert launch.id == "radv:navi21"
    assert launch.environment["VK_DRIVER_FILES"] == launch.environment["VK_ICD_FILENAMES"] == "/x/radeon_icd.json"
    assert launch.environment["RADV_FORCE_FAMILY"] == "navi21"


def test_without_a_manifest_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(radv.manifests, "find", lambda stem, environment: None)
    with pytest.raises(NoTarget) as caught:
        radv.launches("navi21", {}, None)
    assert "mesa-vulkan-drivers" in (caught.value.hint or "")
