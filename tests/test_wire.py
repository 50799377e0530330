"""The protocol between a child and its parent: what goes in comes out, cut anywhere; what is not a frame is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaderstat import wire
from shaderstat.instrumentation import (
    COMMANDS,
    Command,
    Execution,
    Fill,
    ImageFill,
    Instrumentation,
    Metric,
    MetricBlock,
    Offer,
    Resource,
)
from shaderstat.model import (
    PHASES,
    Answer,
    Device,
    Diagnostic,
    Driver,
    Durations,
    ExecutableAnswer,
    Failure,
    Job,
    JobModule,
    Launch,
    RepresentationAnswer,
    StatisticAnswer,
)

texts = st.text(max_size=20)
words64 = st.integers(0, 2**64 - 1)

# Plain data that may hold bytes anywhere; "" is no member's name.
states = st.dictionaries(
    st.text(min_size=1, max_size=8),
    st.recursive(
        st.none() | st.integers() | texts | st.binary(max_size=16),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=8), inner, max_size=3),
        max_leaves=8,
    ),
    max_size=3,
)

words32 = st.integers(0, 2**32 - 1)
slots = st.tuples(words32, words32)
commands = st.lists(
    st.builds(Command, st.sampled_from(COMMANDS), st.tuples(words32, words32, words32)), max_size=3
).map(tuple)
fills = st.builds(
    Fill,
    st.sampled_from(["zeros", "random", "iota", "data"]),
    st.none() | words32,
    words64,
    st.binary(max_size=16),
    texts,
)
extents = st.tuples(words32, words32)
executions = st.builds(
    Execution,
    commands=commands,
    extent=extents,
    repeat=words32,
    accumulate=st.booleans(),
    metrics=st.booleans(),
    buffers=st.dictionaries(slots, fills, max_size=2),
    images=st.dictionaries(slots, st.builds(ImageFill, st.none() | extents, fills), max_size=2),
    vertices=st.dictionaries(words32, fills, max_size=2),
    push=st.binary(max_size=16),
    read=st.lists(slots, max_size=2).map(tuple),
)
offers = st.builds(Offer, st.lists(st.builds(Metric, texts, texts), max_size=3).map(tuple), st.booleans())
blocks = st.builds(
    MetricBlock,
    words32,
    words32,
    words32,
    words32,
    words32,
    st.lists(words64, max_size=3).map(tuple),
    st.booleans(),
)
runs = st.builds(
    Instrumentation,
    offer=st.none() | offers,
    commands=commands,
    submissions=words32,
    accumulated=st.booleans(),
    blocks=st.lists(blocks, max_size=3).map(tuple),
    resources=st.lists(st.builds(Resource, texts, texts, texts, texts), max_size=2).map(tuple),
    read=st.lists(st.tuples(slots, st.binary(max_size=16)), max_size=2).map(tuple),
    run_ns=st.lists(words64, max_size=2).map(tuple),
)

jobs = st.builds(
    Job,
    kind=st.sampled_from(["compute", "graphics"]),
    modules=st.lists(st.builds(JobModule, texts, st.binary(max_size=64), texts, texts), max_size=3).map(tuple),
    statistics=st.booleans(),
    representations=st.booleans(),
    validate=st.booleans(),
    timeout_s=st.floats(0.1, 1000),
    spec=st.lists(st.tuples(st.none() | texts, texts, texts), max_size=2).map(tuple),
    layers=st.lists(st.dictionaries(texts, st.integers() | texts, max_size=3), max_size=2).map(tuple),
    state=st.none() | states,
    keep_state=st.booleans(),
    compile=st.booleans(),
    execution=st.none() | executions,
)

executables = st.builds(
    ExecutableAnswer,
    name=texts,
    description=texts,
    stages=st.integers(0, 2**32 - 1),
    subgroup_size=st.integers(0, 2**32 - 1),
    statistics=st.lists(st.builds(StatisticAnswer, texts, texts, st.integers(0, 9), words64), max_size=4).map(tuple),
    representations=st.lists(
        st.builds(RepresentationAnswer, texts, texts, st.booleans(), st.binary(max_size=64)), max_size=3
    ).map(tuple),
    synthetic=st.booleans(),
    bound=st.sampled_from(["exact", "upper"]),
)

answers = st.builds(
    Answer,
    status=st.sampled_from(["ok", "failed"]),
    executables=st.lists(executables, max_size=3).map(tuple),
    workgroup=st.none() | st.tuples(*[st.integers(1, 1024)] * 3),
    durations=st.builds(
        Durations, st.none() | words64, st.dictionaries(texts, words64, max_size=2), st.none() | words64
    ),
    diagnostics=st.lists(
        st.builds(
            Diagnostic, texts, texts, texts, st.none() | texts, st.none() | texts, st.none() | st.integers(0, 2**40)
        ),
        max_size=2,
    ).map(tuple),
    failure=st.none() | st.builds(Failure, phase=st.sampled_from(PHASES), code=texts, vk_result=st.none() | texts),
    spec_found=st.lists(st.integers(0, 9), max_size=2).map(tuple),
    driver_ns=words64,
    instrumentation=st.none() | runs,
)


def read_all(data: bytes, step: int) -> list[tuple[int, dict[str, object], bytes]]:
    """The frames of a stream that arrives `step` bytes at a time."""
    reader, frames = wire.FrameReader(), []
    for at in range(0, len(data), step):
        reader.feed(data[at : at + step])
        while (frame := reader.next()) is not None:
            frames.append(frame)
    return frames


@given(jobs, st.integers(1, 40))
def test_a_job_arrives_as_it_was_sent_however_the_pipe_cuts_it(job: Job, step: int) -> None:
    ((kind, header, blob),) = read_all(wire.job_frame(job), step)
    assert kind == wire.JOB
    assert wire.job_from_frame(header, blob) == job


@given(states)
def test_a_state_arrives_with_its_bytes(state: dict[str, object]) -> None:
    (found,) = read_all(wire.state_frame(state), 1 << 20)
    assert found[0] == wire.STATE
    assert wire.state_from_frame(found[1], found[2]) == state


@given(answers, st.integers(1, 40))
def test_an_answer_arrives_bit_for_bit(answer: Answer, step: int) -> None:
    stream = wire.phase_frame("compile") + wire.answer_frame(answer) + wire.phase_frame("prepare")
    first, (kind, header, blob), last = read_all(stream, step)
    assert (first, last) == ((wire.PHASE, {"phase": "compile"}, b""), (wire.PHASE, {"phase": "prepare"}, b""))
    assert kind == wire.ANSWER
    assert wire.answer_from_frame(header, blob) == answer
    ((kind, header, blob),) = read_all(wire.compiled_frame(answer), step)
    assert (kind, wire.answer_from_frame(header, blob)) == (wire.COMPILED, answer)


def test_a_last_answer_says_so() -> None:
    for leaves in (False, True):
        ((_, header, blob),) = read_all(b"".join([wire.answer_frame(Answer("failed"), leaves=leaves)]), 100)
        assert header.get("leaves", False) is leaves
        assert wire.answer_from_frame(header, blob) == Answer("failed")


def test_a_hello_and_a_launch_survive_the_way() -> None:
    hello = wire.Hello(Driver(3, "radv", "v", "i"), Device("n", 1, 2, "other", "1.3.0", "00" * 16), 2, None)
    ((_, header, _),) = read_all(wire.hello_frame(hello), 7)
    assert wire.hello_from_plain(header) == hello
    hello = replace(
        hello, offer=Offer((Metric("fma", "sums"), Metric("", "")), True), tells_executables=False, offer_remark="odd"
    )
    ((_, header, _),) = read_all(wire.hello_frame(hello), 7)
    assert wire.hello_from_plain(header) == hello
    launch = Launch("radv:x", "vulkan", "null-device", device=1, driver_manifest="/a.json", scenario={"a": [1]})
    launch = replace(launch, runs=True)
    assert wire.launch_from_plain(wire.launch_to_plain(launch)) == launch


@given(st.binary(min_size=wire.HEAD.size, max_size=64))
def test_noise_is_refused_and_never_taken_for_a_frame(noise: bytes) -> None:
    reader = wire.FrameReader()
    reader.feed(noise if noise[:4] != b"SSSW" else b"x" + noise)
    with pytest.raises(wire.ProtocolError):
        reader.next()


def test_a_frame_that_claims_more_than_any_answer_holds_is_refused() -> None:
    reader = wire.FrameReader()
    reader.feed(wire.HEAD.pack(wire.MAGIC, wire.ANSWER, wire.MAX_FRAME + 1, 0))
    with pytest.raises(wire.ProtocolError):
        reader.next()
