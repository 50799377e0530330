"""One child process, seen from the parent: its pipes, its phase, the end of its standard error, its death."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Mapping
from typing import Any

from shaderstat import wire
from shaderstat.model import Answer, Failure, Job, Launch
from shaderstat.pool import kit

# How much of a child's standard error is kept: enough for a driver's last words, not for its life story.
STDERR_TAIL = 4096
# How long after a deadline the parent waits for the child's own watchdog before it kills.
GRACE_S = 2.0

# Descriptor 1 is duplicated away and pointed at 2 before anything else is imported, so that no driver's chatter can
# enter the protocol (design.md, "A driver never runs in the user's process").
BOOT = (
    "import os,sys;out=os.dup(1);os.dup2(2,1);sys.path[:0]=sys.argv[1:];from shaderstat.child import serve;serve(0,out)"
)


def kit_path() -> list[str]:
    """The folders that a child needs on its path: for the kit, `vulkan`, cffi, SPIRV-Tools. Nothing is imported."""
    folders = [os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))]
    for name in ("vulkan", "_cffi_backend", "cmeel"):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            origin = os.path.dirname(spec.origin)
            folders.append(os.path.dirname(origin) if spec.submodule_search_locations else origin)
    return list(dict.fromkeys(folders))


class ChildProcess:
    """A child on its way through jobs.

    Attributes:
        jobs: keys of the jobs it holds, the one in hand first.
        hello: what it said of its device, or None before.
        started: when the job in hand (or the start) began, by `time.monotonic`.
        limit_s: the time limit of what it does now.
        answers: how many jobs it has finished.
    """

    def __init__(
        self, launch: Launch, timeout_s: float, environment: Mapping[str, str], *, libraries: bool = False
    ) -> None:
        self.launch = launch
        self.jobs: deque[tuple[Any, Job]] = deque()
        self.hello: wire.Hello | None = None
        self.phase = "start"
        self.state: Mapping[str, Any] | None = None  # of the job in hand, once it is known
        self.compiled: Answer | None = None  # what is known of it before its run
        self.started = time.monotonic()
        self.limit_s = timeout_s
        self.answers = 0
        self.over_limit = False
        self.garbage: str | None = None
        self._killed = False
        self._stderr = bytearray()
        self._outgoing = bytearray()
        self._frames = wire.FrameReader()
        foreign = kit.is_needed(launch)
        opening = kit.opening(launch) if foreign else b""
        self._process = subprocess.Popen(
            kit.command(launch) if foreign else [*launch.prefix, sys.executable, "-I", "-S", "-c", BOOT, *kit_path()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            start_new_session=True,  # Ctrl-C goes to the parent alone, which ends its children in order
        )
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self.stdin, self.stdout, self.stderr = self._process.stdin, self._process.stdout, self._process.stderr
        for pipe in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(pipe.fileno(), False)
        settings = {"timeout_s": timeout_s, "spirv_tools": launch.spirv_tools, "libraries": libraries}
        self._queue(opening + wire.frame(wire.LAUNCH, {**wire.launch_to_plain(launch), **settings}))

    # ── Sending ───────────────────────────────────────────────────────────────────────────────────────────────────

    def hand(self, key: Any, job: Job) -> None:
        """Give it one more job."""
        if not self.jobs:
            self._begin(job)
        self.jobs.append((key, job))
        self._queue(wire.job_frame(job))

    def _begin(self, job: Job) -> None:
        self.started = time.monotonic()
        self.limit_s = job.timeout_s
        self._stderr.clear()

    def _queue(self, data: bytes) -> None:
        self._outgoing += data
        self.flush()

    @property
    def wants_to_write(self) -> bool:
        """Whether something waits for the pipe."""
        return bool(self._outgoing)

    def flush(self) -> None:
        """Write what the pipe takes now. A closed pipe is no news here: the end of its output tells of a death."""
        while self._outgoing:
            try:
                written = os.write(self.stdin.fileno(), self._outgoing[: 1 << 16])
            except BlockingIOError:
                return
            except OSError:
                self._outgoing.clear()
                return
            del self._outgoing[:written]

    # ── Receiving ─────────────────────────────────────────────────────────────────────────────────────────────────

    def read_stderr(self) -> bool:
        """Take what it said on standard error; False at its end."""
        data = _read(self.stderr.fileno())
        if data:
            self._stderr += data
            # What a driver said of earlier jobs is none of this one's last words.
            before = self._stderr.rfind(wire.NEXT_JOB)
            if before >= 0:
                del self._stderr[: before + len(wire.NEXT_JOB)]
            del self._stderr[:-STDERR_TAIL]
        return data != b""

    def read(self) -> tuple[bool, list[tuple[int, dict[str, Any], bytes]]]:
        """Take what it answered.

        Returns:
            Whether its output is still open, and the frames that have become whole. Phases are noted, not returned.
        """
        data = _read(self.stdout.fileno())
        if data:
            self._frames.feed(data)
        frames = []
        try:
            while (frame := self._frames.next()) is not None:
                kind, header, _ = frame
                if kind == wire.PHASE:
                    self.phase = header["phase"]
                elif kind == wire.DEADLINE:
                    self.over_limit, self.phase = True, header["phase"]
                else:
                    self.phase = "prepare"  # the next job's, whose further phases may lie in this very read
                    frames.append(frame)
        except wire.ProtocolError as error:
            self.reject(str(error))
            return False, frames
        return data != b"", frames

    def reject(self, reason: str) -> None:
        """It has written what no child of ours writes: something else has got hold of its output."""
        self.garbage = reason
        self.kill()

    def finish(self) -> Any:
        """The job in hand is answered: its key. The next one's clock starts."""
        key, _ = self.jobs.popleft()
        self.answers += 1
        self.state = self.compiled = None
        if self.jobs:
            self._begin(self.jobs[0][1])
        return key

    # ── Ending ────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def busy(self) -> bool:
        """Whether it holds a job, or is still starting."""
        return bool(self.jobs) or self.hello is None

    def deadline(self) -> float:
        """When the parent must kill it, by `time.monotonic`; infinite while it idles."""
        return self.started + self.limit_s + GRACE_S if self.busy else float("inf")

    def kill(self) -> None:
        """End it now."""
        self._killed = True
        _kill(self._process)

    def close(self) -> None:
        """Let it go: end of input is its sign to leave."""
        for pipe in (self.stdin, self.stdout, self.stderr):
            pipe.close()
        try:
            self._process.wait(timeout=GRACE_S)
        except subprocess.TimeoutExpired:
            _kill(self._process)
            self._process.wait()

    def overrun(self) -> None:
        """The parent's own deadline has passed: kill."""
        self.over_limit = True
        self.kill()

    def post_mortem(self) -> tuple[str, Failure]:
        """Why it died: the status for the job in hand, and the failure. Call after the end of its output."""
        self.stdin.close()
        try:
            self._process.wait(timeout=GRACE_S)
        except subprocess.TimeoutExpired:  # it closed its output and lives on
            self._killed = True
            _kill(self._process)
            self._process.wait()
        while self.read_stderr() and self._more_stderr():
            pass
        self.stdout.close()
        self.stderr.close()
        code = self._process.returncode
        tail = self._stderr.decode("utf-8", "replace")
        if self.over_limit:
            return "timeout", Failure(self.phase, "driver/timeout", limit_s=self.limit_s, stderr_tail=tail)
        if self.garbage is not None:
            return "crashed", Failure(self.phase, "driver/garbage", stderr_tail=f"{self.garbage}\n{tail}")
        if code < 0 and not self._killed:
            return "crashed", Failure(self.phase, "driver/crashed", signal=_signal_name(-code), stderr_tail=tail)
        return "crashed", Failure(self.phase, "driver/exited", exit_code=code, stderr_tail=tail)

    def _more_stderr(self) -> bool:
        import select

        return bool(select.select([self.stderr], [], [], 0)[0])


def _kill(process: subprocess.Popen[bytes]) -> None:
    """It, and whatever its prefix has started beside it: they have a session of their own."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()


def _read(descriptor: int) -> bytes | None:
    """What is there; empty at the end, None when there is nothing yet."""
    try:
        return os.read(descriptor, 1 << 16)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
