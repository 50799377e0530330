"""What a user asks: which files, on which compilers, what of the answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from shaderstat.plain import dataclass

if TYPE_CHECKING:
    from shaderstat.instrumentation import Execution


@dataclass(frozen=True, slots=True)
class SpecOption:
    """``--spec``: values to try for the constants of that SpecId or name, in one stage or (None) in all of them."""

    stage: str | None
    constant: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """One question: which files, on which compilers, what to capture.

    Attributes:
        paths: files, folders, globs, or ``-`` for standard input.
        targets: target names; empty means "the best that can be reached".
        backend: ``auto``, ``vulkan`` or ``mock``: narrows the choice when `targets` is empty.
        statistics, representations: what to ask the driver for.
        validate: run SPIRV-Tools' validator first.
        timeout_s: the limit for one pipeline, in seconds.
        jobs: children per target; 0 for as many as there are cores that this process may use.
        cache: find answers that are remembered, and remember those that are not.
        refresh: remember, but ask again all the same.
        fail_fast: stop at the first result that is no answer.
        pipelines: globs; only pipelines whose name matches one are compiled. Empty means all.
        entries: entry points, ``[STAGE:]NAME`` or a glob; only those are compiled, and captured pipelines that have
            one of them. Empty means all.
        spec: specialization; every combination of values is a variant.
        config: a manifest, ``shaderstat.yaml``: its pipelines are compiled where `paths` is empty; otherwise its
            defaults hold for what the paths lead to.
        subgroup_size, samples, color_format, depth_format, topology: state that all pipelines shall have, under
            Vulkan's names or those less their prefix; None for what was inferred, or what the manifest says.
        optimize: False to ask for code that is not optimised.
        profile: ``vulkan``, ``webgpu``, ``dxvk`` or ``vkd3d``: the stack whose features the device is made with.
        keep_states: tell what is compiled with each result (`ResultEvent.state`).
        execution: run each pipeline, so; None to compile alone. A mapping names the members of an `Execution` that are
            said; of the others the manifest says some, and the rest is as it is by default.
        driver_manifest, environment: the driver to use for the moment, and variables for it.
        own_targets: targets that the user describes, by name; `shaderstat.targets.own` says in what words.
        sandbox: run compilers behind bubblewrap, without network and with nothing to write to.
        scenario: path of a scenario file for the mock.
        stdin: the bytes that ``-`` stands for.
        outputs: files that the answer goes to: none of them may be one that is read.
        arguments: the command line, for the record.
    """

    paths: tuple[str, ...]
    targets: tuple[str, ...] = ()
    backend: str = "auto"
    statistics: bool = True
    representations: bool = False
    validate: bool = True
    timeout_s: float = 60.0
    jobs: int = 0
    cache: bool = True
    refresh: bool = False
    fail_fast: bool = False
    pipelines: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    spec: tuple[SpecOption, ...] = ()
    config: str | None = None
    subgroup_size: int | None = None
    samples: int | None = None
    color_format: str | None = None
    depth_format: str | None = None
    topology: str | None = None
    optimize: bool = True
    profile: str | None = None
    keep_states: bool = False
    execution: Execution | Mapping[str, Any] | None = None
    driver_manifest: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    own_targets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    sandbox: bool = False
    scenario: str | None = None
    stdin: bytes | None = None
    outputs: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
