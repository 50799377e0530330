"""What needs the package `vulkan` needs a Vulkan loader as well, since importing it looks for one: libvulkan1."""

from __future__ import annotations

import importlib

import pytest

from tests.conftest import REQUIRE_DRIVER

NEED_LOADER = ("test_builder", "test_ctypes", "test_executables", "test_facts", "test_pipelines")
try:
    importlib.import_module("vulkan")
    collect_ignore: list[str] = []
except (ImportError, OSError) as error:
    if REQUIRE_DRIVER:
        pytest.exit(f"no Vulkan loader: {error}", returncode=1)
    collect_ignore = [f"{name}.py" for name in NEED_LOADER]
