"""Building a driver tree: fetch, unpack, compile byte code, ask each driver for a device, and only then show it.

Everything happens in a hidden folder beside the place where the tree will be, under a lock; what an interrupted build
leaves behind is no tree, and the next build of that name clears it away.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from shaderstat.errors import NoTarget, ShaderstatError
from shaderstat.plain import dataclass
from shaderstat.pool import Pool
from shaderstat.trees import apt, folder, launch
from shaderstat.trees.folder import Tree

# The drivers, the loader, and the Python that runs the kit. Nothing of X11 or Wayland but the libraries they link.
PACKAGES = ("mesa-vulkan-drivers", "libvulkan1", "python3-minimal", "python3-cffi-backend")
SHIMS = "mesa-drm-shim"
# Where a suite that has the shims is looked for, newest first; these names are the archive's own and stay.
SUITES = ("sid", "testing", "stable")
# Unpacked, the tree takes about 4.6 times what is fetched (measured: 82 MB → 378 MB), and both are there for a while.
GROWTH = 6

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a tree shall be made of.

    Attributes:
        name: the tree's; that of the suite (and the snapshot) unless given.
        suite: Debian's, such as ``sid``; unless given, the newest that has the shims.
        mirror: an archive's URL; that of the machine's own sources unless given.
        snapshot: a date that the archive at `mirror` keeps, ``20260901T000000Z``: it stands for ``@SNAPSHOTID@`` in the
            URL, or follows it.
        keyring: the keys that the archive is signed with.
        apt_options: ``NAME=VALUE`` of apt's configuration.
    """

    name: str | None = None
    suite: str | None = None
    mirror: str | None = None
    snapshot: str | None = None
    keyring: str = apt.KEYRING
    apt_options: tuple[str, ...] = ()


def install(plan: Plan, progress: Progress = lambda line: None) -> Tree:
    """Build a tree, or build it anew; the old one stays until the new one is whole.

    Args:
        progress: told one line for each step.

    Raises:
        ShaderstatError: no apt, no archive, no space, or drivers that do not run here.
    """
    for name in ("apt-get", "apt-cache", "dpkg-deb"):
        apt.program(name)
    for word in (plan.suite, plan.snapshot, plan.mirror):
        if word is not None and (not word or any(c.isspace() or not c.isprintable() or c in "[]#" for c in word)):
            raise ShaderstatError(f"{word!r} can't be part of an archive's address")
    if not os.access(plan.keyring, os.R_OK):
        raise ShaderstatError(
            f"{plan.keyring}: no such keyring, so the archive's signature can't be checked",
            hint="apt install debian-archive-keyring, or --keyring FILE",
        )
    home = folder.home()
    try:
        home.mkdir(parents=True, exist_ok=True)
        with _locked(home, progress):
            return _install(plan, home, progress)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise ShaderstatError(f"no driver tree can be built in {home}: {where}{error.strerror or error}") from None


@contextlib.contextmanager
def _locked(home: Path, progress: Progress) -> Iterator[None]:
    """One build at a time: a second one waits. The kernel lets go of the lock with its process, however that ends."""
    with open(home / ".lock", "a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("another build is at work here: waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _install(plan: Plan, home: Path, progress: Progress) -> Tree:
    for left in home.glob(".building*"):
        shutil.rmtree(left, ignore_errors=True)
    # Not where the last one was: apt or a compiler whose build was killed may still be writing there.
    work = Path(tempfile.mkdtemp(prefix=".building-", dir=home))
    try:
        tree = _build(plan, work, progress)
        place = home / tree.name
        old = home / f".{tree.name}.old"
        _clear(old)
        if place.is_dir():
            place.rename(old)
        tree.folder.rename(place)
        _clear(old)
        return replace(tree, folder=place)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _clear(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)


def _build(plan: Plan, work: Path, progress: Progress) -> Tree:
    if plan.name is not None:
        folder.check_name(plan.name)
    archive = apt.Apt(work / "apt", plan.apt_options)
    try:
        suite, shims = _choose_suite(plan, archive, progress)
    except apt.NoSuite as error:
        if not plan.snapshot or plan.mirror:
            raise
        raise ShaderstatError(
            f"the archive that this machine's apt uses keeps no {plan.snapshot}: {error.message}",
            hint="--mirror URL names one that keeps dates, such as Debian's snapshot archive",
        ) from None
    if plan.snapshot:
        name = folder.check_name(plan.name or f"{suite}-{plan.snapshot}")
    else:
        name = folder.check_name(plan.name or suite)
    wanted = [*PACKAGES, *([SHIMS] if shims else [])]
    amount = archive.plan(wanted)
    progress(f"{amount.packages} packages, {amount.size / 1e6:.0f} MB to fetch")
    free = shutil.disk_usage(work).free
    if free < amount.size * GROWTH:
        raise ShaderstatError(
            f"a tree takes {amount.size * GROWTH / 1e6:.0f} MB while it is built, and {folder.home()} has room for "
            f"{free / 1e6:.0f} MB",
            hint="SHADERSTAT_TREES=FOLDER puts trees elsewhere",
        )
    files = archive.fetch(
        wanted, lambda count: progress(f"fetching {count}/{amount.packages}") if count % 10 == 0 else None
    )
    place = work / name
    root = place / "root"
    root.mkdir(parents=True)
    packages = _unpack(files, root, progress)
    _keep_inside(root)
    shutil.rmtree(work / "apt")
    loader, python, libraries = _layout(root)
    tree = Tree(
        folder=place,
        name=name,
        suite=suite,
        snapshot=plan.snapshot or "",
        built=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        architecture=_output("dpkg", "--print-architecture")[0],
        packages=packages,
        loader=loader,
        python=python,
        libraries=libraries,
    )
    progress("compiling Python's library")
    _compile(tree)
    _try(tree, progress)
    folder.write(tree)
    return tree


def _choose_suite(plan: Plan, archive: apt.Apt, progress: Progress) -> tuple[str, bool]:
    """The suite, its list of packages fetched; and whether it has the shims."""
    mirror = plan.mirror or apt.own_mirror()
    if plan.snapshot and "@SNAPSHOTID@" in mirror:
        mirror = mirror.replace("@SNAPSHOTID@", plan.snapshot)
    elif plan.snapshot:
        mirror = f"{mirror.rstrip('/')}/{plan.snapshot}"
    if plan.suite:
        progress(f"asking the archive for {plan.suite}")
        archive.update(mirror, plan.suite, plan.keyring)
        shims = archive.has(SHIMS)
        if not shims:
            progress(f"{plan.suite} has no {SHIMS}: this tree has RADV's null device alone, where its Mesa has one")
        return plan.suite, shims
    problem = None
    for suite in SUITES:
        progress(f"asking the archive for {suite}")
        try:
            archive.update(mirror, suite, plan.keyring)
        except apt.NoSuite as error:  # any other trouble would pass an older Mesa off as the newest
            problem = problem or error
            continue
        if archive.has(SHIMS):
            return suite, True
        progress(f"{suite} has no {SHIMS}")
    raise problem or ShaderstatError(
        f"no suite of {', '.join(SUITES)} has {SHIMS} in this archive", hint="--mirror and --suite choose another"
    )


def _unpack(files: list[Path], root: Path, progress: Progress) -> dict[str, str]:
    """Unpack packages without running any script of theirs. Returns their names and versions."""
    # Debian's packages of before 2024 have /lib and /bin, which are /usr/lib and /usr/bin.
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / "usr" / name).mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(f"usr/{name}")
    packages = {}
    for number, file in enumerate(files, 1):
        if number % 20 == 0 or number == len(files):
            progress(f"unpacking {number}/{len(files)}")
        fields = dict(
            line.split(": ", 1) for line in _output("dpkg-deb", "-f", str(file), "Package", "Version") if line
        )
        packages[fields["Package"]] = fields["Version"]
        # By way of tar: dpkg-deb's own unpacking would put a folder in the place of a link to one.
        with subprocess.Popen(
            [apt.program("dpkg-deb"), "--fsys-tarfile", str(file)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as taking:
            unpacked = subprocess.run(
                [apt.program("tar"), "-x", "--keep-directory-symlink", "--no-same-owner", "-C", str(root), "-f", "-"],
                stdin=taking.stdout,
                capture_output=True,
                text=True,
                errors="replace",
            )
        if taking.returncode or unpacked.returncode:
            raise ShaderstatError(f"{file.name} can't be unpacked: {unpacked.stderr.strip() or 'a broken package'}")
        file.unlink()
    return packages


def _keep_inside(root: Path) -> None:
    """Have drivers' manifests name the tree's drivers: those of Mesa 22.3 name a path, and there is this machine's
    driver, or none. A bare name is looked for among the tree's libraries."""
    for manifest in root.glob("usr/share/vulkan/icd.d/*.json"):
        try:
            plain = json.loads(manifest.read_bytes())
            library = plain["ICD"]["library_path"]
        except (ValueError, KeyError, TypeError):  # the loader says what is wrong with it
            continue
        if isinstance(library, str) and library.startswith("/"):
            plain["ICD"]["library_path"] = os.path.basename(library)
            manifest.write_text(json.dumps(plain, indent=4) + "\n", encoding="utf-8")


def _output(*command: str) -> list[str]:
    """The lines that a program of dpkg prints."""
    name, *arguments = command
    done = subprocess.run([apt.program(name), *arguments], capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise ShaderstatError(f"{name} {arguments[0]} failed: {done.stderr.strip()}")
    return done.stdout.split("\n")


def _layout(root: Path) -> tuple[str, str, tuple[str, ...]]:
    """Where in the tree its dynamic loader, its Python and its libraries are, by looking.

    Raises:
        ShaderstatError: they are not there.
    """
    for library in sorted(root.glob("usr/lib/*/libvulkan.so.1")):
        libraries = library.parent
        # ld-linux-x86-64.so.2, ld-linux-aarch64.so.1, ld64.so.2
        for loader in [*sorted(libraries.glob("ld-linux*.so.*")), *sorted(libraries.glob("ld64.so.*"))]:
            if (root / "usr/bin/python3").exists():
                return str(loader.relative_to(root)), "usr/bin/python3", (str(libraries.relative_to(root)),)
    raise ShaderstatError(
        "the packages hold no Vulkan loader, no dynamic loader or no Python: is this a Debian archive?"
    )


def _compile(tree: Tree) -> None:
    """Byte code for all of Python's library, so that no child compiles it and none has to write into the tree. It is
    never held against the sources' dates: those do not survive every way of copying a tree."""
    folders = [str(path) for path in tree.root.glob("usr/lib/python3*")]
    subprocess.run(
        [*launch.interpreter(tree), "-I", "-S", "-m", "compileall", "-qq", "--invalidation-mode", "unchecked-hash",
         "-s", str(tree.root), *folders],
        stdin=subprocess.DEVNULL, capture_output=True, timeout=600,
    )  # fmt: skip
    # Files that are no valid Python (templates, tests) make it fail, and matter to nobody.


def _try(tree: Tree, progress: Progress) -> None:
    """Ask every driver for a device, as it will be asked when the tree is used.

    Raises:
        ShaderstatError: none of them answers.
    """
    problem: NoTarget | None = None
    answered = 0
    for driver in launch.drivers(tree):
        with Pool() as pool:
            try:
                hello = pool.wait(pool.add(launch.first(tree, driver)))
            except NoTarget as error:
                problem = problem or error
                progress(f"{driver}: {error.message}")
                continue
        answered += 1
        progress(f"{driver}: {hello.driver.info}, {hello.device.name.strip()}")
    if not answered:
        raise ShaderstatError(
            f"no driver of this tree runs here: {problem.message if problem else 'it has none'}",
            hint="a suite with mesa-drm-shim, or one whose Mesa is not newer than 25, has compilers without a GPU",
        )
