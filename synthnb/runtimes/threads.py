"""How many threads a local model may take on this machine, now.

Two threads on two idle cores write 86 tokens a second; the same two on a machine whose
cores are already busy write 1 to 2, because llama.cpp's threads wait for one another at
every layer and the slowest sets the pace. One thread there keeps 11 to 12. So the server
takes the cores that are idle when it starts, and at least one.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Final

CGROUP_ROOT: Final = Path("/sys/fs/cgroup")
PROC_CGROUP: Final = Path("/proc/self/cgroup")

MAX_THREADS: Final = 8
"""A small model gains nothing from more: its layers are too short to share out."""

_ROUNDING = 0.25
"""A core that is a quarter busy (a browser, this notebook) still counts as idle."""


def idle_threads(interval: float = 0.2) -> int:
    """Return the number of idle cores that this process may use, from 1 to 8.

    Args:
        interval: seconds over which the load is measured. The call blocks for that long.
    """
    cores = allowed_cores()
    idle = len(cores) - busy_cores(cores, interval)
    quota = cpu_quota()
    limit = min(len(cores), MAX_THREADS, math.inf if quota is None else quota)
    return max(1, math.floor(min(idle, limit) + _ROUNDING))


def allowed_cores() -> frozenset[int]:
    """Return the numbers of the cores on which this process may run."""
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(os.cpu_count() or 1))


def busy_cores(cores: frozenset[int], interval: float) -> float:
    """Measure how many of these cores' worth of work is going on."""
    import psutil

    loads = psutil.cpu_percent(interval=interval, percpu=True)
    return float(sum(load for core, load in enumerate(loads) if core in cores)) / 100


def cpu_quota(
    cgroup_root: Path = CGROUP_ROOT, proc_cgroup: Path = PROC_CGROUP
) -> float | None:
    """Return the cores that the container's CPU quota allows; ``None`` = no quota.

    Reads ``cpu.max`` (cgroup v2) of this process's group and of the groups above it, and
    ``cpu.cfs_quota_us`` (v1). The smallest counts.
    """
    found = [_read_v1(cgroup_root / "cpu")]
    group = _v2_group(proc_cgroup)
    while True:
        found.append(_read_v2(cgroup_root / group / "cpu.max"))
        if group == Path():
            break
        group = group.parent
    quotas = [quota for quota in found if quota is not None]
    return min(quotas, default=None)


def _v2_group(proc_cgroup: Path) -> Path:
    try:
        lines = proc_cgroup.read_text().splitlines()
    except OSError:
        return Path()
    names = [line[len("0::/") :] for line in lines if line.startswith("0::/")]
    return Path(names[0]) if names and ".." not in names[0] else Path()


def _read_v2(path: Path) -> float | None:
    try:
        quota, period = path.read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return None


def _read_v1(folder: Path) -> float | None:
    try:
        quota = int((folder / "cpu.cfs_quota_us").read_text())
        period = int((folder / "cpu.cfs_period_us").read_text())
        return None if quota < 0 else quota / period
    except (OSError, ValueError, ZeroDivisionError):
        return None
