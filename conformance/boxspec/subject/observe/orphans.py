"""What a shim leaves behind that has ended its warden: it becomes ours, and is ended."""

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
# One that forks while it is looked for is found at the next look.
LOOKS = 50
# How long to wait for one that executes a program, before the next look.
EXECUTES_S = 0.02
# What the kernel's flags say of a thread of its own.
PF_KTHREAD = 0x200000


def adopt() -> None:
    """Whatever a dead warden had adopted becomes a child of this process."""
    ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


@beside_the_target()
def end_all(mark: str, strays: Callable[[], list[int]]) -> None:
    """End and reap each process that has `NAME=VALUE` in its environment, and each that has lost
    it: `strays` names them, as they are then."""
    for _ in range(LOOKS):
        left, executes = _marked(mark.encode())
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
    """Those that have it, and whether some process may have it that shows no environment yet."""
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
    """It has begun to execute a program, and the kernel has not laid out its environment yet.

    By then what closes on exec is closed: whoever waited for that is ahead of it.
    process: its folder in /proc."""
    try:
        stat = (process / "stat").read_bytes()
    except OSError:
        return False
    # From the state on, the third field of proc(5).
    fields = stat.rpartition(b")")[2].split()
    if len(fields) < 49 or fields[0] in b"XxZ" or int(fields[6]) & PF_KTHREAD:
        return False
    env_end = fields[48]
    return env_end == b"0"
