"""Which pipelines the files make, and what they are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from shaderstat.errors import ShaderstatError
from shaderstat.inputs import MAX_ENTRY_POINTS, Candidate, find
from shaderstat.inputs.candidates import stem
from shaderstat.model import Diagnostic
from tests.inputs.modules import (
    COMPUTE,
    COMPUTE_MODULE,
    FRAGMENT,
    FRAGMENT_MODULE,
    GEOMETRY,
    KERNEL,
    LINKAGE,
    MESH,
    MISS,
    OPENCL,
    RAYGEN,
    SHADER,
    TASK,
    TESC,
    TESE,
    VERTEX,
    VERTEX_MODULE,
    entry,
    module,
    write,
)


def codes(candidate: Candidate) -> list[str]:
    return [diagnostic.code for diagnostic in candidate.diagnostics]


def table(candidates: list[Candidate]) -> list[tuple[str, str | None, list[str], str | None]]:
    return [(one.name, one.kind, [module.stage for module in one.modules], one.verdict) for one in candidates]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("blur.comp.spv", "blur"),
        ("blur.spv", "blur"),
        ("blur.comp", "blur"),
        ("spv.x.frag.spv", "spv.x"),
        ("a.vs.spv", "a.vs"),
        ("a.frag.vert.spv", "a.frag"),
        ("A.FRAG.SPV", "A"),
        (".spv", ".spv"),
        (".frag.spv", ".frag"),
        ("frag.spv", "frag"),
    ],
)
def test_a_stem_is_the_name_less_one_known_suffix(name: str, expected: str) -> None:
    assert stem(name) == expected


def test_a_compute_shader_is_a_pipeline(tmp_path: Path) -> None:
    write(tmp_path / "bloom", blur_comp=COMPUTE_MODULE)
    (one,) = find([tmp_path])
    assert table([one]) == [("bloom/blur", "compute", ["compute"], None)]
    (its,) = one.modules
    assert (its.path, its.entry_point, its.spirv_version) == (f"{tmp_path}/bloom/blur.comp.spv", "main", "1.3")
    assert its.generator == "0x00080001"
    assert its.read() == COMPUTE_MODULE


def test_two_stages_of_one_stem_are_a_pair_in_pipeline_order(tmp_path: Path) -> None:
    write(tmp_path, water_frag=FRAGMENT_MODULE, water_vert=VERTEX_MODULE)
    assert table(find([tmp_path])) == [("water", "graphics", ["vertex", "fragment"], None)]
    assert table(find([tmp_path / "water.frag.spv", tmp_path / "water.vert.spv"])) == table(find([tmp_path]))


def test_the_module_says_what_it_is_not_its_name(tmp_path: Path) -> None:
    write(tmp_path, water_frag=VERTEX_MODULE, water=FRAGMENT_MODULE)
    assert table(find([tmp_path])) == [("water", "graphics", ["vertex", "fragment"], None)]


def test_files_of_two_folders_are_no_pair(tmp_path: Path) -> None:
    write(tmp_path / "a", x_vert=VERTEX_MODULE)
    write(tmp_path / "b", x_frag=FRAGMENT_MODULE)
    assert table(find([tmp_path])) == [
        ("a/x", "graphics", ["vertex"], None),
        ("b/x", "graphics", ["fragment"], None),
    ]


def test_a_compute_shader_beside_a_pair_is_its_own(tmp_path: Path) -> None:
    write(tmp_path, cloth_comp=COMPUTE_MODULE, cloth_frag=FRAGMENT_MODULE, cloth_vert=VERTEX_MODULE)
    assert table(find([tmp_path])) == [
        ("cloth.comp", "compute", ["compute"], None),
        ("cloth", "graphics", ["vertex", "fragment"], None),
    ]


def test_a_stage_that_is_there_twice_is_not_paired(tmp_path: Path) -> None:
    write(tmp_path, x_vert=VERTEX_MODULE, x=VERTEX_MODULE, x_frag=FRAGMENT_MODULE)
    found = find([tmp_path])
    assert sorted(one.name for one in found) == ["x", "x.frag", "x.vert"]
    assert all(codes(one) == ["pipeline/stage-twice"] and one.verdict is None for one in found)
    assert "x.spv, x.vert.spv" in found[0].diagnostics[0].message


def test_a_fragment_stage_that_reads_more_than_is_written_is_not_paired(tmp_path: Path) -> None:
    write(tmp_path, x_vert=VERTEX_MODULE, x_frag=module(entry(FRAGMENT, inputs=[1, 2, 3])))
    found = find([tmp_path])
    assert [one.name for one in found] == ["x.vert", "x.frag"]
    assert all(codes(one)[0] == "pipeline/interface-mismatch" for one in found)
    assert "x.frag.spv reads location 2, 3, which x.vert.spv does not write" in found[0].diagnostics[0].message


def test_a_vertex_stage_may_write_more_than_is_read(tmp_path: Path) -> None:
    write(tmp_path, x_vert=VERTEX_MODULE, x_frag=module(entry(FRAGMENT, inputs=[1])))
    assert table(find([tmp_path])) == [("x", "graphics", ["vertex", "fragment"], None)]


def test_all_stages_of_a_stem_are_one_pipeline(tmp_path: Path) -> None:
    write(
        tmp_path,
        t_tesc=module(entry(TESC, inputs=[0], outputs=[0])),
        t_tese=module(entry(TESE, inputs=[0], outputs=[0, 1])),
        t_vert=VERTEX_MODULE,
        t_frag=FRAGMENT_MODULE,
        g_geom=module(entry(GEOMETRY)),
        m_task=module(entry(TASK)),
        m_mesh=module(entry(MESH, outputs=[0])),
        m_frag=module(entry(FRAGMENT, inputs=[0])),
        r_rgen=module(entry(RAYGEN)),
        r_rmiss=module(entry(MISS)),
    )
    assert table(find([tmp_path])) == [
        ("g", "graphics", ["geometry"], None),
        ("m", "graphics", ["task", "mesh", "fragment"], None),
        ("r", "ray_tracing", ["raygen", "miss"], None),
        ("t", "graphics", ["vertex", "tessellation_control", "tessellation_evaluation", "fragment"], None),
    ]


def test_stages_without_a_vertex_or_fragment_stage_go_together(tmp_path: Path) -> None:
    write(
        tmp_path,
        a_tesc=module(entry(TESC, outputs=[0])),
        a_tese=module(entry(TESE, inputs=[0])),
        b_vert=VERTEX_MODULE,
        b_geom=module(entry(GEOMETRY, inputs=[1])),
        c_geom=module(entry(GEOMETRY, outputs=[0, 1])),
        c_frag=FRAGMENT_MODULE,
    )
    assert [stages for _, _, stages, _ in table(find([tmp_path]))] == [
        ["tessellation_control", "tessellation_evaluation"],
        ["vertex", "geometry"],
        ["geometry", "fragment"],
    ]


@pytest.mark.parametrize(
    "stages",
    [
        {"x_vert": VERTEX_MODULE, "x_mesh": module(entry(MESH, outputs=[0, 1])), "x_frag": FRAGMENT_MODULE},
        {"x_vert": VERTEX_MODULE, "x_tesc": module(entry(TESC, inputs=[0])), "x_frag": FRAGMENT_MODULE},
        {"x_tese": module(entry(TESE)), "x_geom": module(entry(GEOMETRY))},
        {"x_task": module(entry(TASK)), "x_frag": module(entry(FRAGMENT))},
    ],
)
def test_stages_that_would_lack_one_in_their_middle_do_not_go_together(
    tmp_path: Path, stages: dict[str, bytes]
) -> None:
    write(tmp_path, **stages)
    found = find([tmp_path])
    assert [len(one.modules) for one in found] == [1] * len(stages)
    assert {tuple(codes(one)) for one in found} == {("pipeline/stages-do-not-fit",)}


def test_nothing_is_said_of_a_pair_where_there_is_one_stage_alone(tmp_path: Path) -> None:
    write(tmp_path, lib=module(entry(FRAGMENT, "a"), entry(FRAGMENT, "b"), entry(COMPUTE, "c")))
    found = find([tmp_path])
    assert [one.name for one in found] == ["lib:c", "lib:a", "lib:b"]
    assert not any(one.diagnostics for one in found)


def test_entry_points_that_could_be_several_pairs_are_left_to_choose(tmp_path: Path) -> None:
    write(tmp_path, lib=module(entry(VERTEX, "v", outputs=[0]), entry(FRAGMENT, "a", [0]), entry(FRAGMENT, "b", [0])))
    assert [codes(one) for one in find([tmp_path])] == [["pipeline/stage-twice"]] * 3
    assert "--entry" in (find([tmp_path])[0].diagnostics[0].hint or "")
    assert table(find([tmp_path], entries=["v", "b"])) == [("lib", "graphics", ["vertex", "fragment"], None)]


def test_a_library_may_have_several_miss_shaders(tmp_path: Path) -> None:
    write(tmp_path, lib=module(entry(RAYGEN, "go"), entry(MISS, "sky"), entry(MISS, "shadow")))
    assert table(find([tmp_path])) == [("lib", "ray_tracing", ["raygen", "miss", "miss"], None)]
    write(tmp_path / "two", x_rmiss=module(entry(MISS)), x=module(entry(MISS)))
    assert [codes(one) for one in find([tmp_path / "two"])] == [["pipeline/stage-twice"]] * 2


def test_a_broken_partner_is_named(tmp_path: Path) -> None:
    write(tmp_path, x_frag=FRAGMENT_MODULE, x_vert=VERTEX_MODULE[:40])
    valid, broken = find([tmp_path])
    assert (broken.name, broken.kind, broken.verdict) == ("x.vert", None, "invalid")
    assert valid.name == "x"
    assert codes(valid)[0] == "pipeline/partner-invalid"
    assert "x.vert.spv" in valid.diagnostics[0].message


@pytest.mark.parametrize(
    ("data", "verdict", "code", "offset"),
    [
        (b"", "invalid", "spirv/empty", 0),
        (b"\x03\x02\x23\x07", "invalid", "spirv/too-short", 4),
        (b"#version 450\nvoid main() {}\n", "invalid", "spirv/text", 0),
        (COMPUTE_MODULE[:-2], "invalid", "spirv/size", len(COMPUTE_MODULE) - 4),
        (module(), "invalid", "spirv/no-entry-point", None),
        (module(capabilities=[SHADER, LINKAGE]), "skipped", "spirv/library", None),
        (module(entry(KERNEL), capabilities=[4, OPENCL]), "unsupported", "spirv/opencl-kernel", None),
        (module(entry(COMPUTE), capabilities=[OPENCL]), "unsupported", "spirv/opencl-kernel", None),
        (module(entry(4711)), "unsupported", "pipeline/stage-not-supported", None),
    ],
)
def test_a_file_that_makes_no_pipeline_is_a_result_already(
    tmp_path: Path, data: bytes, verdict: str, code: str, offset: int | None
) -> None:
    write(tmp_path, x_frag=data)
    (one,) = find([tmp_path])
    (said,) = one.diagnostics
    assert (one.name, one.kind, one.verdict) == ("x.frag", None, verdict)
    assert (said.code, said.offset, said.path) == (code, offset, f"{tmp_path}/x.frag.spv")


def test_a_text_is_told_how_to_become_a_module(tmp_path: Path) -> None:
    source = tmp_path / "my blur.comp"
    source.write_text("#version 450\nvoid main() {}\n")
    (one,) = find([source])
    assert one.diagnostics[0].message == "is GLSL text, not SPIR-V"
    assert one.diagnostics[0].hint == f"compile it first: glslangValidator -V '{source}' -o '{source}'.spv"
    source.write_text("; SPIR-V\nOpCapability Shader\n")
    assert "spirv-as" in (find([source])[0].diagnostics[0].hint or "")


def test_a_source_beside_its_module_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path, blur_comp=COMPUTE_MODULE)
    (tmp_path / "blur.comp").write_text("#version 450\nvoid main() {}\n")
    source, module = sorted(find([tmp_path / "*"]), key=lambda one: one.kind or "")
    assert table([source, module]) == [
        ("blur.comp", None, [""], "skipped"),
        ("blur", "compute", ["compute"], None),
    ]
    assert codes(source) == ["input/source"]


def test_big_endian_modules_are_read(tmp_path: Path) -> None:
    swapped = b"".join(COMPUTE_MODULE[i : i + 4][::-1] for i in range(0, len(COMPUTE_MODULE), 4))
    write(tmp_path, x_comp=swapped)
    (one,) = find([tmp_path])
    assert table([one]) == [("x", "compute", ["compute"], None)]
    assert one.modules[0].read() == swapped


def test_every_compute_entry_point_is_a_pipeline_of_its_name(tmp_path: Path) -> None:
    write(tmp_path, lib_comp=module(entry(COMPUTE, "blur_x"), entry(COMPUTE, "blur_y")))
    found = find([tmp_path])
    assert [one.name for one in found] == ["lib:blur_x", "lib:blur_y"]
    assert [one.modules[0].entry_point for one in found] == ["blur_x", "blur_y"]


def test_entry_points_of_one_name_are_kept_apart_by_their_stage(tmp_path: Path) -> None:
    write(tmp_path, lib=module(entry(COMPUTE, "main"), entry(VERTEX, "main")))
    assert [one.name for one in find([tmp_path])] == ["lib:compute:main", "lib:vertex:main"]


def test_the_graphics_entry_points_of_one_module_are_a_pair(tmp_path: Path) -> None:
    write(tmp_path, both=module(entry(FRAGMENT, "fs", [0], [0]), entry(VERTEX, "vs", [0], [0])))
    (one,) = find([tmp_path])
    assert table([one]) == [("both", "graphics", ["vertex", "fragment"], None)]
    assert [module.entry_point for module in one.modules] == ["vs", "fs"]


def test_entry_points_beyond_a_number_are_counted_and_said(tmp_path: Path) -> None:
    write(tmp_path, lib=module(*(entry(COMPUTE, f"e{n}") for n in range(MAX_ENTRY_POINTS + 3))))
    found = find([tmp_path])
    assert len(found) == MAX_ENTRY_POINTS + 1
    assert found[-1].name == "lib"
    assert found[-1].verdict == "unsupported"
    assert codes(found[-1]) == ["pipeline/too-many-entry-points"]
    assert "3 are not" in found[-1].diagnostics[0].message


LIBRARY = module(
    entry(VERTEX, "main", outputs=[0]), entry(FRAGMENT, "main", inputs=[0]), entry(COMPUTE, "blur::x"),
    entry(COMPUTE, "blur::y"), entry(COMPUTE, "[0]"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (["main"], [("lib", ["vertex", "fragment"])]),
        (["fragment:main"], [("lib:main", ["fragment"])]),
        (["frag:main"], [("lib:main", ["fragment"])]),
        (["blur::*"], [("lib:blur::x", ["compute"]), ("lib:blur::y", ["compute"])]),
        (["blur::y", "vert:*"], [("lib:blur::y", ["compute"]), ("lib:main", ["vertex"])]),
        (["[0]"], [("lib:[0]", ["compute"])]),
        (["compute:[0]"], [("lib:[0]", ["compute"])]),
    ],
)
def test_entry_points_may_be_chosen(tmp_path: Path, wanted: list[str], expected: list[tuple[str, list[str]]]) -> None:
    write(tmp_path, lib=LIBRARY, other=module(entry(COMPUTE, "unlike")))
    found = find([tmp_path], entries=wanted)
    assert [(one.name, [module.stage for module in one.modules]) for one in found] == expected
    assert all(one.verdict is None and not any(module.alone for module in one.modules) for one in found)


@pytest.mark.parametrize("wanted", [["mian"], ["main", "mian"], ["compute:main"]])
def test_an_entry_point_that_is_nowhere_is_an_error_that_says_what_there_is(tmp_path: Path, wanted: list[str]) -> None:
    write(tmp_path, lib=LIBRARY)
    with pytest.raises(ShaderstatError, match=wanted[-1]) as raised:
        find([tmp_path], entries=wanted)
    assert raised.value.exit_code == 2
    assert "main (vertex), main (fragment), blur::x (compute)" in (raised.value.hint or "")


def test_chosen_entry_points_beyond_the_first_are_compiled(tmp_path: Path) -> None:
    write(tmp_path, lib=module(*(entry(COMPUTE, f"e{n}") for n in range(MAX_ENTRY_POINTS + 3))))
    assert [one.name for one in find([tmp_path], entries=["e33", "e34"])] == ["lib:e33", "lib:e34"]


def test_pipelines_chosen_by_name_beyond_the_first_are_compiled_too(tmp_path: Path) -> None:
    write(tmp_path, lib=module(*(entry(COMPUTE, f"e{n}") for n in range(200))), other_comp=COMPUTE_MODULE)
    notes: list[Diagnostic] = []
    found = [one.name for one in find([tmp_path], pipelines=["*:e150", "lib:e17?"], notes=notes)]
    wanted = ["lib:e150", *(f"lib:e{number}" for number in range(170, 180))]
    assert [name for name in found if name in wanted] == wanted
    assert len(found) == len(wanted) + MAX_ENTRY_POINTS + 1  # those that aren't wanted, for messages
    assert notes == []


def test_more_pipelines_of_a_module_than_are_compiled_are_told(tmp_path: Path) -> None:
    write(tmp_path, lib=module(*(entry(COMPUTE, f"e{n}") for n in range(200))))
    notes: list[Diagnostic] = []
    found = find([tmp_path], pipelines=["lib:e1*"], notes=notes)
    assert sum(one.matches("lib:e1*") for one in found) == MAX_ENTRY_POINTS
    (note,) = notes
    assert (note.severity, note.code) == ("error", "pipeline/too-many-entry-points")
    assert "111 pipelines match: the first 32 are compiled" in note.message


def test_a_file_that_says_nothing_of_entry_points_is_still_told(tmp_path: Path) -> None:
    write(tmp_path, cut_comp=COMPUTE_MODULE[:40])
    assert [one.verdict for one in find([tmp_path], entries=["main"])] == ["invalid"]


def test_hostile_entry_points_are_kept_as_they_are(tmp_path: Path) -> None:
    for number, name in enumerate(("", "../../etc/passwd", "\x1b[2J\n", "x" * 60_000)):
        write(tmp_path, **{f"m{number}": module(entry(COMPUTE, name))})
    found = find([tmp_path])
    assert [one.name for one in found] == ["m0", "m1", "m2", "m3"]
    assert found[1].modules[0].entry_point == "../../etc/passwd"


def test_names_are_unique(tmp_path: Path) -> None:
    write(tmp_path / "one", x_comp=COMPUTE_MODULE)
    write(tmp_path / "two", x_comp=COMPUTE_MODULE)
    (tmp_path / "one" / "x.comp").write_bytes(COMPUTE_MODULE)
    found = find([tmp_path / "one", tmp_path / "two", tmp_path / "one" / "x.comp"])
    assert len({one.name for one in found}) == 3
    lib = module(entry(COMPUTE, "a"), entry(COMPUTE, "a"))
    found = find(["-"], stdin=lib)
    assert len({one.name for one in found}) == 2


def test_the_order_is_that_of_the_paths(tmp_path: Path) -> None:
    write(tmp_path, b_comp=COMPUTE_MODULE, a_comp=COMPUTE_MODULE, c_vert=VERTEX_MODULE, c_frag=FRAGMENT_MODULE)
    paths = [tmp_path / "c.frag.spv", tmp_path / "b.comp.spv", tmp_path]
    assert [one.name for one in find(paths)] == ["c", "b", "a"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("sky_vs.spv", "sky"), ("sky_VS.spv", "sky"), ("a.vs.spv", "a"), ("a.frag.spv", "a"), ("_vs.spv", "_vs")],
)
def test_an_engines_own_suffixes(name: str, expected: str) -> None:
    assert stem(name, ("_vs", "_ps", ".vs")) == expected


def test_names_that_only_look_alike_are_not_paired(tmp_path: Path) -> None:
    (tmp_path / "w\udcff.vert.spv").write_bytes(VERTEX_MODULE)
    (tmp_path / "w\\xff.frag.spv").write_bytes(FRAGMENT_MODULE)
    found = find([tmp_path])
    assert sorted(len(each.modules) for each in found) == [1, 1]
    assert len({each.name for each in found}) == 2
