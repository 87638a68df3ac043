"""The memory and the disk space that a run may use here."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from boxspec.mounts import cgroup_folders, least_limit
from boxspec.places import free_bytes
from boxspec.subject.observe.procs import cgroups

MIB = 2**20
# The memory of the kit and the reference during the tests with the largest payloads. Whole runs on
# two processors used at most 850 MiB.
MEMORY = 900 * MIB
# With less free space, a shim may have failed because its files did not fit.
FULL = MIB


def warning() -> str | None:
    """Return a line about a memory limit that may be too low for a run; None if there is none.

    At the limit the kernel kills the run, so the run cannot report it then.
    """
    most = least_limit(cgroup_folders(cgroups(os.getpid())), _limits_of)
    if most is None or most >= MEMORY:
        return None
    return (
        f"warning: a control group limits memory to {most // MIB} MiB, and a run may need"
        f" {MEMORY // MIB} MiB. If the kernel kills this run (exit status 137), raise the limit,"
        " or judge fewer contracts, without exec: --contract NAME"
    )


def _limits_of(group: Path) -> list[int]:
    # The names of version 2 and of version 1. In version 2, the word `max` means no limit.
    for name in ("memory.max", "memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):
            return [int((group / name).read_text())]
    return []


def is_full(folder: Path) -> bool:
    free = free_bytes(folder)
    return free is not None and free < FULL
