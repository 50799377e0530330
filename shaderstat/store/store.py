"""The store as the engine knows it: targets, answers, and what was found out about files."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from typing import Any

from shaderstat import wire
from shaderstat.errors import NoTarget
from shaderstat.model import Answer, Diagnostic, Job, Launch
from shaderstat.store.database import Contents, Database
from shaderstat.store.identity import digest, kit, place_key, refusal_key, target_key, unchanged

# What is written waits for company, but not for long: another run may need it, and this one may be killed.
WAITING = 64
WAITING_BYTES = 4 << 20
WAITING_S = 1.0

# The statuses that the same question has again. A driver's error may be one of the moment, such as no memory.
_LASTING = frozenset({"ok", "invalid", "unsupported"})
# A query that failed, or a list that would not end or is cut, is not the driver's last word.
_PASSING = frozenset(
    "vulkan/incomplete vulkan/lost vulkan/nothing-told vulkan/statistics vulkan/representations"
    " spirv/not-validated".split()
)


class Store:
    """Use as a context manager: leaving it writes what waits.

    Attributes:
        notes: what the user should know of the store itself; one at most.
    """

    def __init__(self, folder: str, limit: int, *, refresh: bool = False) -> None:
        """Args:
        folder: made if it isn't there.
        limit: in bytes.
        refresh: find nothing, but remember.
        """
        self._database = Database(folder, limit)
        self._refresh = refresh
        self._places: list[tuple[Launch, bytes]] = []  # as they were before anything was started
        self._entries: list[tuple[bytes, str, bytes]] = []
        self._texts: dict[bytes, bytes] = {}
        self._shapes: dict[str, list[list[Any]]] = {}
        self._bytes = 0
        self._written = time.monotonic()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def notes(self) -> Sequence[Diagnostic]:
        return self._database.notes

    @property
    def contents(self) -> Contents:
        """What is kept."""
        return self._database.contents()

    def close(self) -> None:
        """Write what waits, and let the file go."""
        self.flush()
        self._database.close()

    # ── Targets ───────────────────────────────────────────────────────────────────────────────────────────────────

    def recall(self, launch: Launch) -> wire.Hello | NoTarget | None:
        """What a launch's child would say, where that is known and nothing that decides it has changed."""
        if not self._database.is_open:
            return None
        if launch.device < 0 and (refusal := self._refusal(launch)) is not None:
            return refusal
        key = place_key(launch)
        if key is None:
            return None
        self._places.append((launch, key))
        data = self._find(key)
        try:
            hello = wire.hello_from_plain(json.loads(data)) if data is not None else None
        except (ValueError, KeyError, TypeError):
            return None
        return hello if hello is not None and unchanged(hello) else None

    def learn(self, launch: Launch, hello: wire.Hello) -> None:
        """Keep what a child said, for `recall`."""
        key = next((key for one, key in self._places if one is launch), None)
        if key is not None and (hello.libraries or launch.backend != "vulkan"):
            self._keep(key, "target", json.dumps(wire.hello_to_plain(hello)).encode())

    def _refusal(self, launch: Launch) -> NoTarget | None:
        key = refusal_key(launch)
        data = self._find(key) if key is not None else None
        try:
            return None if data is None else NoTarget(*json.loads(data))
        except (ValueError, TypeError):
            return None

    def learn_refusal(self, launch: Launch, reason: NoTarget) -> None:
        """Keep that no device answers there, for `recall`."""
        key = refusal_key(launch)
        if key is not None:
            self._keep(key, "target", json.dumps([reason.message]).encode())

    def target(self, launch: Launch, hello: wire.Hello) -> bytes | None:
        """What the keys of a target's answers begin with; None where nothing may be remembered of it."""
        return target_key(launch, hello) if self._database.is_open else None

    # ── Answers ───────────────────────────────────────────────────────────────────────────────────────────────────

    def key(self, target: bytes, job: Job, digests: Sequence[str]) -> bytes:
        """The key of a job's answer.

        Args:
            job: all of it counts but the time limit, and the modules' paths and bytes, for which
            digests: stand, the SHA-256 of each file.
        """
        plain, blobs = wire.job_to_plain(job)
        del plain["timeout_s"]
        of_state = [hashlib.sha256(blob).hexdigest() for blob in blobs[len(job.modules) :]]
        plain["modules"] = [
            [sha256, one.stage, one.entry_point] for sha256, one in zip(digests, job.modules, strict=True)
        ]
        return digest(["answer", target.hex(), plain, of_state])

    def get(self, key: bytes, paths: Sequence[str]) -> Answer | None:
        """The remembered answer, about files of these paths now; it has no durations."""
        data = self._find(key)
        if data is None:
            return None
        try:
            header, digests = json.loads(data)
            blobs = [self._text(bytes.fromhex(one)) for one in digests]
            for executable in header["executables"]:
                shape, *bits = executable[4]
                executable[4] = [[*one, each] for one, each in zip(self._shape(shape), bits, strict=True)]
            for diagnostic in header["diagnostics"]:
                if isinstance(diagnostic[4], int):
                    diagnostic[4] = paths[diagnostic[4]]
            header["cached"] = True
            return wire.answer_from_frame(header, b"".join(blobs))
        except (ValueError, LookupError, TypeError):  # a text was forgotten earlier, or the file is damaged
            return None

    def put(self, key: bytes, paths: Sequence[str], answer: Answer) -> None:
        """Remember an answer that a child gave, if it is one that stays true."""
        if answer.status not in _LASTING or any(one.code in _PASSING for one in answer.diagnostics):
            return
        if answer.spec is not None or answer.state is not None:
            return  # what would be compiled is found out faster than it is written down
        header, blobs = wire.answer_to_plain(answer)
        header.update(durations=[None, {}, None], driver_ns=0)
        places = {path: place for place, path in reversed([*enumerate(paths)])}
        for diagnostic in header["diagnostics"]:
            diagnostic[4] = places.get(diagnostic[4], diagnostic[4])
        for executable in header["executables"]:
            # Nearly all executables of a driver have one of a few sets of names: of each, the numbers are kept.
            shape = json.dumps([one[:3] for one in executable[4]], separators=(",", ":")).encode()
            executable[4] = [self._keep_text(shape), *(one[3] for one in executable[4])]
        digests = [self._keep_text(blob) for blob in blobs]
        self._keep(key, "answer", json.dumps([header, digests], separators=(",", ":")).encode())

    def _keep_text(self, data: bytes) -> str:
        sha256 = hashlib.sha256(data).digest()
        if sha256 not in self._texts:
            self._texts[sha256] = data
            self._bytes += len(data)
        return sha256.hex()

    def _text(self, sha256: bytes) -> bytes:
        """Raises:
        KeyError: it was forgotten.
        """
        data = self._database.text(sha256)
        if data is None:
            raise KeyError(sha256)
        return data

    def _shape(self, sha256: str) -> list[list[Any]]:
        """Name, description and format of each statistic."""
        if sha256 not in self._shapes:
            self._shapes[sha256] = json.loads(self._text(bytes.fromhex(sha256)))
        return self._shapes[sha256]

    # ── What was found out about files ────────────────────────────────────────────────────────────────────────────

    def fact(self, *question: str) -> Any:
        """What `note_fact` kept; None where nothing is known."""
        data = self._find(digest(["fact", kit(), question]))
        try:
            return None if data is None else json.loads(data)
        except ValueError:
            return None

    def note_fact(self, answer: Any, *question: str) -> None:
        """Keep what was found out, JSON-able and not None; `question` names the asker and the files' hashes."""
        self._keep(digest(["fact", kit(), question]), "fact", json.dumps(answer).encode())

    # ── Reading and writing ───────────────────────────────────────────────────────────────────────────────────────

    def _find(self, key: bytes) -> bytes | None:
        return None if self._refresh else self._database.entry(key)

    def _keep(self, key: bytes, kind: str, data: bytes) -> None:
        if not self._database.is_open:
            self._texts.clear()
            return
        self._entries.append((key, kind, data))
        self._bytes += len(data)
        late = time.monotonic() - self._written > WAITING_S
        if late or len(self._entries) >= WAITING or self._bytes >= WAITING_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        if self._entries:
            self._database.write(self._entries, self._texts.items())
        self._entries, self._texts, self._bytes = [], {}, 0
        self._written = time.monotonic()
