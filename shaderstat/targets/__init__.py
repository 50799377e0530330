"""Targets: which compilers can be named, and how each is launched."""

from __future__ import annotations

from shaderstat.targets.catalogue import automatic, named

__all__ = ["automatic", "named"]
