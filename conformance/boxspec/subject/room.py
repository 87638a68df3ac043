"""The memory and the disk space that a run may use here."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from boxspec.mounts import cgroup_folders
from boxspec.places import free_bytes
from boxspec.subject.observe.procs import cgroups

MIB = 2**20
# The memory of the kit and the reference during the tests with the largest payloads. Whole runs on
# two processors used at most 850 MiB.
MEMORY = 900 * MIB
# With less free space, a shim may have failed because its files did not fit.
FULL = MIB


def warning() -> str | None:
    """Return a line about a limit that may be too low for a run, or None.

    At a limit of memory the kernel ends the run with SIGKILL, so the run cannot report it later.
    """
    most = least_memory(cgroup_folders(cgroups(os.getpid())))
    if most is None or most >= MEMORY:
        return None
    return (
        f"warning: a control group limits memory to {most // MIB} MiB, and a run may need"
        f" {MEMORY // MIB} MiB. If the kernel kills this run (exit status 137), raise the limit,"
        " or judge fewer contracts, without exec: --contract NAME"
    )


def least_memory(groups: Iterable[Path]) -> int | None:
    """Return the lowest memory limit of these control groups and their parents, in bytes.

    Return None without a limit.
    """
    places = [place for group in groups for place in (group, *group.parents)]
    return min((limit for place in places for limit in _limits_of(place)), default=None)


def _limits_of(group: Path) -> list[int]:
    # The names of version 2 and of version 1. In version 2, the word `max` means no limit.
    for name in ("memory.max", "memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):
            return [int((group / name).read_text())]
    return []


def is_full(folder: Path) -> bool:
    free = free_bytes(folder)
    return free is not None and free < FULL
