"""Targets may be in driver trees: their tests have the trees' folder, too."""

from __future__ import annotations

from tests.trees.conftest import home as home
