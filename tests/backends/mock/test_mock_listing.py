"""The control-flow graph as text."""

from __future__ import annotations

from shaderstat.backends.mock.listing import control_flow_graph, printable
from tests.assembly import assemble, compute
from tests.backends.mock.measure import code
from tests.backends.mock.test_mock_analysis import CALLS, LOOPS, UNARY

NAMED = LOOPS.replace("%s", "%77")


def test_loops_are_indented_and_blocks_numbered() -> None:
    assert control_flow_graph(code(assemble(compute(NAMED, modes='OpName %main "shade(vf4;"')))) == (
        """\
function f0 shade(vf4;: 13 blocks, 2 loops
  b0: 1 instruction
    -> b1
    b1: 2 instructions; loop, continues at b11, merges at b12
      -> b2
    b2: 2 instructions
      if -> b3 else -> b12
    b3: 1 instruction
      -> b4
      b4: 2 instructions; loop, continues at b9, merges at b10
        -> b5
      b5: 2 instructions
        if -> b6 else -> b10
      b6: 1 instruction; selection, merges at b8
        if -> b7 else -> b8
      b7: 1 instruction
        -> b8
      b8: 1 instruction
        -> b9
      b9: 2 instructions
        -> b4
    b10: 1 instruction
      -> b11
    b11: 2 instructions
      -> b1
  b12: 1 instruction
    OpReturn
"""
    )


def test_functions_calls_and_what_is_not_reached() -> None:
    text = control_flow_graph(code(assemble(compute(CALLS, declarations=UNARY))))
    heads = [line for line in text.splitlines() if line.startswith("function")]
    assert heads == [
        "function f0: 1 block, 0 loops; calls f1",
        "function f1: 5 blocks, 1 loop; calls f2",
        "function f2: 4 blocks, 1 loop",
    ]
    text = control_flow_graph(code(assemble(compute("%1 = OpLabel\nOpReturn\n%2 = OpLabel\nOpUnreachable"))))
    assert "b1: 1 instruction; not reached\n    OpUnreachable" in text


def test_a_switch_has_its_cases() -> None:
    body = """
        %1 = OpLabel
        OpSelectionMerge %9 None
        OpSwitch %selector %9 4 %2 17179869184 %3
        %2 = OpLabel
        OpBranch %9
        %3 = OpLabel
        OpBranch %9
        %9 = OpLabel
        OpReturn
    """
    declarations = "%long = OpTypeInt 64 0\n%selector = OpConstant %long 5"
    text = control_flow_graph(code(assemble(compute(body, head="OpCapability Int64", declarations=declarations))))
    assert "switch; 4 -> b1; 17179869184 -> b2; default -> b3" in text


def test_ids_do_not_show() -> None:
    """The same code under other ids is the same graph."""
    other = NAMED.replace("%1", "%901").replace("%c2", "%902").replace("%i", "%903")
    first, second = (assemble(compute(body)) for body in (NAMED, other.replace("%903nt", "%int")))
    assert first != second
    assert control_flow_graph(code(first)) == control_flow_graph(code(second))


def test_names_cannot_leave_their_line() -> None:
    assert printable("a\n\x1b[31mb\u202e") == "a\\u{a}\\u{1b}[31mb\\u{202e}"
    assert len(printable("x" * 100_000)) == 200
