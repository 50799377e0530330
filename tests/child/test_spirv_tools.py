"""SPIRV-Tools in the child: the library and the programs give the same verdicts, and a tool's trouble is no verdict."""

from __future__ import annotations

import os
import re
import shutil
import stat
import struct
import threading
from pathlib import Path
from typing import Any

import pytest

from shaderstat.child.spirv_tool import ENVIRONMENTS, Options
from shaderstat.child.spirv_tools import SpirvTools, choose_environment
from shaderstat.child.spirv_tools_programs import Programs
from shaderstat.errors import InvalidSpirv
from shaderstat.spirv.words import load
from tests.assembly import assemble, compute, tool
from tests.conftest import lacking

GOOD = compute("%1 = OpLabel\nOpReturn")
# An OpTypeFloat of 33 bits is in no version of SPIR-V.
BAD = compute("%1 = OpLabel\nOpReturn", declarations="%odd = OpTypeFloat 33")


@pytest.fixture(scope="module")
def library() -> SpirvTools:
    found = SpirvTools.find(programs="")
    assert found.version is not None, "the tests install shaderstat[spirv]"
    return found


@pytest.fixture(scope="module")
def programs() -> SpirvTools:
    return SpirvTools.find(str(Path(tool("spirv-val")).parent))


@pytest.fixture(params=["library", "programs"])
def tools(request: pytest.FixtureRequest) -> SpirvTools:
    found: SpirvTools = request.getfixturevalue(request.param)
    return found


@pytest.fixture(scope="module")
def old() -> SpirvTools:
    """A validator of 2023.1, as Debian 12 has it."""
    path = os.environ.get("PATH", "") + os.pathsep + "/usr/bin"
    found = SpirvTools.find(search=[], programs=path)
    if found.version is None:
        lacking("no spirv-val on PATH: apt install spirv-tools")
    if int(re.findall(r"\d{4}", found.version)[0]) > 2023:
        pytest.skip(f"spirv-val on PATH is {found.version}: not an old one")
    return found


# ── Verdicts ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_good_module_is_ok(tools: SpirvTools) -> None:
    assert tools.validate(assemble(GOOD), "vulkan1.3").status == "ok"


def test_a_refusal_says_what_and_where(tools: SpirvTools) -> None:
    words = assemble(BAD)
    verdict = tools.validate(words, "vulkan1.3")
    assert verdict.status == "refused"
    assert "33" in verdict.message
    # The offset is that of the OpTypeFloat (opcode 22) of 33 bits, by another walk.
    assert verdict.offset is not None
    opcode, _, bits = struct.unpack_from("=III", words, verdict.offset)
    assert (opcode & 0xFFFF, bits) == (22, 33)


@pytest.mark.parametrize("data", [b"", b"\x03\x02", b"not SPIR-V at all", bytes(20), assemble(GOOD)[:-2]])
def test_no_module_at_all_is_refused(tools: SpirvTools, data: bytes) -> None:
    assert tools.validate(data, "vulkan1.3").status == "refused"


def test_library_and_program_disassemble_alike(library: SpirvTools, programs: SpirvTools) -> None:
    text = library.disassemble(assemble(GOOD))
    assert text == programs.disassemble(assemble(GOOD))
    assert text is not None and "OpEntryPoint GLCompute" in text


def test_what_cannot_be_disassembled_gives_none_and_the_reason(tools: SpirvTools) -> None:
    assert tools.disassemble(b"not SPIR-V at all...") is None
    assert tools.problem
    assert tools.disassemble(assemble(GOOD)) is not None
    assert not tools.problem


def test_layout_options_allow_what_the_device_allows(tools: SpirvTools) -> None:
    # A vec3 across a multiple of 16: good in scalar layout alone (Vulkan 1.3, "Offset and Stride Assignment").
    words = assemble(
        compute(
            "%1 = OpLabel\n%p = OpAccessChain %pf %buffer %zero\nOpReturn",
            modes="""OpDecorate %block Block
                     OpMemberDecorate %block 0 Offset 0
                     OpMemberDecorate %block 1 Offset 8
                     OpDecorate %buffer DescriptorSet 0
                     OpDecorate %buffer Binding 0""",
            declarations="""%vec3 = OpTypeVector %float 3
                            %block = OpTypeStruct %float %vec3
                            %pb = OpTypePointer StorageBuffer %block
                            %pf = OpTypePointer StorageBuffer %float
                            %buffer = OpVariable %pb StorageBuffer""",
        ).replace('"main"', '"main"' + " %buffer")
    )
    assert tools.validate(words, "vulkan1.3", Options()).status == "refused"
    assert tools.validate(words, "vulkan1.3", Options(scalar_block_layout=True)).status == "ok"


def test_a_module_newer_than_the_environment_is_judged_as_what_it_is(tools: SpirvTools) -> None:
    # SPIR-V 1.6 on a device of Vulkan 1.0: the device can't take it, the module is good.
    assert tools.validate(assemble(GOOD, "vulkan1.3"), "vulkan1.0").status == "ok"


# ── A validator that is older than the module ─────────────────────────────────────────────────────────────────────


def test_an_old_validator_is_no_judge_of_a_newer_language(old: SpirvTools, library: SpirvTools) -> None:
    text = GOOD.replace("%void =", "OpSource Slang 1\n%void =", 1)
    words = assemble(text)
    verdict = old.validate(words, "vulkan1.3")
    assert verdict.status == "too-old"
    assert "Slang" in verdict.message and "all else in the module is valid" in verdict.message
    assert library.validate(words, "vulkan1.3").status == "ok"


def test_behind_a_newer_language_an_old_validator_still_judges(old: SpirvTools) -> None:
    words = assemble(BAD.replace("%void =", "OpSource Slang 1\n%void =", 1))
    assert old.validate(words, "vulkan1.3").status == "refused"


@pytest.mark.parametrize(
    ("head", "modes", "named"),
    [
        ('OpCapability Float8EXT\nOpExtension "SPV_EXT_float8"', "", "Float8EXT"),
        ('OpExtension "SPV_KHR_maximal_reconvergence"', "OpExecutionMode %main MaximallyReconvergesKHR", "Maximally"),
    ],
)
def test_what_the_module_declares_and_an_old_validator_cannot_know(
    old: SpirvTools, library: SpirvTools, head: str, modes: str, named: str
) -> None:
    words = assemble(compute("%1 = OpLabel\nOpReturn", head=head, modes=modes))
    verdict = old.validate(words, "vulkan1.3")
    assert verdict.status == "too-old"
    assert named in verdict.message
    assert library.validate(words, "vulkan1.3").status == "ok"


def test_an_old_validator_refuses_what_is_broken(old: SpirvTools) -> None:
    assert old.validate(assemble(BAD), "vulkan1.3").status == "refused"


def test_a_version_beyond_every_validator_is_excused(tools: SpirvTools) -> None:
    words = bytearray(assemble(GOOD))
    struct.pack_into("=I", words, 4, 0x00010900)
    assert tools.validate(bytes(words), "vulkan1.4").status == "too-old"


@pytest.mark.parametrize("opcode", [17, 14, 22, 32, 54])
def test_numbers_out_of_thin_air_are_refused_by_every_validator(
    library: SpirvTools, request: pytest.FixtureRequest, opcode: int
) -> None:
    """The last word of an instruction, replaced by numbers that stand for nothing."""
    words = assemble(compute("%1 = OpLabel\nOpReturn", declarations="%p = OpTypePointer Workgroup %float"))
    index, count = next((i, n) for each, i, n in load(words).instructions() if each == opcode)
    judges = [library]
    if shutil.which("spirv-val", path="/usr/bin"):
        judges.append(request.getfixturevalue("old"))
    for number in (0x7FFFFFFF, 4095, 60000):
        broken = bytearray(words)
        struct.pack_into("=I", broken, (index + count - 1) * 4, number)
        for judge in judges:
            assert judge.validate(bytes(broken), "vulkan1.3").status == "refused", (judge.version, number)


# ── Environments ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("wanted", "version", "known", "chosen"),
    [
        ("vulkan1.3", (1, 0), list(ENVIRONMENTS), "vulkan1.3"),
        ("vulkan1.4", (1, 6), list(ENVIRONMENTS)[:-1], "vulkan1.3"),
        ("vulkan1.9", (1, 6), list(ENVIRONMENTS), "vulkan1.4"),
        ("vulkan1.0", (1, 0), list(ENVIRONMENTS), "vulkan1.0"),
        ("vulkan1.0", (1, 4), list(ENVIRONMENTS), "vulkan1.1spv1.4"),
        ("vulkan1.1", (1, 5), list(ENVIRONMENTS), "vulkan1.2"),
        ("vulkan1.0", (1, 6), ["vulkan1.0", "vulkan1.1"], "vulkan1.1"),
        ("vulkan1.3", (1, 9), list(ENVIRONMENTS), "vulkan1.4"),
    ],
)
def test_environment(wanted: str, version: tuple[int, int], known: list[str], chosen: str) -> None:
    assert choose_environment(wanted, version, known) == chosen


# ── Finding, and tools in trouble ─────────────────────────────────────────────────────────────────────────────────


def test_nothing_found_is_unavailable() -> None:
    tools = SpirvTools.find(search=[], programs="")
    assert tools.version is None
    assert tools.validate(assemble(GOOD), "vulkan1.3").status == "unavailable"
    assert tools.disassemble(assemble(GOOD)) is None
    assert tools.problem


def test_a_path_wins_and_nothing_else_is_tried(tmp_path: Path) -> None:
    tools = SpirvTools.find(str(tmp_path))
    assert tools.version is None
    assert str(tmp_path) in tools.validate(assemble(GOOD), "vulkan1.3").message
    not_a_library = tmp_path / "libSPIRV-Tools-shared.so"
    not_a_library.write_bytes(b"\x7fELF")
    assert SpirvTools.find(str(not_a_library)).version is None


def test_a_library_of_another_kind_is_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / "cmeel.prefix" / "lib"
    folder.mkdir(parents=True)
    (folder / "libSPIRV-Tools-shared.so").write_bytes(b"of another machine")
    assert SpirvTools.find(search=[str(tmp_path)], programs="").version is None


def script(path: Path, body: str) -> str:
    """A validator that answers --help and --version as one should, and does `body` else."""
    path.write_text(
        f"""#!/bin/sh
case "$1" in
--help) echo "--target-env {{vulkan1.0|vulkan1.3}} --scalar-block-layout";;
--version) echo "SPIRV-Tools v2020.1";;
*) {body};;
esac
"""
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("kill -SEGV $$", "died"),
        ("echo 'error: Unrecognized option' >&2; exit 3", "died"),
        ("exec sleep 30", "took more than"),
        ("exec yes", "wrote more than"),
    ],
)
def test_a_validator_in_trouble_is_no_verdict(
    tmp_path: Path, body: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shaderstat.child.spirv_tools_programs.OUTPUT_LIMIT", 1 << 16)
    validator = script(tmp_path / "spirv-val", body)
    tools = SpirvTools(Programs(validator, None, limit_s=1.0))
    verdict = tools.validate(assemble(GOOD), "vulkan1.3")
    assert verdict.status == "unavailable"
    assert message in verdict.message
    assert tools.disassemble(assemble(GOOD)) is None
    assert "spirv-dis" in tools.problem


class Endless:
    """SPIRV-Tools' library with a validator that takes until `done` is set."""

    def __init__(self, spv: Any) -> None:
        self._spv = spv
        self.done = threading.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._spv, name)

    def spvValidateWithOptions(self, *_: Any) -> int:  # noqa: N802  # as it is called
        self.done.wait(60)
        return 0


def test_a_library_that_takes_too_long_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    tools = SpirvTools.find(programs="")
    real = tools._tool._spv  # type: ignore[union-attr]
    endless = Endless(real)
    monkeypatch.setattr(tools._tool, "_spv", endless)
    tools.take_at_most(0.05)
    verdict = tools.validate(assemble(GOOD), "vulkan1.3")
    assert (verdict.status, "took more than 0.05 s" in verdict.message) == ("unavailable", True)
    monkeypatch.setattr(tools._tool, "_spv", real)
    tools.take_at_most(60.0)
    assert tools.validate(assemble(BAD), "vulkan1.3").status == "refused"
    assert tools.validate(assemble(GOOD), "vulkan1.3").status == "ok"
    endless.done.set()


def test_a_program_gets_only_the_options_that_it_lists(tmp_path: Path) -> None:
    validator = script(tmp_path / "spirv-val", f'echo "$@" > {tmp_path}/arguments')
    tools = SpirvTools(Programs(validator, None))
    assert tools.version == "v2020.1"
    everything = Options(*[True] * 7)
    assert tools.validate(assemble(GOOD), "vulkan1.4", everything).status == "ok"
    arguments = (tmp_path / "arguments").read_text().split()
    assert arguments == ["--target-env", "vulkan1.3", "--scalar-block-layout", "-"]


def test_a_real_program_is_taken_before_a_script(tmp_path: Path) -> None:
    """A package's console script starts Python first: 70 ms each time."""
    script(tmp_path / "spirv-val", "exit 1")
    real = str(Path(tool("spirv-val")).parent)
    tools = SpirvTools.find(search=[], programs=f"{tmp_path}{os.pathsep}{real}")
    assert tools.version not in (None, "v2020.1")
    assert SpirvTools.find(search=[], programs=str(tmp_path)).version == "v2020.1"


def test_words_are_checked_before_they_are_excused() -> None:
    with pytest.raises(InvalidSpirv):
        load(b"not SPIR-V at all...")
