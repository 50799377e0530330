"""Trials: does a compiler answer, and what does it make of one small module?

`shaderstat targets` asks this of dozens of GPUs. One process loads the kit and the Vulkan loader once and forks for
each trial, since an unknown GPU's name aborts a driver. The input is one ``job`` frame and then ``launch`` frames, each
with its ``environment``, ``timeout_s`` and the path of a ``shim`` that its driver is loaded behind, or ""; the output
is, for each launch, ``hello`` (with what the device ``takes``, as `shaderstat.pipeline.requirements` has it) and
``answer``, or ``refused``. A launch of device -1 stands for all devices of the loader and is answered once for each of
them.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any, BinaryIO, cast

from shaderstat import wire
from shaderstat.backends.base import DriverError, open_backend
from shaderstat.child import behind
from shaderstat.child.core_dumps import no_core_dumps
from shaderstat.child.spirv_tools import SpirvTools
from shaderstat.errors import NoTarget, ShaderstatError
from shaderstat.model import Answer, Job, Launch
from shaderstat.pipeline.requirements import takes
from shaderstat.pipeline.spec import PipelineSpec, SpecModule

# What `trial.comp` binds. Importing what reads a module's words, and synthesis, takes as long as two trials.
_BINDINGS = ("UNIFORM_BUFFER", "STORAGE_BUFFER", "STORAGE_BUFFER", "STORAGE_BUFFER", "COMBINED_IMAGE_SAMPLER")

# Left out of a trial's device. No module can ask for it, and NVK compiles a shader of its own for it, on three of four
# GPUs, which takes as long as all the rest of a trial.
_WITHOUT = (("VkPhysicalDeviceDescriptorBufferFeaturesEXT", "descriptorBuffer", False),)


def trial_spec(job: Job) -> PipelineSpec:
    """The pipeline of the trial's module, as synthesis makes it on any device."""
    (module,) = job.modules
    bindings = [
        {
            "binding": binding,
            "descriptorType": f"VK_DESCRIPTOR_TYPE_{kind}",
            "descriptorCount": 1,
            "stageFlags": "VK_SHADER_STAGE_COMPUTE_BIT",
        }
        for binding, kind in enumerate(_BINDINGS)
    ]
    return PipelineSpec(
        kind="compute",
        modules=(SpecModule(module.data, module.path),),
        set_layouts=({"pBindings": bindings},),
        layout={"pSetLayouts": [0], "pPushConstantRanges": []},
        create_info={"stage": {"stage": "VK_SHADER_STAGE_COMPUTE_BIT", "module": 0, "pName": module.entry_point}},
    )


def serve(in_fd: int, out_fd: int) -> None:
    """Take a job and launches from `in_fd`, answer on `out_fd`, until the input ends."""
    no_core_dumps()
    frames = _frames(in_fd)
    _, header, blob = next(frames)
    spec = trial_spec(wire.job_from_frame(header, blob))
    loaded: dict[str | None, str] = {None: ""}
    for _, header, _ in frames:
        environment, limit_s, shim = header.pop("environment"), header.pop("timeout_s"), header.pop("shim")
        launch = wire.launch_from_plain(header)
        if launch.driver_manifest not in loaded:
            loaded[launch.driver_manifest] = _load_driver(str(launch.driver_manifest), shim)
        _warm_up()
        problem = loaded[launch.driver_manifest]
        for one in _devices(launch, environment, limit_s):
            if not isinstance(one, bytes):
                one = _refused(f"{launch.id}: {problem}") if problem else _trial(one, environment, limit_s, spec, shim)
            _write(out_fd, one)
    os._exit(0)


@cache
def _warm_up() -> None:
    """What every trial does before it asks its driver anything, done once for all forks."""
    with suppress(ImportError, OSError):  # where it can't be loaded, each of them says why
        from shaderstat.backends.vulkan import device, pipelines  # noqa: F401
        from shaderstat.registry import vulkan

        vulkan.feature_structs()
        for name in vulkan.required_names():
            vulkan.capability_requirements(name)
    # A trial is over before it has garbage to speak of; looking for it would make each fork copy what it looks at.
    gc.disable()


def _frames(in_fd: int) -> Iterator[tuple[int, dict[str, Any], bytes]]:
    reader = wire.FrameReader()
    while data := os.read(in_fd, 1 << 16):
        reader.feed(data)
        while (frame := reader.next()) is not None:
            yield frame


def _load_driver(manifest: str, shim: str) -> str:
    """Load a driver's library for all forks: RADV brings LLVM, whose relocation takes longer than a trial. Nothing of
    it is called.

    Returns:
        Why it may not be tried: behind no shim it would take this machine's GPU for the one that was meant. Where it
        can't be loaded at all, each trial will say so.
    """
    try:
        with open(manifest, "rb") as file:
            library = json.load(file)["ICD"]["library_path"]
        path = os.path.join(os.path.dirname(manifest), library) if "/" in library else library
        if shim:
            behind.load(path, shim)
        else:
            ctypes.CDLL(path)
    except (OSError, ValueError, KeyError, TypeError) as error:
        return f"not to be loaded behind {os.path.basename(shim)} ({error})" if shim else ""
    return ""


def _devices(launch: Launch, environment: Mapping[str, str], limit_s: float) -> Iterator[Launch | bytes]:
    """The launch itself, or one for each device that the loader shows; the refusal where it shows none."""
    if launch.device >= 0:
        yield launch
        return

    def count() -> bytes:
        from shaderstat.backends.vulkan import enumerate_devices

        return bytes([len(enumerate_devices(launch))])

    counted = _forked(count, environment, limit_s, launch.id)
    if len(counted) != 1:
        yield counted
        return
    for index in range(counted[0]):
        yield replace(launch, id=f"{launch.id}:{index}", device=index)


def _trial(launch: Launch, environment: Mapping[str, str], limit_s: float, spec: PipelineSpec, shim: str = "") -> bytes:
    def compile_it() -> bytes:
        setup = replace(launch.setup, features=(*launch.setup.features, *_WITHOUT))
        backend = open_backend(replace(launch, setup=setup), SpirvTools(None))
        facts = backend.facts
        offers = (backend.offer, backend.tells_executables)
        hello = wire.hello_to_plain(wire.Hello(facts.driver, facts.device, launch.device, None, (), *offers))
        hello["takes"] = takes(facts)
        with backend.compile(spec, statistics=True, representations=True) as pipeline:
            answer = Answer("ok", pipeline.query() if backend.tells_executables else ())
        if shim and behind.has_opened_a_gpu():
            raise NoTarget(f"{launch.id}: the driver has found a GPU of this machine, past {os.path.basename(shim)}")
        return wire.frame(wire.HELLO, hello) + wire.answer_frame(answer)

    return _forked(compile_it, environment, limit_s, launch.id)


def _forked(work: Callable[[], bytes], environment: Mapping[str, str], limit_s: float, name: str) -> bytes:
    """What `work` gives in a process of its own; a ``refused`` frame where it fails, dies or takes too long."""
    into, out = os.pipe()
    with _scratch() as said:
        process = os.fork()
        if process == 0:
            os.dup2(said.fileno(), 2)
            os.dup2(said.fileno(), 1)
            signal.setitimer(signal.ITIMER_REAL, limit_s)  # SIGALRM's default is to end the process
            os.environ.update(environment)
            try:
                result = work()
            except NoTarget as error:
                result = _refused(error.message, error.hint)
            except (DriverError, ShaderstatError) as error:
                result = _refused(f"{name}: {error}")
            _write(out, result)
            os._exit(0)
        os.close(out)
        with open(into, "rb") as stream:
            result = stream.read()
        _, status = os.waitpid(process, 0)
        if status == 0 and result:
            return result
        said.seek(0)
        words = said.read(4096).decode("utf-8", "replace").strip().splitlines()
    number = os.waitstatus_to_exitcode(status)
    if number == -signal.SIGALRM:
        return _refused(f"{name}: no answer within {limit_s:g} s")
    how = signal.Signals(-number).name if number < 0 else f"exit status {number}"
    return _refused(f"{name}: the driver died ({how}){': ' + words[-1] if words else ''}")


def _scratch() -> BinaryIO:
    """A file without a name."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("said"), "r+b")
    import tempfile  # takes as long to import as a small driver

    return cast(BinaryIO, tempfile.TemporaryFile())


def _refused(message: str, hint: str | None = None) -> bytes:
    return wire.frame(wire.REFUSED, {"message": message, "hint": hint})


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
