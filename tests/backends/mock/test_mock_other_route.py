"""The mock's numbers against those that regular expressions find in SPIRV-Tools' disassembly."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shaderstat.spirv.facts import EXECUTION_MODELS
from shaderstat.spirv.parse import parse
from shaderstat.spirv.words import load
from tests.assembly import assemble, compute
from tests.backends.mock.measure import analysis, counted
from tests.backends.mock.text import Text

SAMPLES = sorted(Path(__file__).parents[3].glob("sample_spirv/*.spv"))
MODELS = {
    "Vertex": "vertex",
    "TessellationControl": "tessellation_control",
    "TessellationEvaluation": "tessellation_evaluation",
    "Geometry": "geometry",
    "Fragment": "fragment",
    "GLCompute": "compute",
}


def compare(words: bytes) -> None:
    """Every entry point of a module, every number that both routes know."""
    text = Text(words)
    assert text.entries
    for (model, name), function in text.entries.items():
        found = analysis(words, MODELS[model], name)
        reached = text.reached(function)
        lines = [line for each in reached for line in text.functions[each]]
        opcodes = Counter(line.opcode for line in lines)
        classes = Counter(kind for line in lines if (kind := text.class_of(line)) is not None)
        assert counted(found) == dict(classes)
        assert found.instructions == classes.total()
        assert found.functions == len(reached)
        assert found.blocks == opcodes["OpLabel"]
        assert found.loops == opcodes["OpLoopMerge"]
        assert found.selections == opcodes["OpSelectionMerge"]
        assert found.decisions == opcodes["OpBranchConditional"] + opcodes["OpSwitch"]
        if len(reached) == 1:
            assert found.live is not None
            assert (found.live.values, found.live.components) == text.peak(function)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_samples(sample: Path) -> None:
    compare(sample.read_bytes())


def test_there_are_samples_of_every_stage_that_is_compared() -> None:
    found = {EXECUTION_MODELS[entry.model] for path in SAMPLES for entry in parse(load(path.read_bytes())).entries}
    assert found == set(MODELS.values())


@st.composite
def flow_charts(draw: st.DrawFn) -> str:
    """Blocks that branch anywhere, with values from anywhere but from further down the same block: no structure, and
    no dominance among blocks."""
    count = draw(st.integers(1, 8))
    labels = [100 + number for number in range(count)]
    values = [200 + number for number in range(draw(st.integers(1, 12)))]
    homes = {value: draw(st.integers(0, count - 1)) for value in values}
    # The first block has no predecessor (SPIR-V specification, 2.16.1).
    target = st.sampled_from([f"%{label}" for label in labels[1:]] or ["%100"])
    blocks = []
    for number, label in enumerate(labels):
        lines, phis = [], []
        for value in values:
            usable = [each for each in values if homes[each] != number or each < value]
            operand = st.sampled_from([f"%{each}" for each in usable] + ["%one"])
            if homes[value] == number:
                if number and draw(st.booleans()):
                    parents = draw(st.lists(st.sampled_from(labels), min_size=1, max_size=3, unique=True))
                    phis.append(f"%{value} = OpPhi %int " + " ".join(f"{draw(operand)} %{each}" for each in parents))
                else:
                    lines.append(f"%{value} = OpIAdd %int {draw(operand)} {draw(operand)}")
        way = draw(st.sampled_from(["return", "branch", "if", "switch"])) if count > 1 else "return"
        end = {
            "return": "OpReturn",
            "branch": f"OpBranch {draw(target)}",
            "if": f"OpBranchConditional %true {draw(target)} {draw(target)}",
            "switch": f"OpSwitch %one {draw(target)} 0 {draw(target)} 7 {draw(target)}",
        }[way]
        blocks.append("\n".join([f"%{label} = OpLabel", *phis, *lines, end]))
    return "\n".join(blocks)


@given(flow_charts())
@settings(max_examples=150)
def test_any_flow_chart(body: str) -> None:
    compare(assemble(compute(body)))
