"""The process that a driver lives in.

It imports the kit alone (standard library, cffi's backend, `vulkan`), since it also runs in driver trees, containers
and on other machines. `shaderstat.pool.child` starts it with descriptor 1 already pointed at 2: whatever a driver
prints goes to standard error, and the protocol has the original standard output for itself.
"""

from __future__ import annotations


def serve(in_fd: int, out_fd: int) -> None:
    """Take a launch and jobs from `in_fd`, answer on `out_fd`, until the input ends."""
    import gc

    gc.set_threshold(50_000)  # many small objects, hardly a cycle

    from shaderstat.child.loop import Child

    Child(in_fd, out_fd).run()
