"""Which of the targets that nobody named are started at once."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from shaderstat.model import Launch, Request, Setup
from shaderstat.targets import opening

HOST, NULL, SHIM, TREE, MOCK = (
    Launch(source, "vulkan", source) for source in ("host", "null-device", "shim", "tree", "mock")
)


class Pool:
    """Knows of old what some sources say: a device, or (None) that there is none."""

    def __init__(self, **known: object) -> None:
        self.known = known
        self.lanes: list[SimpleNamespace] = []
        self.added: list[str] = []

    def add(self, launch: Launch, *, width: int = 1, timeout_s: float = 60.0) -> int:
        self.added.append(launch.source)
        self.lanes.append(SimpleNamespace(hello=self.known.get(launch.source.replace("-", "_"))))
        return len(self.lanes) - 1


@pytest.mark.parametrize(
    ("known", "added"),
    [
        ({}, ["host", "null-device", "shim"]),
        ({"host": None}, ["host", "null-device", "shim"]),
        ({"null_device": "hello"}, ["host", "null-device"]),
        ({"host": "hello", "null_device": "hello"}, ["host"]),
    ],
)
def test_nothing_is_started_behind_one_that_is_known_to_answer(
    known: dict[str, object], added: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "automatic", lambda request, scenario: [HOST, NULL, SHIM, TREE, MOCK])
    pool = Pool(**known)
    opening.Opening(pool, Request(()), None, Setup())  # type: ignore[arg-type]
    assert pool.added == added
