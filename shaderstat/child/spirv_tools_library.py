"""SPIRV-Tools' shared library through ctypes: a millisecond a module, where a program takes five.

`spvBinaryParse` is left alone: its operand struct grew a member between releases. What is declared here has been the
same since 2016 (`libspirv.h`); options that a library lacks are left out.
"""

from __future__ import annotations

import ctypes
import queue
import struct
import threading
from collections.abc import Callable, Sequence
from typing import Any

from shaderstat.child.spirv_tool import ENVIRONMENTS, LIMIT_S, VALID, Options, Refusal, ToolFailed
from shaderstat.spirv.words import MAGIC

# spv_result_t, the instruction's number, the message.
_Outcome = tuple[int, int, str]

# spv_result_t, libspirv.h.
_SUCCESS = 0
# spv_binary_to_text_options_t.
_INDENT = 1 << 3
_FRIENDLY_NAMES = 1 << 6

_SETTERS = {
    "scalar_block_layout": "spvValidatorOptionsSetScalarBlockLayout",
    "uniform_buffer_standard_layout": "spvValidatorOptionsSetUniformBufferStandardLayout",
    "workgroup_scalar_block_layout": "spvValidatorOptionsSetWorkgroupScalarBlockLayout",
    "relax_block_layout": "spvValidatorOptionsSetRelaxBlockLayout",
    "local_size_id": "spvValidatorOptionsSetAllowLocalSizeId",
    "offset_texture_operand": "spvValidatorOptionsSetAllowOffsetTextureOperand",
    "bitwise_of_any_width": "spvValidatorOptionsSetAllowVulkan32BitBitwise",
}


class _Position(ctypes.Structure):
    _fields_ = (("line", ctypes.c_size_t), ("column", ctypes.c_size_t), ("index", ctypes.c_size_t))


class _Diagnostic(ctypes.Structure):
    _fields_ = (("position", _Position), ("error", ctypes.c_char_p), ("is_text_source", ctypes.c_bool))


class _Text(ctypes.Structure):
    _fields_ = (("str", ctypes.c_void_p), ("length", ctypes.c_size_t))


class _Binary(ctypes.Structure):
    _fields_ = (("code", ctypes.c_char_p), ("word_count", ctypes.c_size_t))


class _Worker:
    """A thread for calls that nothing can end: the caller stops waiting instead. It is kept, since starting one for
    each module takes longer than validating it."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[Callable[[], _Outcome]] = queue.SimpleQueue()
        self._outcomes: queue.SimpleQueue[_Outcome] = queue.SimpleQueue()
        threading.Thread(target=self._serve, daemon=True).start()

    def do(self, call: Callable[[], _Outcome], limit_s: float) -> _Outcome:
        """What `call` gives.

        Raises:
            queue.Empty: it takes too long. The worker can't be used any more.
        """
        self._calls.put(call)
        return self._outcomes.get(timeout=limit_s)

    def _serve(self) -> None:
        while True:
            self._outcomes.put(self._calls.get()())


class Library:
    """See `shaderstat.child.spirv_tools.Tool`. Contexts and option objects are made once for each kind and kept.
    Validation has a thread of its own, so that a module that takes too long costs its own verdict and nothing else.

    Raises:
        OSError: no such library, or one of another machine.
        AttributeError: a library that isn't SPIRV-Tools.
    """

    def __init__(self, path: str) -> None:
        self._spv = _declare(ctypes.CDLL(path))
        # "v2025.5", or a longer line where that is empty.
        self.version = (self._spv.spvSoftwareVersionString() or b"unknown").decode("utf-8", "replace")
        self.environments: Sequence[str] = [name for name in ENVIRONMENTS if self._number(name) is not None]
        self.limit_s = LIMIT_S
        self._contexts: dict[str, int] = {}
        self._options: dict[tuple[Options, bool], int] = {}
        self._worker: _Worker | None = None
        self._extensions: dict[str, bool] = {}

    def validate(self, words: bytes, environment: str, options: Options) -> Refusal | None:
        """See `Tool.validate`."""
        result, index, message = self._validate(words, environment, options)
        if result == _SUCCESS:
            return VALID
        # Names of ids take a third of the time, and only a message has them.
        _, _, named = self._validate(words, environment, options, names=True)
        return Refusal(index, named or message or f"refused with result {result}")

    def _validate(
        self, words: bytes, environment: str, options: Options, *, names: bool = False
    ) -> tuple[int, int, str]:
        context, made = self._context(environment), self._option_object(options, names)

        def work() -> tuple[int, int, str]:
            binary = _Binary(words, len(words) // 4)
            diagnostic = ctypes.POINTER(_Diagnostic)()
            result: int = self._spv.spvValidateWithOptions(
                context, made, ctypes.byref(binary), ctypes.byref(diagnostic)
            )
            return (result, *self._take(diagnostic))

        if self._worker is None:
            self._worker = _Worker()
        try:
            return self._worker.do(work, self.limit_s)
        except queue.Empty:
            # Nothing ends the call: it is left alone, with what it holds, and ends with this process at the latest.
            self._worker = None
            self._contexts, self._options = {}, {}
            raise ToolFailed(f"SPIRV-Tools {self.version} took more than {self.limit_s:g} s") from None

    def disassemble(self, words: bytes) -> str:
        """See `Tool.disassemble`."""
        text = ctypes.POINTER(_Text)()
        diagnostic = ctypes.POINTER(_Diagnostic)()
        result = self._spv.spvBinaryToText(
            self._context(self.environments[-1] if self.environments else "spv1.6"),
            words,
            len(words) // 4,
            _INDENT | _FRIENDLY_NAMES,
            ctypes.byref(text),
            ctypes.byref(diagnostic),
        )
        _, message = self._take(diagnostic)
        if result != _SUCCESS or not text:
            raise ToolFailed(f"SPIRV-Tools {self.version} can't disassemble it: {message or f'result {result}'}")
        raw = ctypes.string_at(text.contents.str, text.contents.length)
        self._spv.spvTextDestroy(text)
        return raw.decode("utf-8", "replace")

    def knows_extension(self, name: str) -> bool:
        """Ask the library itself: it remarks on an extension that it doesn't know in a module that is good."""
        known = self._extensions.get(name)
        if known is None:
            _, _, message = self._validate(_module_with_extension(name), "spv1.0", Options())
            known = self._extensions[name] = "unrecognized extension" not in message
        return known

    def _number(self, environment: str) -> int | None:
        """Environments go by name: their numbers differ between releases."""
        number = ctypes.c_int()
        known = self._spv.spvParseTargetEnv(environment.encode(), ctypes.byref(number))
        return number.value if known else None

    def _context(self, environment: str) -> int:
        context = self._contexts.get(environment)
        if context is None:
            number = self._number(environment)
            context = None if number is None else self._spv.spvContextCreate(number)
            if not context:
                raise ToolFailed(f"SPIRV-Tools {self.version} doesn't know the environment {environment}")
            self._contexts[environment] = context
        return context

    def _option_object(self, options: Options, names: bool) -> int:
        made = self._options.get((options, names))
        if made is None:
            made = self._options[options, names] = self._spv.spvValidatorOptionsCreate()
            for member, setter in _SETTERS.items():
                if getattr(options, member) and hasattr(self._spv, setter):
                    getattr(self._spv, setter)(ctypes.c_void_p(made), ctypes.c_bool(True))
            if hasattr(self._spv, "spvValidatorOptionsSetFriendlyNames"):
                self._spv.spvValidatorOptionsSetFriendlyNames(ctypes.c_void_p(made), ctypes.c_bool(names))
        return made

    def _take(self, diagnostic: Any) -> tuple[int, str]:
        """The index and the text of a diagnostic, which is freed."""
        if not diagnostic:
            return 0, ""
        index = diagnostic.contents.position.index
        message = (diagnostic.contents.error or b"").decode("utf-8", "replace")
        self._spv.spvDiagnosticDestroy(diagnostic)
        return index, message.strip()


def _declare(spv: Any) -> Any:
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    diagnostics = ctypes.POINTER(ctypes.POINTER(_Diagnostic))
    for name, result, arguments in (
        ("spvSoftwareVersionString", ctypes.c_char_p, []),
        ("spvParseTargetEnv", ctypes.c_bool, [ctypes.c_char_p, ctypes.POINTER(ctypes.c_int)]),
        ("spvContextCreate", pointer, [ctypes.c_int]),
        ("spvValidatorOptionsCreate", pointer, []),
        ("spvValidateWithOptions", ctypes.c_int, [pointer, pointer, ctypes.POINTER(_Binary), diagnostics]),
        (
            "spvBinaryToText",
            ctypes.c_int,
            [pointer, ctypes.c_char_p, size, ctypes.c_uint32, ctypes.POINTER(ctypes.POINTER(_Text)), diagnostics],
        ),
        ("spvTextDestroy", None, [ctypes.POINTER(_Text)]),
        ("spvDiagnosticDestroy", None, [ctypes.POINTER(_Diagnostic)]),
    ):
        function = getattr(spv, name)
        function.restype, function.argtypes = result, arguments
    return spv


def _module_with_extension(name: str) -> bytes:
    """The smallest good module that declares an extension: a library, so that it needs no entry point."""
    text = name.encode() + b"\0" * (4 - len(name.encode()) % 4)
    literal = struct.unpack(f"<{len(text) // 4}I", text)
    words = [MAGIC, 0x00010000, 0, 1, 0]
    words += [2 << 16 | 17, 1, 2 << 16 | 17, 5]  # OpCapability Shader, Linkage
    words += [(1 + len(literal)) << 16 | 10, *literal]  # OpExtension
    words += [3 << 16 | 14, 0, 1]  # OpMemoryModel Logical GLSL450
    return struct.pack(f"={len(words)}I", *words)
