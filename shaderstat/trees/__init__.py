"""Driver trees: folders of unpacked packages that are run by their own dynamic loader.

A tree brings another Mesa to this machine, newer or older, without root, namespaces or containers: glibc differs, so
its drivers can't be loaded into this machine's programs, but its own dynamic loader starts its own Python with them.
"""

from __future__ import annotations

from shaderstat.trees.build import Plan, install
from shaderstat.trees.folder import HalfBuilt, Tree, find, home, installed, remove

__all__ = ["HalfBuilt", "Plan", "Tree", "find", "home", "install", "installed", "remove"]
