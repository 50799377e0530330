"""What a child and its parent say to each other, both directions in one place.

A frame is ``magic, kind, header length, blob length`` (little-endian, 16 bytes), a JSON header and a blob of raw bytes
(modules going in, representations coming out). Phases are frames without a body: the phase's index stands in the
length's place, so that announcing one costs a single small write.

The parent sends ``launch`` once and then ``job`` frames; end of input ends the child. The child answers ``hello`` or
``refused`` once, then for each job phases and one ``answer``; ``deadline`` says that it ended itself over a time limit,
``state`` what is about to be compiled, ``compiled`` what would be the answer without the run that is about to begin.

Python's `json` is exact for integers of any size, and statistic values travel as the union's raw bits.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import astuple, field, replace
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

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
    Setup,
    StatisticAnswer,
)
from shaderstat.plain import dataclass

if TYPE_CHECKING:
    from shaderstat.instrumentation import Offer

MAGIC = 0x57535353  # "SSSW"
HEAD = struct.Struct("<IIII")
LAUNCH, JOB, HELLO, REFUSED, PHASE, ANSWER, DEADLINE, STATE, COMPILED = range(1, 10)

# Written to standard error before each job, so that a driver's words can be told from those of the job before.
NEXT_JOB = b"\0shaderstat\0"

# No honest frame is larger; a length beyond it means that something else wrote into the stream.
MAX_FRAME = 1 << 31


class ProtocolError(Exception):
    """The other end wrote something that is not a frame."""


def foreign_words(data: bytes) -> str:
    """What it wrote instead, in one line."""
    words = data.partition(MAGIC.to_bytes(4, "little"))[0].decode("utf-8", "backslashreplace").strip() or repr(
        data[:32]
    )
    return f"something else writes to its standard output: {words[:80]!r}"


class Library(NamedTuple):
    """A file that a driver is made of; `build_id` in hexadecimal, empty where it has none."""

    path: str
    size: int
    mtime_ns: int
    build_id: str


@dataclass(frozen=True, slots=True)
class Hello:
    """A child that has reached its device.

    Attributes:
        device_index: which physical device it took.
        validator: SPIRV-Tools' version, or None where nothing can be validated.
        libraries: what is mapped in the child, where that was asked for and can be told.
        offer: the device's metrics, where shaders shall run there (`Launch.runs`) and it has some.
        tells_executables, offer_remark: as `shaderstat.backends.base.Backend` has them.
        environment, settings: what around the child shapes its driver's answers (`shaderstat.environment`).
    """

    driver: Driver
    device: Device
    device_index: int
    validator: str | None
    libraries: tuple[Library, ...] = ()
    offer: Offer | None = None
    tells_executables: bool = True
    offer_remark: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)

    def same_compiler(self, other: Hello) -> bool:
        """Whether both stand for one compiler: another child's answers may be set beside this one's."""
        return replace(self, libraries=()) == replace(other, libraries=())


def _runs() -> ModuleType:
    """What only runs need: other children start without it."""
    from shaderstat import wire_runs

    return wire_runs


_encode = json.JSONEncoder(separators=(",", ":")).encode


def frame(kind: int, header: Mapping[str, Any], *blobs: bytes) -> bytes:
    """One frame as bytes; the blob is `blobs`, one after the other."""
    text = _encode(header).encode()
    return b"".join((HEAD.pack(MAGIC, kind, len(text), sum(map(len, blobs))), text, *blobs))


def phase_frame(phase: str) -> bytes:
    """The announcement of a phase."""
    return HEAD.pack(MAGIC, PHASE, PHASES.index(phase), 0)


class FrameReader:
    """Cuts a byte stream into frames.

    `feed` takes what arrived; `next` gives (kind, header, blob), with the phase's name as ``{"phase": …}``, or None
    while the next frame is not complete.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> None:
        """Append what arrived."""
        self._buffer += data

    def next(self) -> tuple[int, dict[str, Any], bytes] | None:
        """The next whole frame, or None.

        Raises:
            ProtocolError: the stream does not hold a frame here.
        """
        buffer = self._buffer
        if len(buffer) < HEAD.size:
            return None
        magic, kind, size, blob_size = HEAD.unpack_from(buffer)
        if magic != MAGIC or not LAUNCH <= kind <= COMPILED or size > MAX_FRAME or blob_size > MAX_FRAME:
            raise ProtocolError(foreign_words(bytes(buffer[:256])))
        if kind == PHASE:
            if size >= len(PHASES):
                raise ProtocolError(f"no phase {size}")
            del buffer[: HEAD.size]
            return kind, {"phase": PHASES[size]}, b""
        end = HEAD.size + size + blob_size
        if len(buffer) < end:
            return None
        with memoryview(buffer) as view:  # a slice of the buffer itself would be one more copy of a hundred megabytes
            text, blob = bytes(view[HEAD.size : HEAD.size + size]), bytes(view[HEAD.size + size : end])
        del buffer[:end]
        try:
            header = json.loads(text)
        except ValueError as error:
            raise ProtocolError(f"a frame without JSON: {text[:64]!r}") from error
        return kind, header, blob


# ── Going in ──────────────────────────────────────────────────────────────────────────────────────────────────────


def launch_to_plain(launch: Launch) -> dict[str, Any]:
    """What a child needs of its `Launch`."""
    return {
        "id": launch.id,
        "backend": launch.backend,
        "source": launch.source,
        "device": launch.device,
        "driver_manifest": launch.driver_manifest,
        "scenario": launch.scenario,
        "setup": astuple(launch.setup),
        "runs": launch.runs,
    }


def launch_from_plain(plain: Mapping[str, Any]) -> Launch:
    """The inverse of `launch_to_plain`."""
    profile, features, application, wished = plain["setup"]
    setup = Setup(profile, tuple(map(tuple, features)), tuple(map(tuple, application)), tuple(map(tuple, wished)))
    return Launch(**{**plain, "setup": setup})


def job_to_plain(job: Job) -> tuple[dict[str, Any], list[bytes]]:
    """All of a job, and the bytes in it: its modules', then those of its state and of its run."""
    header = {
        "kind": job.kind,
        "modules": [[module.path, len(module.data), module.stage, module.entry_point] for module in job.modules],
        "statistics": job.statistics,
        "representations": job.representations,
        "validate": job.validate,
        "timeout_s": job.timeout_s,
        "spec": job.spec,
        "layers": job.layers,
        "keep_state": job.keep_state,
        "compile": job.compile,
    }
    blobs = [module.data for module in job.modules]
    if job.state is not None:
        header["state"] = _without_bytes(job.state, blobs, sum(map(len, blobs)))
    if job.execution is not None:
        plain = _runs().execution_to_plain(job.execution)
        header["execution"] = _without_bytes(plain, blobs, sum(map(len, blobs)))
    return header, blobs


def job_frame(job: Job) -> bytes:
    """`job_to_plain` as a frame."""
    header, blobs = job_to_plain(job)
    return frame(JOB, header, *blobs)


def job_from_frame(header: Mapping[str, Any], blob: bytes) -> Job:
    """The inverse of `job_frame`."""
    modules = []
    at = 0
    for path, size, stage, entry_point in header["modules"]:
        modules.append(JobModule(path, blob[at : at + size], stage, entry_point))
        at += size
    return Job(
        kind=header["kind"],
        modules=tuple(modules),
        statistics=header["statistics"],
        representations=header["representations"],
        validate=header["validate"],
        timeout_s=header["timeout_s"],
        spec=tuple((stage, constant, value) for stage, constant, value in header["spec"]),
        layers=tuple(header["layers"]),
        state=_with_bytes(header["state"], blob) if "state" in header else None,
        keep_state=header["keep_state"],
        compile=header["compile"],
        execution=_runs().execution_from_plain(_with_bytes(header["execution"], blob))
        if "execution" in header
        else None,
    )


def state_frame(state: Mapping[str, Any]) -> bytes:
    """What is about to be compiled (`Job.keep_state`)."""
    blobs: list[bytes] = []
    return frame(STATE, {"state": _without_bytes(state, blobs, 0)}, *blobs)


def state_from_frame(header: Mapping[str, Any], blob: bytes) -> Mapping[str, Any]:
    """The inverse of `state_frame`."""
    state: Mapping[str, Any] = _with_bytes(header["state"], blob)
    return state


# Stands for bytes in JSON: no member of a struct is called so.
_BYTES = ""


def _without_bytes(value: Any, blobs: list[bytes], at: int) -> Any:
    """`value` with its bytes in `blobs`, the first of which will lie at offset `at`."""
    end = at

    def stripped(one: Any) -> Any:
        nonlocal end
        if isinstance(one, bytes):
            blobs.append(one)
            end += len(one)
            return {_BYTES: [end - len(one), len(one)]}
        if isinstance(one, Mapping):
            return {name: stripped(each) for name, each in one.items()}
        if isinstance(one, (list, tuple)):
            return [stripped(each) for each in one]
        return one

    return stripped(value)


def _with_bytes(value: Any, blob: bytes) -> Any:
    """The inverse of `_without_bytes`."""
    if isinstance(value, dict):
        if value.keys() == {_BYTES}:
            at, size = value[_BYTES]
            return blob[at : at + size]
        return {name: _with_bytes(each, blob) for name, each in value.items()}
    if isinstance(value, list):
        return [_with_bytes(each, blob) for each in value]
    return value


# ── Coming out ────────────────────────────────────────────────────────────────────────────────────────────────────


def hello_to_plain(hello: Hello) -> dict[str, Any]:
    """A child's first word."""
    driver, device = hello.driver, hello.device
    return {
        "driver": [driver.id, driver.name, driver.version, driver.info],
        "device": [
            device.name,
            device.vendor_id,
            device.device_id,
            device.type,
            device.api_version,
            device.pipeline_cache_uuid,
        ],
        "device_index": hello.device_index,
        "validator": hello.validator,
        "libraries": hello.libraries,
        "offer": None if hello.offer is None else astuple(hello.offer),
        "tells_executables": hello.tells_executables,
        "offer_remark": hello.offer_remark,
        "environment": hello.environment,
        "settings": hello.settings,
    }


def hello_from_plain(plain: Mapping[str, Any]) -> Hello:
    """The inverse of `hello_to_plain`."""
    return Hello(
        Driver(*plain["driver"]),
        Device(*plain["device"]),
        plain["device_index"],
        plain["validator"],
        tuple(Library(*one) for one in plain["libraries"]),
        None if plain["offer"] is None else _runs().offer_from_plain(plain["offer"]),
        plain["tells_executables"],
        plain["offer_remark"],
        plain["environment"],
        plain["settings"],
    )


def hello_frame(hello: Hello) -> bytes:
    """`hello_to_plain` as a frame."""
    return frame(HELLO, hello_to_plain(hello))


def answer_to_plain(answer: Answer) -> tuple[dict[str, Any], list[bytes]]:
    """An answer, and the bytes in it: its representations', then those of buffers that were read."""
    blobs: list[bytes] = []
    executables = []
    for executable in answer.executables:
        representations = []
        for one in executable.representations:
            representations.append([one.name, one.description, one.is_text, len(one.data)])
            blobs.append(one.data)
        executables.append(
            [
                executable.name,
                executable.description,
                executable.stages,
                executable.subgroup_size,
                [[one.name, one.description, one.format, one.bits] for one in executable.statistics],
                representations,
                executable.synthetic,
                executable.bound,
            ]
        )
    durations, failure, run = answer.durations, answer.failure, answer.instrumentation
    return {
        "status": answer.status,
        "executables": executables,
        "workgroup": answer.workgroup,
        "durations": [durations.pipeline, dict(durations.stages), durations.wall],
        "diagnostics": [
            [one.severity, one.code, one.message, one.hint, one.path, one.offset] for one in answer.diagnostics
        ],
        "failure": None if failure is None else [failure.phase, failure.code, failure.vk_result],
        "spec_found": answer.spec_found,
        "spec": answer.spec,
        "driver_ns": answer.driver_ns,
        **({"needs": answer.needs} if answer.needs else {}),
        **({"run": _runs().instrumentation_to_plain(run, blobs)} if run is not None else {}),
    }, blobs


def answer_frame(answer: Answer, *, leaves: bool = False) -> bytes:
    """An answer; its bytes go into the blob, in order. `leaves`: it is the child's last, whatever it was handed."""
    header, blobs = answer_to_plain(answer)
    if leaves:
        header["leaves"] = True
    return frame(ANSWER, header, *blobs)


def compiled_frame(answer: Answer) -> bytes:
    """What is known before a run; `answer_from_frame` reads it."""
    header, blobs = answer_to_plain(answer)
    return frame(COMPILED, header, *blobs)


# Most numbers were there before, and never change: zeros, and what is constant on a GPU.
_statistic = lru_cache(4096)(StatisticAnswer)


def answer_from_frame(header: Mapping[str, Any], blob: bytes) -> Answer:
    """The inverse of `answer_frame`."""
    at = 0
    executables = []
    for name, description, stages, subgroup_size, statistics, representations, synthetic, bound in header[
        "executables"
    ]:
        taken = []
        for one_name, one_description, is_text, size in representations:
            taken.append(RepresentationAnswer(one_name, one_description, is_text, blob[at : at + size]))
            at += size
        executables.append(
            ExecutableAnswer(
                name,
                description,
                stages,
                subgroup_size,
                tuple(_statistic(*one) for one in statistics),
                tuple(taken),
                synthetic,
                bound,
            )
        )
    workgroup, failure = header["workgroup"], header["failure"]
    return Answer(
        status=header["status"],
        executables=tuple(executables),
        workgroup=None if workgroup is None else (workgroup[0], workgroup[1], workgroup[2]),
        durations=Durations(*header["durations"]),
        diagnostics=tuple(Diagnostic(*one) for one in header["diagnostics"]),
        failure=None if failure is None else Failure(failure[0], failure[1], vk_result=failure[2]),
        spec_found=tuple(header["spec_found"]),
        spec=header["spec"],
        driver_ns=header["driver_ns"],
        instrumentation=_runs().instrumentation_from_plain(header["run"], blob, at) if "run" in header else None,
        cached=header.get("cached", False),
        needs=tuple(header.get("needs", ())),
    )
