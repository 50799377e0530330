"""What lies in the trees' folder: whole trees, half-built ones, and what is none of ours."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from shaderstat import trees
from shaderstat.errors import NoTarget, ShaderstatError
from shaderstat.trees import HalfBuilt, Tree, folder
from tests.trees.conftest import make


def test_trees_are_in_the_users_data_folder_unless_said_otherwise(
    clean_environment: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert trees.home() == clean_environment / "data" / "shaderstat" / "trees"
    monkeypatch.setenv("SHADERSTAT_TREES", str(tmp_path / "x"))
    assert trees.home() == tmp_path / "x"


def test_a_tree_is_read_as_it_was_written(home: Path) -> None:
    made = make(home, "sid", packages={"mesa-vulkan-drivers": "26.2.6-1", "libc6": "2.43-7"})
    found = trees.find("sid")
    assert found == made
    assert (found.mesa, found.root) == ("26.2.6-1", home / "sid" / "root")


def test_a_tree_may_be_moved(home: Path) -> None:
    make(home, "sid")
    (home / "sid").rename(home / "moved")
    assert trees.find("moved").root == home / "moved" / "root"
    assert trees.find("moved").name == "moved"


def test_the_newest_mesa_comes_first(home: Path) -> None:
    for name, built, mesa in (
        ("b", "2026-01-02", "26.10.1-1"),
        ("a", "2026-03-01", "26.10.1-1"),
        ("c", "2026-09-01", "26.2.6-1"),
    ):
        make(home, name, built=built, packages={"mesa-vulkan-drivers": mesa})
    (home / "half").mkdir()
    (home / ".building").mkdir()
    (home / "a-file").write_text("")
    assert [one.name for one in trees.installed()] == ["a", "b", "c", "half"]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda place: (place / "tree.json").unlink(), "half-built, it has no tree.json"),
        (lambda place: (place / "tree.json").write_text("{"), "can't be read"),
        (lambda place: (place / "tree.json").write_text("[]"), "is no record of a tree"),
        (lambda place: (place / "tree.json").write_text('{"format": 1}'), "is no record of a tree"),
        (lambda place: (place / "tree.json").write_text('{"format": 2}'), "another version"),
        (lambda place: (place / "root/usr/lib/x/ld-linux.so.2").unlink(), "ld-linux.so.2 is missing"),
        (lambda place: (place / "root/usr/bin/python3").unlink(), "python3 is missing"),
    ],
)
def test_a_damaged_tree_is_named_with_its_remedy(home: Path, damage: object, said: str) -> None:
    make(home, "sid")
    damage(home / "sid")  # type: ignore[operator]
    (one,) = trees.installed()
    assert isinstance(one, HalfBuilt) and said in one.reason
    with pytest.raises(NoTarget) as caught:
        trees.find("sid")
    assert said in caught.value.message
    assert caught.value.hint == "shaderstat targets install sid"


def test_a_record_may_hold_more_than_is_known_only_in_a_later_format(home: Path) -> None:
    tree = make(home, "sid")
    plain = json.loads((tree.folder / "tree.json").read_text())
    (tree.folder / "tree.json").write_text(json.dumps({**plain, "later": 1}))
    assert isinstance(trees.installed()[0], HalfBuilt)


def test_an_unknown_tree_names_those_that_are_there(home: Path) -> None:
    with pytest.raises(NoTarget, match="installed: none") as caught:
        trees.find("sid")
    assert caught.value.hint == "shaderstat targets install"
    make(home, "old")
    with pytest.raises(NoTarget, match="installed: old"):
        trees.find("sid")


@pytest.mark.parametrize("name", ["", ".", "..", ".hidden", "a/b", "a b", "host", "a" * 65, "-x", "a\n"])
def test_names_that_are_no_folder_of_ours(name: str, home: Path) -> None:
    with pytest.raises(ShaderstatError, match="can't be a tree's name"):
        trees.find(name)
    with pytest.raises(ShaderstatError, match="can't be a tree's name"):
        trees.remove(name)


def test_removing(home: Path) -> None:
    make(home, "sid")
    (home / "half").mkdir()
    assert trees.remove("sid") == home / "sid"
    assert trees.remove("half") == home / "half"
    assert trees.installed() == [] and [*home.iterdir()] == []
    with pytest.raises(NoTarget):
        trees.remove("sid")


def test_a_link_is_not_removed(home: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (home / "linked").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ShaderstatError, match="is a link, not a tree"):
        trees.remove("linked")
    assert (home / "linked").is_symlink()


def test_manifests_under_their_old_and_new_names(home: Path) -> None:
    tree: Tree = replace(make(home, "sid"), architecture="amd64")
    icd = tree.root / "usr/share/vulkan/icd.d"
    icd.mkdir(parents=True)
    assert tree.manifest("radeon_icd") is None
    (icd / "radeon_icd.x86_64.json").write_text("{}")
    assert tree.manifest("radeon_icd") == icd / "radeon_icd.x86_64.json"
    (icd / "radeon_icd.json").write_text("{}")
    assert tree.manifest("radeon_icd") == icd / "radeon_icd.json"
    assert folder.check_name("sid-20260901T000000Z") == "sid-20260901T000000Z"
