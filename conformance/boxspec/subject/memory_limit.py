"""The memory that a run may use here. Control groups limit it, for example those of a container."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from boxspec.mounts import cgroup_folders
from boxspec.subject.observe.procs import cgroups

MIB = 2**20
# The memory of the kit and the reference during the tests with the largest payloads. Whole runs on
# two processors used at most 850 MiB.
NEEDED = 900 * MIB


def warning() -> str | None:
    """Return a warning if a run may need more memory than it may use, or None.

    At such a limit the kernel ends the run with SIGKILL, so the run cannot report this later.
    """
    at_most = least(cgroup_folders(cgroups(os.getpid())))
    if at_most is None or at_most >= NEEDED:
        return None
    return (
        f"warning: a control group limits memory to {at_most // MIB} MiB, and a run may need"
        f" {NEEDED // MIB} MiB. If the kernel kills this run (exit status 137), raise the limit,"
        " or judge fewer contracts, without exec: --contract NAME"
    )


def least(groups: Iterable[Path]) -> int | None:
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
