"""No core dumps: in a module of its own, for children that need little else."""

from __future__ import annotations


def no_core_dumps() -> None:
    """A crash is a result here, and a folder full of cores is nobody's wish (reference: Fossilize #117)."""
    try:
        import resource
    except ImportError:  # not a POSIX system
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
