"""The number of processes and threads that control groups allow, for example in a container."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from boxspec.errors import UsageError
from boxspec.mounts import Mount, mounts

# The most that a run was seen to use (408 with -j 4, 542 with -j 32): without long tests, and for
# each long test that runs at the same time.
ALONE, EACH = 400, 6


def affordable(jobs: int) -> int:
    """Return how many of these long tests may run in parallel; raise UsageError if none may."""
    left = processes_left()
    if left is None:
        return jobs
    if left < ALONE + EACH:
        raise UsageError(
            "pids.max",
            f"{left} more processes and threads may run here, and a run needs {ALONE + EACH}",
            "raise the limit of the container or service",
        )
    return min(jobs, (left - ALONE) // EACH)


def processes_left() -> int | None:
    """Return how many more processes and threads may run here, or None without a limit."""
    try:
        text = Path("/proc/self/cgroup").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    groups = [Path(line.split(":", 2)[2]) for line in text.splitlines() if line.count(":") >= 2]
    return least_left(groups, mounts())


def least_left(groups: Iterable[Path], mounted: Iterable[Mount]) -> int | None:
    """Return the least that these control groups and those above them leave, or None.

    groups: their paths in the hierarchy. mounted: mounts, some of which are hierarchies.
    """
    found = []
    mounted = list(mounted)
    for group in groups:
        for mount in mounted:
            if not group.is_relative_to(mount.inner):
                continue
            folder = mount.at / group.relative_to(mount.inner)
            for each in (folder, *folder.parents):
                if each.is_relative_to(mount.at):
                    found += _left_in(each)
    return min(found, default=None)


def _left_in(folder: Path) -> list[int]:
    # Without a limit the file contains the word `max`.
    with contextlib.suppress(OSError, ValueError):
        most, current = ((folder / f"pids.{name}").read_text() for name in ("max", "current"))
        return [max(0, int(most) - int(current))]
    return []
