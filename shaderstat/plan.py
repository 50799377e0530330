"""What shall be compiled: the pipelines that paths and a manifest lead to, each with what was said of its state.

The manifest's defaults lie lowest, then what it says of a pipeline, then the command line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from shaderstat.config import wishes
from shaderstat.config.said import Entry, Manifest, Said, find
from shaderstat.errors import ShaderstatError
from shaderstat.memory import Memory
from shaderstat.model import Answer, Diagnostic, Request, Setup, SpecOption
from shaderstat.plain import dataclass
from shaderstat.variants import Variant, variants

if TYPE_CHECKING:  # read while children start
    from shaderstat.inputs import Candidate
    from shaderstat.instrumentation import Execution, Slot

Plain = Mapping[str, Any]
# The device that everything is compiled on of which nothing is said.
USUAL = Setup()

Constant = tuple[str | None, str]  # stage or None, SpecId or name

# What some state asks of the device although nothing else does: left out of it otherwise, since it changes code.
_FEATURES = {
    "VkPipelineRobustnessCreateInfo": (("VkPhysicalDevicePipelineRobustnessFeatures", "pipelineRobustness"),),
    "VkSamplerCustomBorderColorCreateInfoEXT": (
        ("VkPhysicalDeviceCustomBorderColorFeaturesEXT", "customBorderColors"),
        ("VkPhysicalDeviceCustomBorderColorFeaturesEXT", "customBorderColorWithoutFormat"),
    ),
}


@dataclass(frozen=True, slots=True)
class Planned:
    """A pipeline to compile, or a file that makes none.

    Attributes:
        variants: what it is compiled with, one after the other.
        layers: what was said of its state, as `shaderstat.pipeline.overrides` takes it.
        setup: the device that it is compiled on.
        source: ``inferred``, ``archive``, or ``manifest`` where one says something of its state.
        entry: its name in the manifest, None where it isn't there.
        run: what the manifest says of how it is run: the defaults, and what it says of this pipeline.
        execution: how it is run, where it shall be.
        reads: the file that a buffer goes to after its run; None for none.
    """

    candidate: Candidate
    variants: Sequence[Variant] = (Variant(),)
    layers: tuple[Plain, ...] = ()
    setup: Setup = USUAL
    source: str = "inferred"
    entry: str | None = None
    run: tuple[Plain, ...] = ()
    execution: Execution | None = None
    reads: Mapping[Slot, str | None] = field(default_factory=dict)

    @property
    def given(self) -> dict[str, Any]:
        """What was said of its state, for the report: under the manifest's names, later layers over earlier ones."""
        found: dict[str, Any] = {}
        if self.setup.profile != "vulkan":
            found["profile"] = self.setup.profile
        wished = ((*feature, True) for feature in self.setup.wished)
        for struct, member, on in (*wished, *self.setup.features):
            found.setdefault("features", {}).setdefault(struct, {})[member] = on
        if self.setup.application:
            found["application"] = dict(self.setup.application)
        for layer in self.layers:
            found = _laid({**layer.get("options", {}), **_without(layer, "options")}, found)
        return found


@dataclass(slots=True)
class Constants:
    """The constants that modules turned out to have: `told` where an answer says so of its modules, `untold` where one
    doesn't, since it came to nothing before they were read."""

    found: set[Constant] = field(default_factory=set)
    told: bool = False
    untold: bool = False

    def add(self, variant: Variant, answer: Answer) -> None:
        """What the answer to this variant tells."""
        self.found.update(variant.choices[place][:2] for place in answer.spec_found)
        if answer.status == "ok" or answer.spec_found:
            self.told = True
        else:
            self.untold = True


@dataclass(frozen=True, slots=True)
class Plan:
    """All of it; `constants` are those that were named, and by whom, for telling which of them nothing has; `config` is
    the manifest's path, None where there is none."""

    items: tuple[Planned, ...]
    notes: tuple[Diagnostic, ...] = ()
    constants: Mapping[Constant, str] = field(default_factory=dict)
    config: str | None = None

    def unmatched(self, found: Constants) -> Iterator[Diagnostic]:
        """Constants that no module has: the answer is not the one that was asked for."""
        if found.untold and not found.told:
            return  # why there is no answer has been said
        who = "no module that could be read" if found.untold else "no module"
        for (stage, constant), place in self.constants.items():
            if (stage, constant) not in found.found:
                name = f"{stage}:{constant}" if stage else constant
                yield Diagnostic("error", "spec/unmatched", f"{place} {name}: {who} has this constant")


def select(plan: Plan, request: Request) -> Plan:
    """What ``--pipeline`` chooses of a plan.

    Raises:
        ShaderstatError: nothing.
    """
    if not request.pipelines:
        return plan
    chosen = [one for one in plan.items if any(one.candidate.matches(glob) for glob in request.pipelines)]
    if not chosen:
        names = ", ".join(one.candidate.name for one in plan.items[:5])
        raise ShaderstatError(
            f"no pipeline matches {' or '.join(request.pipelines)}",
            hint=f"there are {names}{' …' if len(plan.items) > 5 else ''}",
        )
    return replace(plan, items=tuple(chosen))


class Outline:
    """A request, as far as it can be understood without looking at any module.

    Attributes:
        setup: the device that is needed first.
        counts: whether any run shall be instrumented.

    Raises:
        ShaderstatError: state that can't be, a manifest with a mistake in it, nothing to compile.
    """

    def __init__(self, request: Request, memory: Memory | None = None) -> None:
        self._request = request
        self._memory = memory
        self._options = wishes.options(request)
        self._profile = self._options.pop("profile", None)
        variants(request.spec)  # too many of them are told before anything is done
        self._manifest = self._read_manifest()
        first = next(iter(self._manifest.entries), None)
        self.setup = self._setup(first.said if first is not None and not request.paths else Said())
        self.counts = self._counts()

    def _read_manifest(self) -> Manifest:
        path = self._request.config
        if path is None and not self._request.paths:
            path = find()
            if path is None:
                raise ShaderstatError(
                    "no input, and no shaderstat.yaml in this folder or above it",
                    hint="for instance: shaderstat stats blur.comp.spv",
                )
        if path is None:
            return Manifest("")
        if self._request.entries and not self._request.paths:
            raise ShaderstatError("--entry is for paths: a manifest says itself which entry points it wants")
        from shaderstat.config.manifest import read_manifest

        return read_manifest(path, runs=self._request.execution is not None)

    def _counts(self) -> bool:
        execution = self._request.execution
        if execution is None or not isinstance(execution, Mapping):
            return execution is not None and execution.metrics
        usual = execution.get("metrics", self._manifest.defaults.run.get("metrics", True))
        if "metrics" in execution or self._request.paths or not self._manifest.entries:
            return bool(usual)
        return any(one.said.run.get("metrics", usual) for one in self._manifest.entries)

    def plan(self) -> Plan:
        """Find the modules.

        Raises:
            ShaderstatError: a path that leads nowhere, no pipeline in the manifest, an input that is an output too.
        """
        from shaderstat import inputs

        request, manifest = self._request, self._manifest
        found: list[Planned] = []
        notes: list[Diagnostic] = []
        if request.paths:
            candidates = inputs.find(
                request.paths,
                stdin=request.stdin,
                entries=request.entries,
                suffixes=manifest.suffixes,
                notes=notes,
                memory=self._memory,
                pipelines=request.pipelines,
            )
            own = Said()
            found = [self._planned(one, None, own) for one in candidates]
        else:
            found = [*_with_names_of_their_own(self._of_manifest(notes))]
            if not found:
                raise ShaderstatError(f"{manifest.path}: no pipelines", hint="say some: files: shaders/**/*.spv")
        inputs.refuse_to_overwrite(request.outputs, (one.candidate for one in found))
        return Plan(tuple(found), (*notes, *self._useless(found)), self._constants(), manifest.path or None)

    def _of_manifest(self, notes: list[Diagnostic]) -> Iterator[Planned]:
        """In the file's order. A pipeline by its name takes its files away from those that are merely found."""
        from shaderstat import inputs
        from shaderstat.inputs.composed import Wanted, compose

        manifest = self._manifest
        taken = {piece.path for entry in manifest.entries for piece in entry.pieces}
        for entry in manifest.entries:
            if entry.pieces:
                wanted = [Wanted(piece.path, piece.stage, piece.entry) for piece in entry.pieces]
                candidate = compose(entry.name, wanted)
                yield self._planned(candidate, entry.name, _with_stages(entry, candidate))
                continue
            candidates = inputs.find(
                entry.files,
                entries=self._request.entries,
                suffixes=manifest.suffixes,
                notes=notes,
                memory=self._memory,
                pipelines=self._request.pipelines,
            )
            for candidate in candidates:
                if not any(module.path in taken for module in candidate.modules):
                    yield self._planned(candidate, candidate.name, entry.said)

    def _planned(self, candidate: Candidate, entry: str | None, own: Said) -> Planned:
        if candidate.verdict is not None:
            return Planned(candidate, entry=entry)
        kind = candidate.kind or ""
        levels = [_of_kind(layer, kind) for layer in (self._manifest.defaults.layer, own.layer)]
        levels = [layer for layer in levels if layer]
        typed = _of_kind({"options": self._options}, kind)
        others = [word for word in wishes.PIPELINE_KINDS if word in own.layer and word != kind]
        if others:
            note = f"the manifest's {' and '.join(others)} says nothing here: this is {kind.replace('_', ' ')}"
            remark = Diagnostic("warning", "state/other-kind", note)
            candidate = replace(candidate, diagnostics=(*candidate.diagnostics, remark))
        layers = (*levels, typed) if typed else tuple(levels)
        usual = USUAL if candidate.archived is None else candidate.archived.setup
        setup = self._setup(own, layers, usual)
        said = bool(levels) or self._manifest_setup(own) != USUAL
        return Planned(
            candidate,
            self._variants(own),
            layers,
            setup,
            "archive" if candidate.archived is not None else "manifest" if said else "inferred",
            entry,
            (self._manifest.defaults.run, own.run),
        )

    def _manifest_setup(self, own: Said, usual: Setup = USUAL) -> Setup:
        return own.setup(self._manifest.defaults.setup(usual))

    def _setup(self, own: Said, layers: Sequence[Plain] = (), usual: Setup = USUAL) -> Setup:
        """The device for a pipeline of which the manifest says `own`; over `usual`, that of the application which it
        was captured from."""
        setup = self._manifest_setup(own, usual)
        if self._profile is not None:
            setup = replace(setup, profile=self._profile)
        known = {(struct, member) for struct, member, _ in setup.features}
        wanted = {feature for name in _struct_names(layers) for feature in _FEATURES.get(name, ())}
        more = tuple((*feature, True) for feature in sorted(wanted - known))
        if not more:
            return setup
        return replace(setup, features=(*setup.features, *more))

    # ── Specialization ────────────────────────────────────────────────────────────────────────────────────────────

    def _variants(self, own: Said) -> Sequence[Variant]:
        """The manifest's sets, with the command line's options for all: of one constant these win."""
        typed = self._request.spec
        names = {(option.stage, option.constant) for option in typed}
        sets = [
            variants((*(one for one in options if (one.stage, one.constant) not in names), *typed))
            for options in own.spec or self._manifest.defaults.spec or ((),)
        ]
        return sets[0] if len(sets) == 1 else tuple(dict.fromkeys(one for each in sets for one in each))

    def _constants(self) -> dict[Constant, str]:
        places: list[tuple[Iterable[SpecOption], str]] = []
        if not self._request.paths:
            places += [
                (option_set, f"{self._manifest.path}: {entry.name}: spec")
                for entry in self._manifest.entries
                for option_set in entry.said.spec
            ]
        places += [(each, f"{self._manifest.path}: defaults: spec") for each in self._manifest.defaults.spec]
        places.append((self._request.spec, "--spec"))
        return {(option.stage, option.constant): place for options, place in places for option in options}

    def _useless(self, found: Sequence[Planned]) -> Iterator[Diagnostic]:
        """Options that no pipeline takes: the answer is not the one that was asked for."""
        kinds = {one.candidate.kind for one in found if one.candidate.verdict is None}
        for name in self._options:
            takers = wishes.KINDS[name]
            if kinds and kinds.isdisjoint(takers):
                message = f"--{name.replace('_', '-')}: nothing here takes it, only {' and '.join(takers)} pipelines do"
                yield Diagnostic("error", "state/unmatched", message)


def _with_stages(entry: Entry, candidate: Candidate) -> Said:
    """What was said of single modules, as a layer has it."""
    stages = [
        {"stage": module.stage, "entry_point": module.entry_point, **piece.info}
        for piece in entry.pieces
        for module in candidate.modules
        if piece.info
        and module.path == piece.path
        and piece.stage in (None, module.stage)
        and piece.entry in (None, module.entry_point)
    ]
    return replace(entry.said, layer={**entry.said.layer, "stages": stages}) if stages else entry.said


def _of_kind(layer: Plain, kind: str) -> dict[str, Any]:
    """What of a layer there is in a pipeline of that kind: the rest is no part of its identity."""
    options = {name: value for name, value in layer.get("options", {}).items() if kind in wishes.KINDS[name]}
    kept = {
        name: value
        for name, value in layer.items()
        if name in (kind, "layout", "stages") or (name == "render_pass" and kind == "graphics")
    }
    return {**({"options": options} if options else {}), **kept}


def _with_names_of_their_own(found: Iterable[Planned]) -> Iterator[Planned]:
    taken: set[str] = set()
    for one in found:
        name, number = one.candidate.name, 1
        while name in taken:
            number += 1
            name = f"{one.candidate.name}#{number}"
        taken.add(name)
        yield replace(one, candidate=replace(one.candidate, name=name))


def _struct_names(said: Any) -> Iterator[str]:
    """The names of all structs in pNext chains."""
    if isinstance(said, Mapping):
        for name, value in said.items():
            if name == "pNext" and value:
                yield from value
            yield from _struct_names(value)
    elif isinstance(said, (list, tuple)):
        for each in said:
            yield from _struct_names(each)


def _laid(over: Plain, base: Plain) -> dict[str, Any]:
    result = dict(base)
    for name, value in over.items():
        below = result.get(name)
        below = below if isinstance(below, Mapping) else {}
        result[name] = _laid(value, below) if isinstance(value, Mapping) else value
    return result


def _without(layer: Plain, name: str) -> dict[str, Any]:
    return {key: value for key, value in layer.items() if key != name}
