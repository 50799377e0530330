"""Building a tree from an archive of three tiny packages: dpkg is the real one, apt is a script that writes down how it
was called. Nothing here reaches a network."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from shaderstat import trees
from shaderstat.errors import ShaderstatError
from shaderstat.trees import Plan, apt, build

pytestmark = pytest.mark.skipif(
    shutil.which("dpkg-deb") is None or shutil.which("dpkg") is None, reason="no dpkg on this machine"
)

NO_SUITE = "E: The repository x does not have a Release file."

FAKE_APT = """#!/bin/sh
me="$(basename $0) $*"
echo "$me" >> {log}
for word; do case $word in */apt.conf) state=$(dirname $word);; esac; done
case "$me" in
  *indextargets*)
    echo '$(ORIGIN)|bookworm|https://debs.invalid/debian'
    echo 'Debian|sid|https://mirror.invalid/debian/';;
  *" update "*)
    cat $state/sources.list >> {log}
    grep -q '{suites}' $state/sources.list || {{ echo '{refusal}'; exit 100; }};;
  *"show "*)
    case "$me" in *mesa-drm-shim*) {shims};; esac
    echo Package: x;;
  *--print-uris*)
    echo "'https://mirror.invalid/a.deb' a_1_all.deb {size} SHA256:0"
    echo "'https://mirror.invalid/b.deb' b_2_all.deb 10 SHA256:0";;
  *--download-only*)
    echo 'Get:1 x'
    cp {packages}/*.deb $state/cache/archives/;;
esac
"""


class Archive:
    """The fake archive: what apt was told, and how it shall behave."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log"
        self.log.touch()
        self.programs = folder / "bin"
        self.programs.mkdir()
        self.behave()

    def behave(self, *, suites: str = "sid", shims: str = "true", size: int = 1000, refusal: str = NO_SUITE) -> None:
        text = FAKE_APT.format(
            log=self.log, suites=suites, shims=shims, size=size, refusal=refusal, packages=self.folder
        )
        for name in ("apt-get", "apt-cache"):
            (self.programs / name).write_text(text)
            (self.programs / name).chmod(0o755)

    def package(self, name: str, version: str, *files: str, text: str = "") -> None:
        root = self.folder / f"{name}.d"
        for file in files:
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text(text or name)
        (root / "DEBIAN").mkdir(parents=True)
        (root / "DEBIAN/control").write_text(
            f"Package: {name}\nVersion: {version}\nArchitecture: all\nMaintainer: x <x@example.org>\nDescription: x\n"
        )
        out = self.folder / f"{name}_{version.replace(':', '%3a')}_all.deb"
        subprocess.run(["dpkg-deb", "--build", root, out], check=True, capture_output=True)


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path) -> Archive:
    folder = tmp_path / "archive"
    folder.mkdir()
    made = Archive(folder)
    made.package("libvulkan1", "1:2-3", "usr/lib/x86_64-linux-gnu/libvulkan.so.1")
    # Before 2024 Debian's C library lay in /lib.
    made.package("libc6", "2.36", "lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", "lib64/note")
    made.package("python3-minimal", "3.11", "usr/bin/python3")
    monkeypatch.setenv("PATH", f"{made.programs}:{os.environ['PATH']}")
    monkeypatch.setattr(apt, "KEYRING", __file__)
    monkeypatch.setattr(build, "_compile", lambda tree: None)
    monkeypatch.setattr(build, "_try", lambda tree, progress: progress("tried"))
    return made


def plan(**options: object) -> Plan:
    return Plan(keyring=__file__, **options)  # type: ignore[arg-type]


def test_a_tree_is_made_of_packages(archive: Archive, home: Path) -> None:
    said: list[str] = []
    tree = trees.install(plan(), said.append)
    assert (tree.name, tree.suite, tree.folder) == ("sid", "sid", home / "sid")
    assert tree.packages == {"libvulkan1": "1:2-3", "libc6": "2.36", "python3-minimal": "3.11"}
    assert tree.loader == "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
    assert (tree.root / "lib").is_symlink() and (tree.root / "usr/lib64/note").is_file()
    assert trees.find("sid") == tree
    assert sorted(path.name for path in home.iterdir()) == [".lock", "sid"]
    assert sorted(path.name for path in tree.folder.iterdir()) == ["root", "tree.json"]
    assert said[0] == "asking the archive for sid" and said[-1] == "tried"


def test_manifests_name_the_trees_drivers_and_not_this_machines(archive: Archive) -> None:
    """Debian 12's name a path; Debian 13's a library that is looked for."""
    icd = "usr/share/vulkan/icd.d"
    path = '{"file_format_version": "1.0.0", "ICD": {"library_path": "/usr/lib/x86_64-linux-gnu/libvulkan_radeon.so"}}'
    name = '{"ICD": {"library_path": "libvulkan_intel.so"}}'
    archive.package("a", "1", f"{icd}/radeon_icd.x86_64.json", text=path)
    archive.package("b", "1", f"{icd}/intel_icd.json", text=name)
    archive.package("c", "1", f"{icd}/broken.json", text="{")
    icd_folder = trees.install(plan()).root / icd
    assert json.loads((icd_folder / "radeon_icd.x86_64.json").read_text()) == {
        "file_format_version": "1.0.0",
        "ICD": {"library_path": "libvulkan_radeon.so"},
    }
    assert (icd_folder / "intel_icd.json").read_text() == name
    assert (icd_folder / "broken.json").read_text() == "{"


def test_the_mirror_is_the_machines_own(archive: Archive) -> None:
    trees.install(plan())
    line = f"deb [signed-by={__file__} target=Packages] https://mirror.invalid/debian/ sid main"
    assert line in archive.log.read_text().splitlines()


def test_apt_is_kept_to_a_private_folder(archive: Archive, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(build, "_unpack", lambda files, root, progress: seen.append(str(files[0])) or {})
    monkeypatch.setattr(build, "_layout", lambda root: ("a", "b", ("c",)))
    trees.install(plan())
    state, _, _ = seen[0].partition("/cache/")
    assert state.startswith(f"{home}/.building-") and state.endswith("/apt")
    calls = [
        line for line in archive.log.read_text().splitlines() if line.startswith("apt-") and "indextargets" not in line
    ]
    assert calls and all(f"-c {state}/apt.conf" in call for call in calls)
    settings = apt._CONFIGURATION
    for name in ("Dir::State ", "Dir::Cache ", "Dir::Etc::sourcelist ", "Dir::State::status "):
        assert f'{name}"{{state}}' in settings
    # Hooks of the machine's would act on the machine.
    assert "#clear APT::Update::Post-Invoke-Success;" in settings


def test_suite_snapshot_mirror_and_options_are_passed_on(archive: Archive) -> None:
    archive.behave(suites="trixie")
    tree = trees.install(
        plan(suite="trixie", mirror="https://x.invalid/debian", snapshot="20260901T000000Z", apt_options=("A::B=c",))
    )
    assert (tree.name, tree.snapshot) == ("trixie-20260901T000000Z", "20260901T000000Z")
    log = archive.log.read_text()
    assert " https://x.invalid/debian/20260901T000000Z trixie main\n" in log
    assert log.count("-o A::B=c") == sum(line.startswith("apt-") for line in log.splitlines())


def test_a_mirror_may_say_where_the_snapshot_goes(archive: Archive) -> None:
    trees.install(plan(mirror="https://x.invalid/@SNAPSHOTID@/debian", snapshot="20260901T000000Z", name="then"))
    assert " https://x.invalid/20260901T000000Z/debian sid main\n" in archive.log.read_text()


def test_an_archive_that_keeps_no_dates(archive: Archive) -> None:
    """The machine's own hardly ever does."""
    archive.behave(suites="nothing")
    with pytest.raises(
        ShaderstatError, match=r"this machine's apt uses keeps no 20260901T000000Z: .* a Release"
    ) as mine:
        trees.install(plan(snapshot="20260901T000000Z"))
    assert "--mirror URL" in (mine.value.hint or "")
    with pytest.raises(ShaderstatError, match=r"^the archive.s suite .sid. can.t be had"):
        trees.install(plan(snapshot="20260901T000000Z", mirror="https://x.invalid/debian"))


def test_the_newest_suite_with_the_shims_is_taken(archive: Archive) -> None:
    archive.behave(suites="testing")
    assert trees.install(plan()).suite == "testing"


@pytest.mark.parametrize("snapshot", [None, "20260901T000000Z"])
def test_an_archive_that_can_not_be_reached_is_not_asked_for_older_suites(
    archive: Archive, snapshot: str | None
) -> None:
    archive.behave(suites="testing", refusal="E: Could not resolve x")
    with pytest.raises(ShaderstatError, match=r"^the archive.s suite .sid. can.t be had: E: Could not resolve x"):
        trees.install(plan(snapshot=snapshot))


def test_no_suite_has_the_shims(archive: Archive) -> None:
    archive.behave(suites="main", shims="exit 100")
    with pytest.raises(ShaderstatError, match="no suite of sid, testing, stable has mesa-drm-shim"):
        trees.install(plan())


def test_a_suite_without_shims_may_still_have_a_null_device(archive: Archive) -> None:
    archive.behave(suites="main", shims="exit 100")
    said: list[str] = []
    trees.install(plan(suite="bookworm"), said.append)
    assert "mesa-drm-shim" not in archive.log.read_text().splitlines()[-1]
    assert any("null device alone" in line for line in said)


def test_apts_own_words_are_passed_on(archive: Archive, home: Path) -> None:
    with pytest.raises(ShaderstatError, match="suite 'buzz' can't be had: E: The repository x does not") as caught:
        trees.install(plan(suite="buzz"))
    assert "--mirror" in (caught.value.hint or "")
    assert trees.installed() == []


@pytest.mark.parametrize("at", ["asking", "packages,", "unpacking", "tried"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_an_interrupted_build_leaves_nothing_and_the_old_tree_alone(
    archive: Archive, home: Path, at: str, error: BaseException | type[BaseException]
) -> None:
    old = trees.install(plan())

    def interrupt(line: str) -> None:
        if at in line:
            raise error

    with pytest.raises((KeyboardInterrupt, ShaderstatError)):
        trees.install(plan(), interrupt)
    assert trees.find("sid") == old
    assert sorted(path.name for path in home.iterdir()) == [".lock", "sid"]


def test_what_a_killed_build_left_is_cleared_away(archive: Archive, home: Path) -> None:
    (home / ".building-a/sid/root").mkdir(parents=True)
    (home / ".building-b/apt/lists").mkdir(parents=True)
    (home / ".sid.old").mkdir()
    assert trees.installed() == []
    trees.install(plan())
    assert sorted(path.name for path in home.iterdir()) == [".lock", "sid"]


def test_what_a_killed_build_still_writes_is_not_in_the_way(
    archive: Archive, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """apt and Python's compiler outlive a build that is killed: their folder fills again while it is cleared."""
    written = home / ".building-a/sid/root/usr"
    written.mkdir(parents=True)
    real = os.rmdir

    def rmdir(path: str, **options: int) -> None:
        if os.path.basename(path) == "usr" and written.is_dir():
            (written / "more").touch()
        real(path, **options)

    monkeypatch.setattr(os, "rmdir", rmdir)
    trees.install(plan())
    assert trees.find("sid").packages


def test_building_again_replaces_the_tree(archive: Archive) -> None:
    first = trees.install(plan())
    (first.root / "mark").touch()
    second = trees.install(plan())
    assert not (second.root / "mark").exists()
    assert [one.name for one in trees.installed()] == ["sid"]


def test_a_second_build_waits_for_the_first(archive: Archive, home: Path) -> None:
    with open(home / ".lock", "a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        said: list[str] = []

        def look(line: str) -> None:
            said.append(line)
            if line.startswith("another build"):
                fcntl.flock(held, fcntl.LOCK_UN)

        trees.install(plan(), look)
    assert said[0] == "another build is at work here: waiting for it"


def test_too_little_room_is_said_before_anything_is_fetched(archive: Archive) -> None:
    archive.behave(size=10**15)
    with pytest.raises(ShaderstatError, match="has room for") as caught:
        trees.install(plan())
    assert "SHADERSTAT_TREES" in (caught.value.hint or "")
    assert "--download-only mesa" not in archive.log.read_text()


def test_packages_that_are_no_debian(archive: Archive) -> None:
    (archive.folder / "python3-minimal_3.11_all.deb").unlink()
    with pytest.raises(ShaderstatError, match="no Python"):
        trees.install(plan())


def test_a_broken_package(archive: Archive) -> None:
    whole = archive.folder / "libc6_2.36_all.deb"
    whole.write_bytes(whole.read_bytes()[:-40])
    with pytest.raises(ShaderstatError, match=r"libc6_2\.36_all\.deb|dpkg-deb"):
        trees.install(plan())


def test_drivers_that_do_not_run_make_no_tree(archive: Archive, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("SHADERSTAT_TREES", str(home))
    monkeypatch.setenv("PATH", f"{archive.programs}:{os.environ['PATH']}")
    monkeypatch.setattr(build, "_compile", lambda tree: None)
    with pytest.raises(ShaderstatError, match="no driver of this tree runs here"):
        trees.install(plan())
    assert trees.installed() == []


def test_without_apt_the_machine_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apt.shutil, "which", lambda name, path=None: None)
    with pytest.raises(ShaderstatError, match="no apt-get on this machine") as caught:
        trees.install(plan())
    assert "copy its folder" in (caught.value.hint or "")


def test_without_the_archives_keys(home: Path) -> None:
    with pytest.raises(ShaderstatError, match="signature can't be checked") as caught:
        trees.install(Plan(keyring="/nonexistent.gpg"))
    assert "debian-archive-keyring" in (caught.value.hint or "")


@pytest.mark.parametrize("word", ["", "a b", "x]", "s\nid", "[trusted=yes]"])
def test_words_that_would_change_apts_line(word: str, home: Path) -> None:
    for name in ("suite", "mirror", "snapshot"):
        with pytest.raises(ShaderstatError, match="archive's address"):
            trees.install(plan(**{name: word}))


def test_a_machine_whose_apt_knows_no_debian(archive: Archive) -> None:
    (archive.programs / "apt-get").write_text("#!/bin/sh\necho 'Ubuntu|noble|https://u.invalid/ubuntu'\n")
    with pytest.raises(ShaderstatError, match="no Debian archive") as caught:
        apt.own_mirror()
    assert "--mirror" in (caught.value.hint or "")


def test_a_folder_that_can_not_be_written(archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SHADERSTAT_TREES", str(tmp_path / "file" / "trees"))
    with pytest.raises(ShaderstatError, match="no driver tree can be built in"):
        trees.install(plan())
