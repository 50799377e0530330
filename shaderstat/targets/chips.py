"""GPUs by name: the field's own spelling of a chip, what people call the product, and what each driver wants to hear.

A table of names is no table of what a driver knows: that differs by version, and is found out by asking it. What stands
here is how one chip is spelled, so that one target's name serves all versions.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

from shaderstat.errors import NoTarget
from shaderstat.plain import dataclass


@dataclass(frozen=True, slots=True)
class Chip:
    """A GPU.

    Attributes:
        driver: whose target it is: ``radv``, ``turnip``, ``nvk``, ``agx``.
        name: in a target's name, lower-case.
        usual: what the product is called.
        spellings: what versions of the driver, its null device or its shim call it, the most recent first.
        aliases: further words that mean it.
    """

    driver: str
    name: str
    usual: str
    spellings: tuple[str, ...]
    aliases: tuple[str, ...] = ()


# name [/ other spelling …]: product. Mesa's ac_gpu_info.c and its null winsys; a spelling that stands second was used
# by some version in place of the first (Mesa 22.3 has gfx1100, 25.0 and the shims have navi31).
_RADV = """
tahiti: HD 7950/7970
pitcairn: HD 7850/7870
verde: HD 7750/7770
oland: HD 8570/8670
hainan: HD 8570M
bonaire: HD 7790
kaveri: A10-7850K
kabini: Athlon 5350
hawaii: R9 290/290X
tonga: R9 285/380
iceland: R5 M330
carrizo: A10-8700P
fiji: R9 Fury
stoney: A9-9410
polaris10: RX 470/480/570/580
polaris11: RX 460/560
polaris12: RX 540/550
vegam: Radeon Pro WX Vega M
vega10: RX Vega 56/64
vega12: Radeon Pro Vega 20
vega20: Radeon VII
raven: Ryzen 2000G
raven2: Ryzen 3 3200U
renoir: Ryzen 4000G
mi100/arcturus: Instinct MI100
mi200/aldebaran: Instinct MI200
gfx940: Instinct MI300
navi10: RX 5600/5700 XT
navi12: Radeon Pro 5600M
navi14: RX 5500 XT
navi21: RX 6800/6900 XT
navi22: RX 6700 XT
navi23: RX 6600/6600 XT
navi24: RX 6400/6500 XT
vangogh: Steam Deck
rembrandt: Ryzen 6000
raphael_mendocino/gfx1036/raphael: Ryzen 7000
navi31/gfx1100: RX 7900 XT/XTX
navi32/gfx1101: RX 7700/7800 XT
navi33/gfx1102: RX 7600
phoenix/gfx1103: Ryzen 7040
phoenix2: Ryzen 5 7545U
gfx1150/strix1: Ryzen AI 300
gfx1151/strix_halo: Ryzen AI Max
gfx1152/krackan1: Ryzen AI 5 340
gfx1153: Radeon 820M
gfx1200/navi44: RX 9060 XT
gfx1201/navi48: RX 9070/9070 XT
"""

# LLVM's names of processors (AMDGPUUsage) where they mean one chip, and the kernel's of the first RDNA 2 chips.
_AMD_WORDS = """
gfx600 tahiti, gfx700 kaveri, gfx701 hawaii, gfx703 kabini, gfx704 bonaire, gfx801 carrizo, gfx810 stoney, gfx900
vega10, gfx902 raven, gfx904 vega12, gfx906 vega20, gfx90c renoir, gfx908 mi100, gfx90a mi200, gfx1010 navi10, gfx1011
navi12, gfx1012 navi14, gfx1030 navi21, gfx1031 navi22, gfx1032 navi23, gfx1033 vangogh, gfx1034 navi24, gfx1035
rembrandt, sienna_cichlid navi21, navy_flounder navi22, dimgrey_cavefish navi23, beige_goby navi24
"""

# Chipset (hexadecimal) name: product. The numbers are the shim's NOUVEAU_CHIPSET, the names Nouveau's code names.
_NVK = """
e4 gk104: GTX 680
e6 gk106: GTX 660
e7 gk107: GTX 650
f0 gk110: GTX 780
106 gk208b: GT 730
117 gm107: GTX 750 Ti
118 gm108: 940M
120 gm200: GTX 980 Ti
124 gm204: GTX 970/980
126 gm206: GTX 960
12b gm20b: Tegra X1
130 gp100: Tesla P100
132 gp102: GTX 1080 Ti
134 gp104: GTX 1070/1080
136 gp106: GTX 1060
137 gp107: GTX 1050 Ti
138 gp108: GT 1030
13b gp10b: Tegra X2
140 gv100: Titan V
162 tu102: RTX 2080 Ti
164 tu104: RTX 2080
166 tu106: RTX 2060/2070
168 tu116: GTX 1660
167 tu117: GTX 1650
170 ga100: A100
172 ga102: RTX 3080/3090
173 ga103: RTX 3080 Ti Mobile
174 ga104: RTX 3060 Ti/3070
176 ga106: RTX 3060
177 ga107: RTX 3050
192 ad102: RTX 4090
193 ad103: RTX 4080
194 ad104: RTX 4070
196 ad106: RTX 4060 Ti
197 ad107: RTX 4060
1b2 gb202: RTX 5090
1b3 gb203: RTX 5080
1b5 gb205: RTX 5070
"""

# GPU numbers of the freedreno shim that Turnip takes (FD_GPU_ID): a6xx and later.
_TURNIP = "610 618 630 660 702 730 740 750 810 830"


def _chips() -> dict[str, dict[str, Chip]]:
    words: dict[str, list[str]] = {}
    for pair in _AMD_WORDS.split(","):
        word, chip = pair.split()
        words.setdefault(chip, []).append(word)
    radv = {}
    for line in _RADV.strip().splitlines():
        names, _, usual = line.partition(": ")
        name, *others = names.split("/")
        radv[name] = Chip("radv", name, usual, (name, *others), tuple(words.get(name, ())))
    nvk = {}
    for line in _NVK.strip().splitlines():
        names, _, usual = line.partition(": ")
        chipset, name = names.split()
        nvk[name] = Chip("nvk", name, usual, (chipset,), (chipset, f"0x{chipset}", f"nv{chipset}"))
    turnip = {
        f"a{number}": Chip("turnip", f"a{number}", f"Adreno {number}", (number,), (number, f"adreno{number}"))
        for number in _TURNIP.split()
    }
    agx = {"g13g": Chip("agx", "g13g", "Apple M1", (), ("m1",))}
    return {"radv": radv, "turnip": turnip, "nvk": nvk, "agx": agx}


# Driver → name → chip, in the order in which they are listed.
CHIPS: Mapping[str, Mapping[str, Chip]] = _chips()


def find(driver: str, word: str) -> Chip:
    """The chip that `word` means for that driver, whatever its case.

    Raises:
        NoTarget: none; the hint has the nearest ones.
    """
    wanted = word.lower()
    for chip in CHIPS[driver].values():
        if wanted == chip.name or wanted in chip.aliases or wanted in chip.spellings:
            return chip
    near = nearest(driver, word)
    hint = f"nearest: {', '.join(f'{driver}:{one.name} ({one.usual})' for one in near)}"
    raise NoTarget(f"{driver} knows no GPU called {word!r}", hint=hint)


def nearest(driver: str, word: str, count: int = 3) -> list[Chip]:
    """Chips that somebody may have meant: by product ("7900xtx"), or by spelling."""
    table = CHIPS[driver]
    wanted = _squash(word)
    found = [chip for chip in table.values() if wanted and wanted in _squash(chip.usual)]
    spelled = {squashed: chip for chip in table.values() for squashed in map(_squash, (chip.name, *chip.spellings))}
    found += [spelled[one] for one in difflib.get_close_matches(wanted, spelled, n=count, cutoff=0.5)]
    found += [*table.values()][-count:]  # nothing is like it: the most recent
    return list(dict.fromkeys(found))[:count]


def _squash(word: str) -> str:
    """Letters and digits alone; a product's last suffix stands for each of its numbers ("RX 7900 XT/XTX")."""
    return re.sub(r"[^a-z0-9]", "", word.lower())
