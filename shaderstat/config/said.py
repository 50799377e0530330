"""A manifest once it is read: plain data, without YAML. `shaderstat.config.manifest` reads it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from shaderstat.model import Setup, SpecOption
from shaderstat.plain import dataclass

NAME = "shaderstat.yaml"

Features = tuple[tuple[str, str, bool], ...]


@dataclass(frozen=True, slots=True)
class Said:
    """What one place of the file says of state.

    Attributes:
        layer: as `shaderstat.pipeline.overrides` takes it.
        profile, features, application: of the device, see `model.Setup`.
        spec: sets of specialization; each is options that multiply. Empty: nothing was said.
        run: how it is run, as `shaderstat.config.runs` takes it.
    """

    layer: Mapping[str, Any] = field(default_factory=dict)
    profile: str | None = None
    features: Features = ()
    application: tuple[tuple[str, str | int], ...] = ()
    spec: tuple[tuple[SpecOption, ...], ...] = ()
    run: Mapping[str, Any] = field(default_factory=dict)

    def setup(self, below: Setup) -> Setup:
        """`below` with what is said here over it."""
        if self.profile is None and not self.features and not self.application:
            return below
        features = {(struct, member): on for struct, member, on in (*below.features, *self.features)}
        return Setup(
            self.profile or below.profile,
            tuple((struct, member, on) for (struct, member), on in features.items()),
            tuple({**dict(below.application), **dict(self.application)}.items()),
            below.wished,
        )


@dataclass(frozen=True, slots=True)
class Piece:
    """A module of a pipeline: `stage` and `entry` choose among its entry points, `info` is flags and pNext of its
    VkPipelineShaderStageCreateInfo."""

    path: str
    stage: str | None = None
    entry: str | None = None
    info: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entry:
    """A pipeline by its name, or (`files`) several of one state."""

    name: str
    pieces: tuple[Piece, ...]
    files: tuple[str, ...]
    said: Said


@dataclass(frozen=True, slots=True)
class Manifest:
    """A file, read. `suffixes` are further endings that name a stage."""

    path: str
    entries: tuple[Entry, ...] = ()
    defaults: Said = Said()
    suffixes: tuple[str, ...] = ()


def find(folder: str = os.curdir) -> str | None:
    """The nearest ``shaderstat.yaml``, in `folder` or above it; None where there is none."""
    here = os.path.abspath(folder)
    path = NAME if folder == os.curdir else os.path.join(folder, NAME)
    while True:
        if os.path.isfile(os.path.join(here, NAME)):
            return path
        above = os.path.dirname(here)
        if above == here:
            return None
        here, path = above, os.path.join(os.pardir, path)
