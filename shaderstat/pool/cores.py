"""How many children at work side by side make sense."""

from __future__ import annotations

import math
import os


def cores() -> int:
    """The processor cores that this process may use: its affinity, and no more than its control group's quota, which
    is what holds a container or a CI job on a large machine."""
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        count = os.cpu_count() or 1
    try:
        with open("/sys/fs/cgroup/cpu.max", encoding="ascii") as file:
            quota, period = file.read().split()
    except (OSError, ValueError):
        return count
    return count if quota == "max" else max(1, min(count, math.ceil(int(quota) / int(period))))
