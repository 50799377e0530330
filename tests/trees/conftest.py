"""Trees that look right and can do nothing, and an archive that is a few files."""

from __future__ import annotations

from pathlib import Path

import pytest

from shaderstat.trees import Tree, folder


def make(home: Path, name: str, *, built: str = "2026-01-01", packages: dict[str, str] | None = None) -> Tree:
    """A tree with a loader and a Python that are no programs."""
    place = home / name
    for file in ("usr/lib/x/ld-linux.so.2", "usr/bin/python3"):
        (place / "root" / file).parent.mkdir(parents=True, exist_ok=True)
        (place / "root" / file).write_text("")
    tree = Tree(
        place,
        name,
        "sid",
        "",
        built,
        "amd64",
        packages or {},
        "usr/lib/x/ld-linux.so.2",
        "usr/bin/python3",
        ("usr/lib/x",),
    )
    folder.write(tree)
    return tree


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for trees."""
    monkeypatch.setenv("SHADERSTAT_TREES", str(tmp_path / "trees"))
    (tmp_path / "trees").mkdir()
    return tmp_path / "trees"
