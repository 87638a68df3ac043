"""The number of processes and threads that control groups allow, for example in a container."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from boxspec.errors import UsageError
from boxspec.mounts import Mount, mounts
from boxspec.proc_lines import proc_lines

# The processes and threads that a run needs: without long tests, and for each long test that runs
# at the same time. Runs were seen to use at most 408 with -j 4, and 542 with -j 32.
ALONE, EACH = 400, 6


def affordable(jobs: int) -> int:
    """Return the number of long tests to run in parallel, at most `jobs`.

    Raise UsageError if the limit is too low for a single one.
    """
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
    """Return the number of processes and threads that can still start; None without a limit."""
    try:
        lines = proc_lines(Path("/proc/self/cgroup").read_bytes())
    except OSError:
        return None
    groups = [Path(line.split(":", 2)[2]) for line in lines if line.count(":") >= 2]
    hierarchies = [each for each in mounts() if os.access(each.at / "cgroup.procs", os.F_OK)]
    return least_left(groups, hierarchies)


def least_left(groups: Iterable[Path], hierarchies: Sequence[Mount]) -> int | None:
    """Return how many processes these control groups and their parents still allow, the least of
    all.

    Return None without a limit.
    groups: paths in a hierarchy.
    """
    found = []
    for group in groups:
        for mount in hierarchies:
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
