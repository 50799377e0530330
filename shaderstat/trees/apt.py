"""apt as an ordinary user: all of its state in a private folder, nothing of the machine's touched.

The machine's own configuration still counts (a proxy, a mirror's quirks); only hooks that would act on the machine, and
what else is decided here, are overridden by a configuration file of ours, which apt reads after its own.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from shaderstat.errors import ShaderstatError
from shaderstat.plain import dataclass

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

_CONFIGURATION = """\
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Pre-Invoke;
#clear DPkg::Post-Invoke;
#clear DPkg::Pre-Install-Pkgs;
Dir::State "{state}";
Dir::State::status "{state}/status";
Dir::State::extended_states "{state}/extended_states";
Dir::State::Lists "{state}/lists";
Dir::Cache "{state}/cache";
Dir::Cache::archives "{state}/cache/archives";
Dir::Etc::sourcelist "{state}/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::Log "{state}/log";
Debug::NoLocking "true";
APT::Install-Recommends "false";
APT::Install-Suggests "false";
APT::Get::List-Cleanup "false";
APT::Sandbox::User "{user}";
Acquire::Languages "none";
Acquire::Retries "3";
"""


@dataclass(frozen=True, slots=True)
class Download:
    """What apt means to fetch: how many packages, how many bytes."""

    packages: int
    size: int


class NoSuite(ShaderstatError):
    """The archive answers, and has no suite of that name."""


class Apt:
    """apt-get with its state in a folder.

    Args:
        state: an empty folder.
        options: ``NAME=VALUE`` of apt's configuration, which win over all others.
    """

    def __init__(self, state: Path, options: Sequence[str] = ()) -> None:
        self._state = state
        self._options = [word for option in options for word in ("-o", option)]
        for folder in ("lists/partial", "cache/archives/partial", "log"):
            (state / folder).mkdir(parents=True)
        (state / "status").touch()  # nothing is installed: everything that is needed will be fetched
        (state / "apt.conf").write_text(_CONFIGURATION.format(state=state, user=_user_name()), encoding="utf-8")

    def update(self, mirror: str, suite: str, keyring: str) -> None:
        """Fetch the archive's list of packages.

        Raises:
            NoSuite: there is no such suite.
            ShaderstatError: no such archive, no way to it, a wrong signature.
        """
        line = f"deb [signed-by={keyring} target=Packages] {mirror} {suite} main\n"
        (self._state / "sources.list").write_text(line, encoding="utf-8")
        try:
            self._run(["apt-get", "update", "--error-on=any"], f"the archive's suite {suite!r} can't be had")
        except ShaderstatError as error:
            if "does not have a Release file" in error.message:
                raise NoSuite(error.message, hint=error.hint) from None
            raise

    def has(self, package: str) -> bool:
        """Whether the archive has a package of that name."""
        found = self._start(["apt-cache", "show", "--no-all-versions", package])
        out, _ = found.communicate()
        return found.returncode == 0 and bool(out.strip())

    def plan(self, packages: Sequence[str]) -> Download:
        """What fetching these packages and all that they depend on amounts to.

        Raises:
            ShaderstatError: they can't be had together.
        """
        command = ["apt-get", "install", "-y", "--download-only", "--print-uris", "-qq", *packages]
        out = self._run(command, "the packages can't be had together")
        sizes = [int(found[1]) for found in re.finditer(r"^'[^']*' \S+ (\d+)", out, re.MULTILINE)]
        return Download(len(sizes), sum(sizes))

    def fetch(self, packages: Sequence[str], arrived: Callable[[int], None]) -> list[Path]:
        """Fetch them; apt holds them against the signed list.

        Args:
            arrived: told the number of packages that have been begun.

        Raises:
            ShaderstatError: it did not work out.
        """
        count = 0

        def look(line: str) -> None:
            nonlocal count
            if line.startswith("Get:"):
                count += 1
                arrived(count)

        command = ["apt-get", "install", "-y", "--download-only", *packages]
        self._run(command, "the packages can't be fetched", look)
        return sorted((self._state / "cache/archives").glob("*.deb"))

    def _run(self, command: Sequence[str], what: str, look: Callable[[str], None] = lambda line: None) -> str:
        process = self._start(command)
        lines = []
        try:
            assert process.stdout is not None
            for line in process.stdout:
                lines.append(line)
                look(line)
        except BaseException:
            process.terminate()
            raise
        finally:
            process.wait()
            assert process.stdout is not None
            process.stdout.close()
        if process.returncode:
            said = [line.strip() for line in lines if line.startswith(("E:", "W:")) and "Some index" not in line]
            said = said or [line.strip() for line in lines]
            raise ShaderstatError(
                f"{what}: {' '.join(said[:3]) or f'{command[0]} ended with status {process.returncode}'}",
                hint="--mirror and --suite choose another archive, --apt-option NAME=VALUE sets what apt needs",
            )
        return "".join(lines)

    def _start(self, command: Sequence[str]) -> subprocess.Popen[str]:
        name, *rest = command
        return subprocess.Popen(
            [program(name), "-c", str(self._state / "apt.conf"), *self._options, *rest],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"},
        )


def program(name: str) -> str:
    """The path of apt's or dpkg's program.

    Raises:
        ShaderstatError: this machine has none.
    """
    found = shutil.which(name) or shutil.which(name, path="/usr/bin:/bin")
    if found is None:
        raise ShaderstatError(
            f"no {name} on this machine: a driver tree is made of Debian's packages",
            hint="build it on a Debian or Ubuntu machine and copy its folder: shaderstat targets says where trees lie",
        )
    return found


def own_mirror() -> str:
    """The Debian archive that this machine's own sources name.

    Raises:
        ShaderstatError: they name none.
    """
    listed = subprocess.run(
        [program("apt-get"), "indextargets", "--format", "$(ORIGIN)|$(RELEASE)|$(REPO_URI)", "Created-By: Packages"],
        capture_output=True,
        text=True,
        errors="replace",
        env={**os.environ, "LC_ALL": "C"},
    )
    lines = [tuple(line.split("|", 2)) for line in listed.stdout.splitlines() if line.count("|") == 2]
    # Where nothing was fetched yet apt knows no origin and leaves the word as it is.
    known = [uri for origin, release, uri in lines if origin == "Debian" and "-" not in release]
    plain = [uri for origin, release, uri in lines if origin.startswith("$") and release in _suites()]
    for uri in [*known, *plain]:
        return uri
    raise ShaderstatError(
        "this machine's apt has no Debian archive among its sources",
        hint="name one: shaderstat targets install --mirror URL",
    )


def _suites() -> set[str]:
    """Suites that are Debian's main archive: this machine's own release, and those that never change their name."""
    suites = {"sid", "unstable", "testing", "stable", "oldstable"}
    try:
        with open("/etc/os-release", encoding="utf-8") as file:
            release = dict(line.strip().split("=", 1) for line in file if "=" in line)
    except (OSError, ValueError):
        return suites
    if release.get("ID", "").strip('"') == "debian":
        suites.add(release.get("VERSION_CODENAME", "").strip('"'))
    return suites


def _user_name() -> str:
    """Whoever runs this: root's apt would otherwise become a user that can't read the private folder."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return "root"
