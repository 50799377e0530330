"""What the dictionaries say, against what drivers were seen to answer: names and directions below were taken from the
drivers' own tables, by hand."""

from __future__ import annotations

from collections import Counter

import pytest

from shaderstat import dictionary
from shaderstat.backends.mock.statistics import DEFINITIONS
from shaderstat.dictionary import FILES, UNKNOWN, Entry
from shaderstat.model import Device, Driver

STEMS = sorted({*FILES.values(), "mock"})

# The statistics that each driver was seen to have, in its order.
NAMES = {
    # RADV 22.3.6, then what 25.0.7 added, then what older ones had
    "radv": """Driver pipeline hash; SGPRs; VGPRs; Spilled SGPRs; Spilled VGPRs; Code size; LDS size; Scratch size;
        Subgroups per SIMD; Hash; Instructions; Copies; Branches; Latency; Inverse Throughput; VMEM Clause;
        SMEM Clause; Pre-Sched SGPRs; Pre-Sched VGPRs; Combined inputs; Combined outputs; VALU; SALU; VMEM; SMEM; VOPD;
        Busy Cycles; VMEM Score; SMEM Score; PrivMem VGPRs""",
    "nvidia": """Register Count; Binary Size; Stack Size; Local Memory Size; Shared Memory Size; Input Count;
        Output Count; Output Colors""",
    "nvk": """Instruction count; Static cycle count; Max warps/SM; Spills to memory; Fills from memory; Spills to reg;
        Fills from reg; Code size; Number of GPRs; SLM size; Code Size; SLM Size""",
    "turnip": """Max Waves Per Core; Instruction Count; Code size; NOPs Count; MOV Count; COV Count; Registers used;
        Half-registers used; Last interpolation instruction; Last helper instruction; Instructions with SS sync bit;
        Instructions with SY sync bit; Estimated cycles stalled on SS; Estimated cycles stalled on SY;
        cat0 instructions; cat1 instructions; cat2 instructions; cat3 instructions; cat4 instructions;
        cat5 instructions; cat6 instructions; cat7 instructions; Loops; STP Count; LDP Count;
        Preamble Instruction Count; Early preamble; Const file size""",
    "honeykrisp": """Instructions; ALU; FSCIB; IC; Code size; GPRs; Uniforms; Scratch; Threads; Loops; Spills; Fills;
        Preamble instructions; Code Size; Number of GPRs""",
    "anv": """Dispatch width; Max polygons; Instructions; Code size; SENDs; Loops; Cycles; Spills; Fills;
        Scratch Memory Size; GRF registers; VRT size; VRT threads; Push constant ranges; Push constant registers;
        Max dispatch width; Max live registers; Workgroup Memory Size; Non SSA regs after NIR; Source hash;
        Scheduler mode; Instruction Count; SEND Count; Loop Count; Cycle Count; Spill Count; Fill Count""",
    "panvk": """Instructions; Bundles; Registers; Threads; Quadwords; Loops; Spills; Fills; Tuples; Clauses; Cycles;
        Arithmetic; Texture; Load/store; Varying; Preloads; Code size; Spill cost; Registers used; Uniforms used; FMA;
        CVT; SFU; ALU""",
    "v3dv": """Compile Strategy; Instruction Count; Thread Count; Spill Size; TMU Spills; TMU Fills;
        QPU Read Stalls""",
    "pvr": """Code size; Scratch size; Spill count; Temp count; Vtxin count; Loop count; Inst group count;
        Main inst group count; Bitwise inst group count; Control inst group count""",
    "amd": """numUsedVgprs; numUsedSgprs; ldsSizePerLocalWorkGroup; ldsUsageSizeInBytes; scratchMemUsageInBytes;
        SGPRs; VGPRs""",
    "intel": "Code size; Basic blocks",
    "mock": "; ".join(definition.name for definition in DEFINITIONS),
}

# key → the statistic that judges by it.
TRIGGERS = {
    "radv": {
        "registers": "VGPRs", "registers_scalar": "Pre-Sched SGPRs", "scratch_bytes": "Scratch size",
        "shared_bytes": "LDS size", "code_size": "Code size", "instructions": "Instructions", "cycles": "Latency",
        "occupancy": "Subgroups per SIMD",
    },
    "nvidia": {
        "registers": "Register Count", "scratch_bytes": "Local Memory Size", "shared_bytes": "Shared Memory Size",
        "code_size": "Binary Size",
    },
    "nvk": {
        "registers": "Number of GPRs", "spills": "Spills to memory", "fills": "Fills from memory",
        "scratch_bytes": "SLM size", "code_size": "Code size", "instructions": "Instruction count",
        "cycles": "Static cycle count", "occupancy": "Max warps/SM",
    },
    # Turnip and Honeykrisp count all accesses to private memory as spills and fills: they judge nothing.
    "turnip": {
        "registers": "Registers used", "registers_half": "Half-registers used", "code_size": "Code size",
        "instructions": "Instruction Count", "cycles": "Estimated cycles stalled on SS",
        "occupancy": "Max Waves Per Core",
    },
    "honeykrisp": {
        "registers": "GPRs", "scratch_bytes": "Scratch", "code_size": "Code size", "instructions": "Instructions",
        "cycles": "ALU", "occupancy": "Threads",
    },
    # GRF registers may be the whole file, always.
    "anv": {
        "registers": "Max live registers", "spills": "Spills", "fills": "Fills",
        "scratch_bytes": "Scratch Memory Size", "shared_bytes": "Workgroup Memory Size", "code_size": "Code size",
        "instructions": "Instructions", "cycles": "Cycles", "occupancy": "Max dispatch width",
    },
    "panvk": {
        "spills": "Spills", "fills": "Fills", "instructions": "Instructions", "cycles": "Cycles",
        "occupancy": "Threads",
    },
    "v3dv": {
        "spills": "TMU Spills", "fills": "TMU Fills", "scratch_bytes": "Spill Size",
        "instructions": "Instruction Count", "cycles": "QPU Read Stalls", "occupancy": "Thread Count",
    },
    "pvr": {
        "registers": "Temp count", "spills": "Spill count", "scratch_bytes": "Scratch size", "code_size": "Code size",
        "instructions": "Inst group count",
    },
}  # fmt: skip

# Where two judge by one key: both count (RADV's scalar and vector spills), or no driver has both (Midgard's and the
# later generations' of PanVK).
TWO = {
    ("radv", "spills"): {"Spilled SGPRs", "Spilled VGPRs"},
    ("panvk", "registers"): {"Registers", "Registers used"},
    ("panvk", "code_size"): {"Quadwords", "Code size"},
}

MORE_IS_BETTER = {
    "Subgroups per SIMD", "VOPD", "Max warps/SM", "Max Waves Per Core", "Threads", "VRT threads", "Max dispatch width",
    "Thread Count",
}  # fmt: skip

HASHES = {"Driver pipeline hash", "Hash", "Source hash"}
EQUALITY = {"Early preamble", "Scheduler mode", "Compile Strategy"}


def entries(stem: str) -> dict[str, Entry]:
    """A file's entries by the name as written, on a device of the newest kind."""
    known = dictionary._load(stem, "")
    return {name: known.lookup(name) for name in dictionary.read(stem)}


@pytest.mark.parametrize("stem", STEMS)
def test_entries_are_well_formed(stem: str) -> None:
    for name, entry in entries(stem).items():
        assert name == name.strip()
        assert entry.role in ("trigger", "info", "identity", "equality"), name
        assert entry.better in ("less", "more", None), name
        assert entry.bits in (32, 64), name
        assert entry.label is None or 0 < len(entry.label) <= 14, name
        assert entry.key is None or (entry.key.isidentifier() and entry.key.islower()), name
        if entry.role == "trigger":
            assert entry.key and entry.unit and entry.better and entry.label, name
        if entry.role in ("identity", "equality"):
            assert entry.unit is None and entry.better is None, name
        for word in (entry.unit, entry.note):
            assert word is None or (word == word.strip() and word.isascii() and len(word) <= 40), name


@pytest.mark.parametrize("stem", STEMS)
def test_no_name_stands_twice_whatever_its_case(stem: str) -> None:
    stored = dictionary.read(stem)
    names = [each.casefold() for name in stored for each in (name, *stored[name].get("aliases", ()))]
    assert [name for name, count in Counter(names).items() if count > 1] == []


@pytest.mark.parametrize("stem", STEMS)
def test_every_name_that_was_seen_is_known_and_none_is_made_up(stem: str) -> None:
    seen = {" ".join(name.split()).casefold() for name in NAMES[stem].split(";")}
    assert set(dictionary._load(stem, "").entries) == seen


@pytest.mark.parametrize("stem", STEMS)
def test_directions(stem: str) -> None:
    for name, entry in entries(stem).items():
        if entry.better is not None:
            assert entry.better == ("more" if name in MORE_IS_BETTER else "less"), name


@pytest.mark.parametrize("stem", STEMS)
def test_hashes_and_words_are_no_quantities(stem: str) -> None:
    for name, entry in entries(stem).items():
        assert (entry.role == "identity") == (name in HASHES), name
        if stem != "mock":
            assert (entry.role == "equality") == (name in EQUALITY), name


@pytest.mark.parametrize("stem", STEMS)
def test_one_statistic_judges_by_a_key(stem: str) -> None:
    judging: dict[str, set[str]] = {}
    for name, entry in entries(stem).items():
        if entry.role == "trigger":
            judging.setdefault(entry.key or "", set()).add(name)
    expected = {key: {name} for key, name in TRIGGERS.get(stem, {}).items()}
    expected |= {key: names for (driver, key), names in TWO.items() if driver == stem}
    if stem in TRIGGERS:
        assert judging == expected
    else:
        assert all(len(names) == 1 for names in judging.values())


def test_the_mock_means_what_it_says() -> None:
    known = entries("mock")
    formats = {definition.name: definition.format for definition in DEFINITIONS}
    assert {name for name, entry in known.items() if entry.role == "equality"} == {
        name for name, format in formats.items() if format == "bool32"
    }


def test_units_that_differ_between_drivers() -> None:
    assert entries("radv")["Code size"].unit == "bytes"
    assert entries("turnip")["Code size"].unit == "dwords"
    assert entries("radv")["Scratch size"].unit == "bytes/subgroup"
    assert entries("nvk")["SLM size"].unit == "bytes/thread"
    assert entries("turnip")["Registers used"].unit == "vec4 registers"
    assert entries("honeykrisp")["GPRs"].unit == "16-bit registers"


@pytest.mark.parametrize(
    ("device", "judging"),
    [
        ("Null hardware (RADV NAVI21)", "Pre-Sched SGPRs"),
        ("AMD Radeon RX 7900 XTX (RADV NAVI31)", "Pre-Sched SGPRs"),
        ("Null hardware (RADV GFX1100)", "Pre-Sched SGPRs"),
        ("something newer (RADV GFX1300)", "Pre-Sched SGPRs"),
        ("Null hardware (RADV VEGA10)", "SGPRs"),
        ("Null hardware (RADV POLARIS11)", "SGPRs"),
        ("AMD Radeon Graphics (RADV RENOIR)", "SGPRs"),
        ("Null hardware (RADV TAHITI)", "SGPRs"),
    ],
)
def test_radvs_scalar_registers_are_constant_on_newer_chips(device: str, judging: str) -> None:
    known = dictionary.load(Driver(3, "radv", "", ""), Device(device, 0x1002, 0, "", "", ""))
    (other,) = {"SGPRs", "Pre-Sched SGPRs"} - {judging}
    assert known.lookup(judging).role == "trigger"
    assert known.lookup(other).role == "info"
    assert (known.lookup("SGPRs").note is None) == (judging == "SGPRs")


def test_the_driver_id_chooses_never_the_name() -> None:
    assert dictionary.load(Driver(3, "whatever", "", "")).lookup("vgprs").key == "registers"
    assert dictionary.load(Driver(4, "radv", "", "")).lookup("VGPRs") == UNKNOWN
    assert dictionary.load(Driver(0, "mock", "", "")).lookup("Instructions").key == "instructions"
    assert dictionary.load(Driver(13, "llvmpipe", "", "")).entries == {}
    assert dictionary.load(Driver(999, "new", "", "")).entries == {}


def test_what_is_not_known_is_info_and_a_hash_an_identity() -> None:
    known = dictionary.load(Driver(3, "radv", "", ""))
    assert known.lookup("Brand new") == Entry(role="info")
    assert known.lookup("Brand new hash ").role == "identity"
    assert known.lookup("Hashes").role == "info"


@pytest.mark.parametrize(
    ("names", "stem"),
    [
        (["VGPRs", "Spilled VGPRs", "Code size", "Latency"], "radv"),
        (["Register Count", "Binary Size", "Stack Size"], "nvidia"),
        (["STP Count", "LDP Count", "Instruction Count"], "turnip"),
        (["VGPRs", "Nobody", "Knows", "These"], None),
        (["Code size"], None),  # several have it
        ([], None),
    ],
)
def test_whose_statistics_these_are(names: list[str], stem: str | None) -> None:
    assert dictionary.whose(names) == stem
