"""The house's import table, held statically here and by running in `tests/child`: rooms know their neighbours only by
plain data, and the kit runs where nothing else is installed."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from shaderstat import wire
from shaderstat.model import Job, JobModule, Launch
from shaderstat.pool.child import kit_path
from tests.conftest import ROOT, Run

PACKAGE = ROOT / "shaderstat"

# The part that is shipped to where a compiler runs: standard library, and `vulkan` in one room.
KIT = (
    "_version", "plain", "model", "instrumentation", "errors", "environment", "wire", "wire_runs", "registry", "spirv",
    "pipeline", "backends", "child",
)  # fmt: skip

# Room → (rooms of this package, packages of others). A room may always import itself, the standard library, and
# `plain`, which stands for a part of it.
TABLE: dict[str, tuple[set[str], set[str]]] = {
    "plain": (set(), set()),
    "model": ({"instrumentation"}, set()),
    "instrumentation": (set(), set()),
    "errors": (set(), set()),
    "_version": (set(), set()),
    "environment": ({"model"}, set()),
    "memory": (set(), set()),
    "schemas": (set(), set()),
    "wire": ({"model", "errors", "wire_runs"}, set()),
    "wire_runs": ({"instrumentation"}, set()),
    "registry": ({"model", "errors"}, set()),
    "spirv": ({"model", "errors", "registry"}, set()),
    "pipeline": ({"model", "errors", "registry", "spirv"}, set()),
    "backends": ({"_version", "model", "errors", "registry", "spirv", "pipeline"}, set()),
    "backends.vulkan": ({"model", "errors", "registry", "spirv", "pipeline", "backends"}, {"vulkan", "_cffi_backend"}),
    "child": ({"environment", "model", "errors", "wire", "registry", "spirv", "pipeline", "backends"}, set()),
    "archive": ({"model", "errors", "registry", "pipeline", "spirv"}, set()),
    "inputs": ({"memory", "model", "errors", "registry", "spirv", "pipeline", "archive"}, set()),
    "config": ({"model", "errors", "registry", "spirv"}, {"yaml", "platformdirs"}),
    "dictionary": ({"memory", "model", "errors", "registry", "spirv"}, {"yaml"}),
    "interruptions": (set(), set()),
    "representations": ({"model"}, set()),
    "variants": ({"model", "errors"}, set()),
    "annotate": ({"memory", "model", "dictionary", "representations"}, set()),
    "pool": ({"environment", "model", "errors", "wire"}, set()),
    "trees": ({"model", "errors", "pool"}, {"platformdirs"}),
    "store": ({"environment", "model", "errors", "wire", "pool"}, {"platformdirs"}),
    "targets": ({"_version", "environment", "model", "errors", "wire", "pool", "trees"}, set()),
    "work": ({"model", "errors", "config", "inputs", "pipeline", "plan", "pool", "variants", "store"}, set()),
    "executions": ({"model", "errors", "config", "inputs", "plan"}, set()),
    "engine": (
        {
            "_version",
            "environment",
            "model",
            "errors",
            "pipeline",
            "config",
            "executions",
            "plan",
            "annotate",
            "pool",
            "targets",
            "variants",
            "store",
            "work",
        },
        set(),
    ),
    "plan": ({"memory", "model", "errors", "inputs", "config", "variants"}, set()),
    "inferred": (
        {"_version", "model", "errors", "config", "plan", "pool", "targets", "variants", "work"},
        set(),
    ),
    "reflection": ({"model", "errors", "registry", "spirv", "pipeline", "inputs"}, set()),
    "compare": ({"model"}, set()),
    "budget": ({"model"}, set()),
    "reporters": (
        {"_version", "model", "errors", "representations", "compare", "budget", "archive", "pipeline"},
        {"rich", "msgspec"},
    ),
    "api": ({"model", "errors", "engine", "variants"}, set()),
    "cli": (
        {
            "_version",
            "annotate",
            "budget",
            "compare",
            "config",
            "engine",
            "errors",
            "interruptions",
            "model",
            "reflection",
            "reporters",
            "store",
            "targets",
            "trees",
            "variants",
            "inferred",
            "work",
        },
        {"click", "platformdirs"},
    ),
    "__init__": ({"_version", "api", "model", "errors"}, set()),
    "__main__": ({"cli", "interruptions"}, set()),
}
# Names for annotations alone, gone when the program runs: what a device tells is part of a backend's contract, and
# type checkers have this package whether it is installed or not.
TYPES_ONLY = {("pipeline", "shaderstat.backends.base"), ("api", "typing_extensions")}
# Of `spirv`, what the host side may use: a module's head, and how far interfaces reach. It never reads functions.
SCAN = {f"shaderstat.spirv.{name}" for name in ("scan", "words", "facts", "interfaces")}


def room_of(module: str) -> str:
    """The table's row for ``shaderstat.x.y``."""
    parts = module.split(".")[1:]
    if parts[:2] == ["backends", "vulkan"]:
        return "backends.vulkan"
    return parts[0] if parts else "__init__"


def imports_of(path: Path) -> Iterator[tuple[str, bool]]:
    """Every module that a file imports, anywhere in it, and whether for type checkers alone. What is taken from a
    package of ours counts as the module that it is, where it is one."""
    tree = ast.parse(path.read_bytes())
    guards = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    guarded = {inner for guard in guards for node in guard.body for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node in guarded) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = path.relative_to(ROOT).parts[: -node.level] if node.level else ()
            source = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = ROOT.joinpath(*source.split("."), alias.name)
                is_module = inner.is_dir() or inner.with_suffix(".py").is_file()
                yield f"{source}.{alias.name}" if is_module else source, node in guarded


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(PACKAGE)) for path in FILES])
def test_each_room_imports_what_the_table_allows(path: Path) -> None:
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    room = room_of(module)
    rooms, packages = TABLE[room]
    for name, is_for_types in imports_of(path):
        top = name.split(".")[0]
        if is_for_types and (room, name) in TYPES_ONLY:
            continue
        if top == "shaderstat":
            other = room_of(name)
            words = {"instrumentation"} if "model" in rooms else set()  # the model's, in a module of their own
            assert other.split(".")[0] in {room, "plain", *rooms, *words}, f"{module} imports {name}"
            if room in ("inputs", "config", "dictionary") and other == "spirv":
                assert name in SCAN, f"{module} imports {name}: the host side scans, it doesn't reflect"
        elif top not in sys.stdlib_module_names:
            assert top in packages, f"{module} imports {name}"


def test_the_table_has_no_row_too_many() -> None:
    rooms = {
        room_of(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")) for path in FILES
    }
    assert set(TABLE) == rooms


def test_help_loads_click_and_the_command_line_alone(shaderstat: Run) -> None:
    code = (
        "import sys\nbefore = set(sys.modules)\nfrom shaderstat.cli import run\n"
        "try:\n    run(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(*sorted(set(sys.modules) - before), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = done.stderr.split()
    others = {name.split(".")[0] for name in loaded} - set(sys.stdlib_module_names) - {"shaderstat"}
    assert others == {"click"}
    ours = {room_of(name) for name in loaded if name.startswith("shaderstat")}
    assert ours <= {"__init__", "cli", "_version", "interruptions"}, ours


# A child as it is started in earnest, but that it tells what it has loaded before it leaves.
BOOT = """
import os, sys
out = os.dup(1)
os.dup2(2, 1)
sys.path[:0] = sys.argv[1:]
leave = os._exit

def tell(status):
    os.write(2, ("loaded " + " ".join(sys.modules)).encode())
    leave(status)

os._exit = tell
from shaderstat.child import serve
serve(0, out)
tell(0)
"""


def run_child(kit: Path, backend: str, sample: Path) -> tuple[str, set[str]]:
    """Run one job with the kit alone on the path: its status, and the top-level modules of others that were loaded."""
    launch = {**wire.launch_to_plain(Launch(backend, backend, "host")), "timeout_s": 30.0}
    job = Job("compute", (JobModule("x.comp.spv", sample.read_bytes(), "compute", "main"),), representations=True)
    others = [folder for folder in kit_path() if Path(folder) != ROOT]
    command = [sys.executable, "-I", "-S", "-c", BOOT, str(kit), *others]
    frames = wire.FrameReader()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdin and child.stdout and child.stderr
        child.stdin.write(wire.frame(wire.LAUNCH, launch) + wire.job_frame(job))
        child.stdin.flush()
        status = None
        while status is None and (data := os.read(child.stdout.fileno(), 1 << 16)):
            frames.feed(data)
            for kind, header, _ in iter(frames.next, None):
                status = header["status"] if kind == wire.ANSWER else status
        child.stdin.close()  # not before: a child whose parent is gone leaves at once
        said = child.stderr.read().decode()
    assert status is not None, said
    names = set(said.rpartition("loaded ")[2].split())
    ours = {room_of(name) for name in names if name.startswith("shaderstat")}
    assert "child" in ours and ours <= {"__init__", "backends.vulkan", *KIT}, ours
    families = {name.split(".")[2] for name in names if name.startswith("shaderstat.model.")}
    assert families == {"stages", "jobs", "answers"}, "a child makes no reports"
    foreign = {name.split(".")[0] for name in names} - set(sys.stdlib_module_names) - {"shaderstat", "__main__"}
    return status, foreign


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    """The kit's rooms and nothing of the host side, in a folder of its own."""
    house = tmp_path / "kit" / "shaderstat"
    house.mkdir(parents=True)
    shutil.copy(PACKAGE / "__init__.py", house)
    for room in KIT:
        if (PACKAGE / room).is_dir():
            shutil.copytree(PACKAGE / room, house / room, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(PACKAGE / f"{room}.py", house)
    return house.parent


def test_a_mock_child_needs_the_kit_alone(kit: Path, samples: Path) -> None:
    status, foreign = run_child(kit, "mock", samples / "scale.comp.spv")
    assert status == "ok"
    assert foreign == set()


@pytest.mark.driver
def test_a_vulkan_child_needs_the_kit_vulkan_and_the_backend_of_cffi(
    kit: Path, samples: Path, radv_manifest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RADV_FORCE_FAMILY", "navi21")
    monkeypatch.setenv("VK_DRIVER_FILES", str(radv_manifest))
    status, foreign = run_child(kit, "vulkan", samples / "scale.comp.spv")
    assert status == "ok"
    assert foreign == {"vulkan", "_cffi_backend"}
