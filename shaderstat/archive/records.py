"""Payloads as JSON objects, looked up in one or several archives that belong together."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from shaderstat.archive.containers import Container
from shaderstat.archive.format import GENERATED, NAMES, OWN, TOPS, Tag, name
from shaderstat.archive.varints import decode
from shaderstat.errors import InvalidSpirv
from shaderstat.model import Diagnostic

# The same as `shaderstat.inputs.MAX_BYTES`.
MAX_MODULE = 256 * 1024 * 1024

# Modules and small records are shared by many pipelines: bytes of modules, and records, that are kept.
_KEPT_BYTES = 16 * 1024 * 1024
_KEPT_RECORDS = 4096

# As `members.hash_of` takes them.
_REFERENCE = re.compile(rb'"([0-9a-fA-F]{1,16})"')
# Half a character, in JSON's words: what no UTF-8 can say.
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


class Records:
    """Archives as one: an object that several have is the first one's.

    A recording that several processes made is such a set: ``base.1.foz`` refers to what ``base.foz`` holds.
    """

    def __init__(self, containers: Sequence[Container]) -> None:
        self.containers = tuple(containers)
        self._records: OrderedDict[tuple[Tag, int], tuple[str, dict[str, Any]]] = OrderedDict()
        self._modules: OrderedDict[int, bytes] = OrderedDict()
        self._kept = 0
        self._looks: dict[tuple[Tag, int], tuple[bytes, tuple[tuple[Tag, int], ...]]] = {}
        self._generated: dict[tuple[Tag, int], Any] = {}

    @property
    def remarks(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the archives as a whole."""
        return tuple(remark for container in self.containers for remark in container.remarks)

    def hashes(self, tag: Tag) -> list[int]:
        """The objects of a kind, in the order of their hashes."""
        return sorted({hash for container in self.containers for hash in container.hashes(tag)})

    def has(self, tag: Tag, hash: int) -> bool:
        """Whether one of the archives has it."""
        return any(container.has(tag, hash) for container in self.containers)

    def path(self, tag: Tag, hash: int) -> str:
        """The archive that has it; the first one's where none has."""
        return next((each.path for each in self.containers if each.has(tag, hash)), self.containers[0].path)

    def payload(self, tag: Tag, hash: int) -> bytes:
        """An entry's payload.

        Raises:
            InvalidSpirv: ``archive/missing``, or what the container says.
        """
        error = InvalidSpirv("archive/missing", f"there is no {NAMES[tag]} {name(hash)}")
        error.path = self.containers[0].path
        damaged: list[InvalidSpirv] = []
        for container in self.containers:
            if container.has(tag, hash):
                try:
                    return container.payload(tag, hash)
                except InvalidSpirv as problem:  # another archive may have it whole
                    damaged.append(problem)
        raise (damaged or [error])[0]

    def record(self, tag: Tag, hash: int) -> tuple[str, dict[str, Any]]:
        """An object of a kind in `TOPS`, with the member of the payload that it stood in.

        Raises:
            InvalidSpirv: ``archive/…``.
        """
        key = (tag, hash)
        found = self._records.get(key)
        if found is None:
            try:
                found = self._object(tag, hash)
            except InvalidSpirv as error:
                error.path = error.path or self.path(tag, hash)
                raise
            self._records[key] = found
            if len(self._records) > _KEPT_RECORDS:
                self._records.popitem(last=False)
        return found

    def generated(self, tag: Tag, hash: int) -> Any:
        """What an archive of our own says of a pipeline, once its record was read: the stages that were generated, as
        VkShaderStageFlags; None where it says nothing."""
        return self._generated.get((tag, hash))

    def document(self, tag: Tag, hash: int) -> dict[str, Any]:
        """A whole payload, of an entry that holds no objects by their hashes.

        Raises:
            InvalidSpirv: ``archive/…``.
        """
        try:
            return _json(self.payload(tag, hash), f"{NAMES[tag]} {name(hash)}")[0]
        except InvalidSpirv as error:
            error.path = error.path or self.path(tag, hash)
            raise

    def module(self, hash: int) -> bytes:
        """A module's words, in this machine's byte order.

        Raises:
            InvalidSpirv: ``archive/…``.
        """
        words = self._modules.get(hash)
        if words is None:
            try:
                words = self._words(hash)
            except InvalidSpirv as error:
                error.path = error.path or self.path(Tag.MODULE, hash)
                raise
            self._modules[hash] = words
            self._kept += len(words)
            while self._kept > _KEPT_BYTES and len(self._modules) > 1:
                self._kept -= len(self._modules.popitem(last=False)[1])
        else:
            self._modules.move_to_end(hash)
        return words

    def fingerprint(self, tag: Tag, hash: int) -> bytes:
        """A digest of an object and of all that it refers to, found without making anything of them: equal where the
        same bytes would be read.

        Raises:
            InvalidSpirv: ``archive/…``: some of them can't be read.
        """
        key = tag, hash
        reached, pending = {key}, [key]
        while pending:
            for other in self._look(*pending.pop())[1]:
                if other not in reached:
                    reached.add(other)
                    pending.append(other)
        digest = hashlib.sha256(b"%x:%016x" % key)
        for each in sorted(reached):
            digest.update(self._look(*each)[0])
        return digest.digest()

    def _look(self, tag: Tag, hash: int) -> tuple[bytes, tuple[tuple[Tag, int], ...]]:
        """A digest of an object's own payload, and what it may refer to: whatever has a name that stands in it."""
        found = self._looks.get((tag, hash))
        if found is None:
            payload = self.payload(tag, hash)
            text = payload.partition(b"\0")[0]
            names = _REFERENCE.findall(text)
            if b"\\" in text:  # a name may be written in other ways
                names += _REFERENCE.findall(json.dumps(self.document(tag, hash)).encode())
            others = tuple(
                (other, reference)
                for reference in sorted({int(each, 16) for each in names})
                for other in TOPS
                if (other, reference) != (tag, hash) and self.has(other, reference)
            )
            found = self._looks[tag, hash] = hashlib.sha256(payload).digest(), others
        return found

    def _object(self, tag: Tag, hash: int) -> tuple[str, dict[str, Any]]:
        what = f"{NAMES[tag]} {name(hash)}"
        document, _ = _json(self.payload(tag, hash), what)
        if isinstance(own := document.get(OWN), dict):
            self._generated[tag, hash] = own.get(GENERATED)
        for top in TOPS[tag]:
            objects = document.get(top)
            if isinstance(objects, dict):
                for key, value in objects.items():
                    if _is_key(key, hash):
                        if not isinstance(value, dict):
                            raise InvalidSpirv("archive/value", f"{what}: an object is wanted")
                        return top, value
        raise InvalidSpirv("archive/value", f"{what}: its payload has no {top}.{name(hash)}")

    def _words(self, hash: int) -> bytes:
        what = f"{NAMES[Tag.MODULE]} {name(hash)}"
        document, binary = _json(self.payload(Tag.MODULE, hash), what)
        objects = document.get("shaderModules")
        found = objects.get(name(hash)) if isinstance(objects, dict) else None
        if not isinstance(found, dict):
            raise InvalidSpirv("archive/value", f"{what}: its payload has no shaderModules.{name(hash)}")
        size = _size(found, "codeSize", what)
        if size % 4 or size > MAX_MODULE:
            raise InvalidSpirv("archive/size", f"{what}: {size} bytes are no SPIR-V")
        if "code" in found:
            return _from_base64(found["code"], size, what)
        start, length = _size(found, "varintOffset", what), _size(found, "varintSize", what)
        if start + length > len(binary):
            raise InvalidSpirv("archive/size", f"{what}: {length} bytes at {start} of {len(binary)}")
        try:
            return decode(binary[start : start + length], size // 4)
        except InvalidSpirv as error:
            error.message = f"{what}: {error.message}"
            raise


def _is_key(key: str, hash: int) -> bool:
    try:
        return int(key, 16) == hash
    except ValueError:
        return False


def _json(payload: bytes, what: str) -> tuple[dict[str, Any], bytes]:
    """What stands before the first NUL as JSON, and what stands behind it."""
    text, _, binary = payload.partition(b"\0")
    try:
        found = _DECODER.decode(text.decode())
        if _SURROGATE.search(text):
            json.dumps(found, ensure_ascii=False).encode()
    except RecursionError:
        raise InvalidSpirv("archive/json", f"{what}: nested too deeply") from None
    except json.JSONDecodeError as error:
        how = f"{error.msg}, byte {len(error.doc[: error.pos].encode())}" if text.strip() else "nothing at all"
        raise InvalidSpirv("archive/json", f"{what}: no JSON: {how}") from None
    except UnicodeError:
        raise InvalidSpirv("archive/json", f"{what}: text that is no Unicode") from None
    except ValueError as error:  # of `_no_constant`, or an integer of thousands of digits
        how = str(error) if str(error).endswith(_NO_NUMBER) else "a number of thousands of digits"
        raise InvalidSpirv("archive/json", f"{what}: no JSON: {how}") from None
    if not isinstance(found, dict):
        raise InvalidSpirv("archive/json", f"{what}: an object is wanted")
    return found, binary


def _no_constant(word: str) -> Any:
    raise ValueError(word + _NO_NUMBER)


_NO_NUMBER = " is no number"


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def _size(found: dict[str, Any], member: str, what: str) -> int:
    value = found.get(member, 0)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InvalidSpirv("archive/value", f"{what}: {member} is {value!r:.40}")
    return value


def _from_base64(text: Any, size: int, what: str) -> bytes:
    """The older form."""
    try:
        code = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError, TypeError) as error:
        raise InvalidSpirv("archive/value", f"{what}: code: {error}") from None
    if len(code) != size:
        raise InvalidSpirv("archive/size", f"{what}: {len(code)} bytes, said to be {size}")
    return code
