"""A child's loop: one launch, then job after job, each answered by exactly one frame."""

from __future__ import annotations

import contextlib
import os
import threading
import traceback
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shaderstat import wire
from shaderstat.backends.base import QUERY_ERRORS, Backend, CompiledPipeline, DriverError, open_backend
from shaderstat.child.captured import check_state, prepare_state, said
from shaderstat.child.core_dumps import no_core_dumps
from shaderstat.child.libraries import mapped
from shaderstat.child.prepare import Prepared, prepare
from shaderstat.child.spirv_tools import SpirvTools
from shaderstat.child.validate import Validator
from shaderstat.child.watchdog import Watchdog
from shaderstat.environment import settings, shaping
from shaderstat.errors import InvalidSpirv, NoTarget, Unsupported
from shaderstat.model import STAGE_BITS, Answer, Diagnostic, Durations, ExecutableAnswer, Failure, Job, Launch, Setup
from shaderstat.pipeline import profiles, requirements
from shaderstat.pipeline.given import check_given
from shaderstat.pipeline.overrides import overlay
from shaderstat.pipeline.spec import PipelineSpec, pack, to_plain
from shaderstat.pipeline.stages import StageInput, blame
from shaderstat.pipeline.synthesis import synthesise

if TYPE_CHECKING:
    from shaderstat.child.run import PlannedRun
    from shaderstat.instrumentation import Instrumentation

DEVICE_LOST = "VK_ERROR_DEVICE_LOST"
# How long a driver may take to let its device go.
CLOSE_S = 5.0

_COMPUTE = STAGE_BITS["compute"]


class Child:
    """One device, one protocol stream."""

    def __init__(self, in_fd: int, out_fd: int) -> None:
        self._in = in_fd
        self._out = out_fd
        self._frames = wire.FrameReader()
        self._writing = threading.Lock()
        self._phase = "start"
        self._setup = Setup()

    def run(self) -> None:
        """Serve until the input ends."""
        no_core_dumps()
        watchdog = Watchdog(self._in, self._say_deadline)
        first = self._receive()
        if first is None:
            return
        kind, header, _ = first
        if kind != wire.LAUNCH:
            raise wire.ProtocolError(f"expected a launch, got frame {kind}")
        watchdog.arm(header.pop("timeout_s"))
        tools = SpirvTools.find(header.pop("spirv_tools", None))
        tells_libraries = header.pop("libraries", False)
        launch = wire.launch_from_plain(header)
        try:
            if launch.device < 0:
                launch = replace(launch, device=first_device_that_answers(launch))
            backend = open_backend(launch, tools)
        except NoTarget as error:
            lasting = isinstance(error, NothingAnswers)
            self._send(wire.frame(wire.REFUSED, {"message": error.message, "hint": error.hint, "lasting": lasting}))
            return
        watchdog.disarm()
        facts = backend.facts
        libraries = mapped() if tells_libraries else ()
        hello = wire.Hello(
            facts.driver,
            facts.device,
            launch.device,
            tools.version,
            libraries,
            backend.offer,
            backend.tells_executables,
            backend.offer_remark,
            shaping(os.environ),
            settings(os.environ),
        )
        self._send(wire.hello_frame(hello))
        validator = Validator(tools, facts)
        self._setup = launch.setup
        while (message := self._receive()) is not None:
            _, header, blob = message
            job = wire.job_from_frame(header, blob)
            watchdog.arm(job.timeout_s)
            _write_all(2, wire.NEXT_JOB)
            answer = self._answer(job, backend, validator)
            watchdog.disarm()
            lost = answer.failure is not None and answer.failure.vk_result == DEVICE_LOST
            self._send(wire.answer_frame(answer, leaves=lost))
            if lost:  # nothing can be had of it any more, and some drivers hang over letting it go
                os._exit(0)
        # RADV keeps its built-in shaders only in vkDestroyDevice: without it, every start of a child would compile them
        # anew (90 to 260 ms). A driver that dies or hangs over it harms nobody: the parent waits for a moment only.
        watchdog.arm(CLOSE_S, leaving=True)
        backend.close()
        os._exit(0)

    def _answer(self, job: Job, backend: Backend, validator: Validator) -> Answer:
        """Prepare, validate, compile, query, run; whatever goes wrong becomes the answer's status."""
        prepared = Prepared()
        remarks: list[Diagnostic] = []
        status, durations, driver_ns = "ok", Durations(), 0
        executables: tuple[ExecutableAnswer, ...] = ()
        instrumentation: Instrumentation | None = None
        failure: Failure | None = None
        asking: Sequence[StageInput] = ()  # of which it isn't known yet whether the device takes them

        def known() -> Answer:
            return Answer(
                status=status,
                executables=executables,
                workgroup=prepared.workgroup,
                durations=durations,
                diagnostics=tuple(remarks),
                failure=failure,
                spec_found=prepared.spec_found,
                driver_ns=driver_ns,
                instrumentation=instrumentation,
                needs=requirements.needs((one.reflection, one.entry) for one in asking),
            )

        try:
            self._phase = "prepare"  # as the parent has it of every job until it hears otherwise
            captured = None
            if job.state is None:
                prepared = prepare(job)
            else:
                captured, prepared = prepare_state(job)
            remarks += prepared.remarks
            remarks += profiles.check(self._setup, backend.facts)
            asking = prepared.stages
            for stage in asking:
                # Before the validator, which calls a capability that Vulkan's core lacks an error of the module.
                with blame(stage.path):
                    requirements.check(stage.reflection, stage.entry, backend.facts)
            asking = ()
            if job.validate:
                self._announce("validate")
                validator.check(prepared.stages, remarks, timeout_s=job.timeout_s)
            if captured is None:
                spec = synthesise(prepared.stages, backend.facts)
            else:
                check_state(captured, prepared.stages, backend.facts)
                spec = captured
            if job.layers:
                spec = overlay(spec, job.layers, prepared.stages, backend.facts)
                check_given(spec, prepared.stages, backend.facts)
            remarks += spec.remarks
            if not job.compile:
                plain = to_plain(spec)
                if captured is not None:
                    plain, lacking = said(spec, prepared.stages, backend.facts)
                    remarks += lacking
                found = prepared.spec_found
                return Answer("ok", (), prepared.workgroup, Durations(), tuple(remarks), None, found, plain)
            if job.keep_state:
                self._send(wire.state_frame(pack(spec)))
            run = _planned(job, spec, prepared.stages, backend, remarks)
            self._announce("compile")
            captures = {"statistics": job.statistics, "representations": job.representations}
            with backend.compile(spec, **captures, instrument=run is not None and run.counts) as pipeline:
                durations = pipeline.durations
                if run is None or run.asks:
                    self._announce("query")
                    executables = tuple(_mark(one, spec.synthetic_stages, spec.bound) for one in pipeline.query())
                driver_ns = pipeline.driver_ns
                told = _remarks(pipeline)
                remarks += (*told, *_merged(executables, spec.synthetic_stages))
                if run is not None:
                    # A run that hangs, or that the driver dies of, costs nothing of what is known by now.
                    self._send(wire.compiled_frame(known()))
                    self._announce("run")
                    instrumentation = run.run(pipeline)
                    remarks += run.merged(instrumentation)
                    remarks += (one for one in _remarks(pipeline) if one not in told)
        except InvalidSpirv as error:
            status = "invalid"
            remarks.append(Diagnostic("error", error.code, error.message, error.hint, error.path, error.offset))
        except Unsupported as error:
            status = "unsupported"
            remarks.append(Diagnostic("error", error.code, error.message, error.hint, error.path))
        except DriverError as error:
            status = "failed"
            remarks.append(Diagnostic("error", "driver/error", str(error)))
            failure = Failure(self._phase, "driver/error", vk_result=error.vk_result)
        except Exception as error:  # our own fault: it must not pass for the driver's, nor end the child
            traceback.print_exc()  # for whoever reports it: the parent keeps the end of standard error
            status = "failed"
            message = f"a fault of shaderstat itself: {type(error).__name__}: {error}"
            remarks.append(Diagnostic("error", "shaderstat/fault", message, hint="please report it with the module"))
            failure = Failure(self._phase, "shaderstat/fault")
        return known()

    # ── The stream ────────────────────────────────────────────────────────────────────────────────────────────────

    def _receive(self) -> tuple[int, dict[str, Any], bytes] | None:
        while (message := self._frames.next()) is None:
            data = os.read(self._in, 1 << 16)
            if not data:
                return None
            self._frames.feed(data)
        return message

    def _send(self, data: bytes) -> None:
        with self._writing:
            _write_all(self._out, data)

    def _announce(self, phase: str) -> None:
        self._phase = phase
        self._send(wire.phase_frame(phase))

    def _say_deadline(self) -> None:
        """From the watchdog's thread. The main thread may be stuck in a write: then the parent knows anyway."""
        if self._writing.acquire(timeout=0.2):
            with contextlib.suppress(OSError):
                _write_all(self._out, wire.frame(wire.DEADLINE, {"phase": self._phase}))


class NothingAnswers(NoTarget):
    """There are devices, and none is of any use."""


def first_device_that_answers(launch: Launch) -> int:
    """The index of the first physical device that has VK_KHR_pipeline_executable_properties; where shaders shall run,
    of one that counts, else of a GPU, else of any.

    Raises:
        NothingAnswers: none has it.
        NoTarget: there is no device.
    """
    from shaderstat.backends.vulkan import enumerate_devices

    devices = enumerate_devices(launch)
    if launch.runs:
        return min(devices, key=lambda one: (not one.counts, one.device.type == "cpu")).index
    for device in devices:
        if device.answers:
            return device.index
    names = ", ".join(device.name for device in devices)
    raise NothingAnswers(f"no device here has VK_KHR_pipeline_executable_properties ({names})")


def _planned(
    job: Job, spec: PipelineSpec, stages: Sequence[StageInput], backend: Backend, remarks: list[Diagnostic]
) -> PlannedRun | None:
    """The run that a job asks for; `remarks` get what is to be known of it."""
    if job.execution is None:
        return None
    from shaderstat.child.run import PlannedRun  # with all that runs need: most jobs do without

    run = PlannedRun(job, spec, stages, backend)
    remarks += run.remarks
    return run


def _remarks(pipeline: CompiledPipeline) -> list[Diagnostic]:
    return [
        Diagnostic("error" if code in QUERY_ERRORS else "warning", code, message)
        for code, message in pipeline.diagnostics()
    ]


def _mark(executable: ExecutableAnswer, synthetic_stages: int, bound: str) -> ExecutableAnswer:
    """An executable of generated stages alone is synthetic; a driver may name a stage that nobody gave it, which is
    neither (RADV 22.3.6 adds an empty fragment shader to a vertex-only pipeline)."""
    synthetic = executable.stages != 0 and executable.stages & ~synthetic_stages == 0
    return replace(executable, synthetic=synthetic, bound=bound)


def _merged(executables: Sequence[ExecutableAnswer], synthetic_stages: int) -> list[Diagnostic]:
    """Executables that hold real stages and generated ones, which can't be told apart: RADV merges a vertex stage into
    the geometry stage behind it, and makes one compute shader of a whole ray tracing pipeline."""
    return [
        Diagnostic(
            "info", "driver/merged-stages", f"executable {index}, {one.name}: generated stages are in its numbers too"
        )
        for index, one in enumerate(executables)
        if synthetic_stages and not one.synthetic and (one.stages & synthetic_stages or one.stages == _COMPUTE)
    ]


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
