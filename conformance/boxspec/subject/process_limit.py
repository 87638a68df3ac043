"""The number of processes and threads that may start here.

Control groups limit it, for example those of a container, and RLIMIT_NPROC does for each user.
"""

from __future__ import annotations

import contextlib
import os
import resource
from pathlib import Path
from typing import NamedTuple

from boxspec.errors import UsageError
from boxspec.mounts import cgroup_folders, least_limit
from boxspec.subject.observe.procs import Status, cgroups

# The processes and threads that a run needs: without long tests, and for each long test that runs
# at the same time. Runs were seen to use at most 408 with -j 4, and 542 with -j 32.
ALONE, EACH = 400, 6
# The kernel gives no number below this one a second time (RESERVED_PIDS).
RESERVED = 300


class Limit(NamedTuple):
    """A limit on the number of processes and threads.

    left: how many may still start. place, remedy: as in UsageError.
    """

    left: int
    place: str
    remedy: str


def affordable(jobs: int) -> int:
    """Return the number of long tests to run in parallel, at most `jobs`.

    Raise UsageError if a limit is too low for a single one.
    """
    lowest = min(limits(), default=None)
    if lowest is None:
        return jobs
    if lowest.left < ALONE + EACH:
        raise UsageError(
            lowest.place,
            f"{lowest.left} more processes and threads may run here, and a run needs"
            f" {ALONE + EACH}",
            lowest.remedy,
        )
    return min(jobs, (lowest.left - ALONE) // EACH)


def limits() -> list[Limit]:
    """Return the limits that hold for this process."""
    found = []
    left = left_to_groups()
    if left is not None:
        found.append(Limit(left, "pids.max", "raise the limit of the container or service"))
    left = left_of_numbers()
    if left is not None:
        found.append(Limit(left, "kernel.pid_max", "raise it, or leave the pid namespace"))
    left = left_to_user()
    if left is not None:
        found.append(Limit(left, "ulimit -u", "raise the limit, or run as another user"))
    return found


def left_of_numbers() -> int | None:
    """Return how many more processes can get a number from the kernel; None if unknown."""
    # In a pid namespace the file has the limit of the namespace.
    with contextlib.suppress(OSError, ValueError):
        most = int(Path("/proc/sys/kernel/pid_max").read_text())
        return max(0, most - RESERVED - sum(name.isdigit() for name in os.listdir("/proc")))
    return None


def left_to_user() -> int | None:
    """Return how many processes the user may still start by RLIMIT_NPROC; None without a limit."""
    try:
        most, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    except OSError:
        # A filter of system calls, as of a systemd unit, may refuse all calls about limits.
        return None
    # The kernel does not limit the user root, setrlimit(2). Root of a user namespace is another
    # user outside.
    if most == resource.RLIM_INFINITY or (os.getuid() == 0 and _is_first_user_namespace()):
        return None
    return max(0, most - _threads_of(os.getuid()))


def _is_first_user_namespace() -> bool:
    with contextlib.suppress(OSError):
        return Path("/proc/self/uid_map").read_bytes().split() == [b"0", b"0", b"4294967295"]
    return True


def _threads_of(user: int) -> int:
    """Return the number of threads of a user, as far as /proc shows them."""
    count = 0
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
        # A process may end meanwhile.
        with contextlib.suppress(KeyError, OSError):
            status = Status(pid, str(pid))
            count += status.threads if status["Uid"].split()[0] == str(user) else 0
    return count


def left_to_groups() -> int | None:
    """Return how many processes the control groups still allow; None without a limit."""
    return least_limit(cgroup_folders(cgroups(os.getpid())), left_in)


def left_in(folder: Path) -> list[int]:
    """Return how many processes a control group still allows, in a list that is empty without a
    limit."""
    # Without a limit the file contains the word `max`.
    with contextlib.suppress(OSError, ValueError):
        most, current = ((folder / f"pids.{name}").read_text() for name in ("max", "current"))
        return [max(0, int(most) - int(current))]
    return []
