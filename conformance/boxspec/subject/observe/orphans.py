"""End the processes of a shim that has killed its warden. The kit then becomes their parent."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from collections.abc import Callable
from pathlib import Path

from boxspec.subject.observe.lines import poll
from boxspec.subject.observe.realtime import beside_the_target

_SET_CHILD_SUBREAPER = 36
# The number of searches. If a process forks during a search, the next search finds its child.
LOOKS = 50
# Time to wait before the next search for a process that is in a call of `execve`.
EXECUTES_S = 0.02
# Marks a kernel thread in /proc/PID/stat.
PF_KTHREAD = 0x200000


def adopt() -> None:
    """Make this process the subreaper, so that it becomes the parent of processes of a dead
    warden."""
    ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


@beside_the_target()
def end_all(mark: str | None, strays: Callable[[], list[int]]) -> None:
    """End and reap all marked processes, and all strays.

    mark: `NAME=VALUE` in the environment of a process.
    strays: a function that returns the current processes without the mark. When a stray ends, its
        children become strays, which the next search finds.
    """
    for _ in range(LOOKS):
        left, executes = _marked(mark.encode()) if mark is not None else ([], False)
        left.extend(strays())
        if not left and not executes:
            return
        if not left:
            poll([], EXECUTES_S)
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in left:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _marked(mark: bytes) -> tuple[list[int], bool]:
    """Return the processes with the mark, and True if a process has no environment yet."""
    found: list[int] = []
    executes = False
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                environment = (entry / "environ").read_bytes()
                if mark in environment.split(b"\0"):
                    found.append(int(entry.name))
                executes |= not environment and is_executing(entry)
    return found, executes


def is_executing(process: Path) -> bool:
    """True if the process is in exec and has no environment yet, so that its mark cannot be read.

    The kernel has closed its close-on-exec descriptors already. So a process that waited for this
    may have continued.
    process: the folder of the process in /proc.
    """
    try:
        stat = (process / "stat").read_bytes()
    except OSError:
        return False
    # The fields of /proc/PID/stat from the third one (the state) on; see proc(5).
    fields = stat.rpartition(b")")[2].split()
    if len(fields) < 49 or fields[0] in b"XxZ" or int(fields[6]) & PF_KTHREAD:
        return False
    env_end = fields[48]
    return env_end == b"0"
