"""SPIRV-Tools' programs, ``spirv-val`` and ``spirv-dis``: what a distribution has, five milliseconds a module."""

from __future__ import annotations

import re
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from shaderstat.child.spirv_tool import ENVIRONMENTS, LIMIT_S, VALID, Options, Refusal, ToolFailed

# What a program may write: a disassembly has about twelve times the bytes of its module.
OUTPUT_LIMIT = 64 << 20

_FLAGS = {
    "scalar_block_layout": "--scalar-block-layout",
    "uniform_buffer_standard_layout": "--uniform-buffer-standard-layout",
    "workgroup_scalar_block_layout": "--workgroup-scalar-block-layout",
    "relax_block_layout": "--relax-block-layout",
    "local_size_id": "--allow-localsizeid",
    "offset_texture_operand": "--allow-offset-texture-operand",
    "bitwise_of_any_width": "--allow-vulkan-32-bit-bitwise",
}


class Programs:
    """See `shaderstat.child.spirv_tools.Tool`.

    Raises:
        ToolFailed: `validator` can't be run.
    """

    def __init__(self, validator: str, disassembler: str | None, *, limit_s: float = LIMIT_S) -> None:
        self._validator = validator
        self._disassembler = disassembler
        self.limit_s = limit_s
        self._image: bytes | None = None
        # An unknown option ends the program with the status of a refusal, so only what it lists is passed.
        _, text = self._run([validator, "--help"], b"")
        self._flags = set(re.findall(r"--[a-z0-9-]+", text))
        if "--target-env" not in self._flags:
            raise ToolFailed(f"{validator} is no SPIRV-Tools validator")
        named = set(re.findall(r"vulkan[0-9.]+(?:spv[0-9.]+)?", text))
        self.environments: Sequence[str] = [name for name in ENVIRONMENTS if name in named]
        _, text = self._run([validator, "--version"], b"")
        match = re.search(r"v?\d{4}\.\d+\S*", text)
        self.version = match.group() if match else "of unknown version"

    def validate(self, words: bytes, environment: str, options: Options) -> Refusal | None:
        """See `Tool.validate`."""
        flags = [flag for member, flag in _FLAGS.items() if getattr(options, member) and flag in self._flags]
        status, text = self._run([self._validator, "--target-env", environment, *flags, "-"], words)
        if status == 0:
            return VALID
        match = re.search(r"^error: (?:line (\d+): )?(.*)", text, re.MULTILINE | re.DOTALL)
        if status != 1 or match is None:
            raise ToolFailed(f"{self._validator} died (exit status {status}): {text.strip()[-500:]}")
        return Refusal(int(match[1] or 0), match[2].strip())

    def disassemble(self, words: bytes) -> str:
        """See `Tool.disassemble`."""
        if self._disassembler is None:
            raise ToolFailed(f"there is no spirv-dis beside {self._validator}, nor on PATH")
        status, text = self._run([self._disassembler, "--no-color", "-"], words)
        if status != 0:
            raise ToolFailed(f"{self._disassembler} can't read it (exit status {status}): {text.strip()[-500:]}")
        return text

    def knows_extension(self, name: str) -> bool:
        """Look for the name in the program itself: it has no other way to tell. One that keeps its names elsewhere, in
        a shared library, lacks them all."""
        if self._image is None:
            try:
                self._image = Path(self._validator).read_bytes()
            except OSError:
                self._image = b""
        return b"SPV_KHR_16bit_storage\0" not in self._image or name.encode() + b"\0" in self._image

    def _run(self, argv: Sequence[str], data: bytes) -> tuple[int, str]:
        """Exit status and output, standard error included (on success nothing goes there)."""
        late = threading.Event()
        with tempfile.TemporaryFile() as source:
            source.write(data)
            source.seek(0)
            try:
                process = subprocess.Popen(argv, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            except OSError as error:
                raise ToolFailed(f"{argv[0]} can't be run: {error.strerror}") from None

        def stop() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self.limit_s, stop)
        timer.start()
        try:
            with process:
                assert process.stdout is not None
                output = process.stdout.read(OUTPUT_LIMIT + 1)
                if len(output) > OUTPUT_LIMIT:
                    process.kill()
        finally:
            timer.cancel()
        if late.is_set():
            raise ToolFailed(f"{argv[0]} took more than {self.limit_s:g} s")
        if len(output) > OUTPUT_LIMIT:
            raise ToolFailed(f"{argv[0]} wrote more than {OUTPUT_LIMIT >> 20} MiB")
        return process.returncode, output.decode("utf-8", "replace")
