"""Send a signal to the caller, for the tests of EXEC-SIGNAL and EXEC-KILL."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Unpack

from boxspec.api import Blocked, Late, ShimProcess, Stamp
from boxspec.api import programs as P
from boxspec.subject.observe.procs import threads
from contracts.exec.answers import ObservedRun
from contracts.exec.client import ExecCase, RunOptions
from contracts.exec.moments import (
    BY_SIGINT,
    BY_SIGTERM,
    FOREVER_MS,
    SETTLED_MS,
    pass_time,
    shell_ends,
    until,
)
from contracts.exec.spawn_io import shell

SIGNALS = ["TERM", "INT"]
CODE = {"TERM": 143, "INT": 130}
SAYS = {"TERM": BY_SIGTERM, "INT": BY_SIGINT}
LIBC = ctypes.CDLL(None, use_errno=True)
SYS_TGKILL = {"x86_64": 234, "aarch64": 131, "riscv64": 131}.get(os.uname().machine)


def interrupted(
    case: ExecCase, name: str, *args: str | bytes, program: str | None = None
) -> ObservedRun:
    """Start a run, and send the caller a signal as soon as the child is ready."""
    events = case.events()
    rest = args or (FOREVER_MS,)
    with case.exec.start(
        program=program or P.slow_exit, args=[events.path, *rest], within_s=20
    ) as shim:
        events.wait("ready")
        shim.signal(name)
        return shim.finish()


def ended_once_set_up(
    case: ExecCase, cause: str, mark: Path, **options: Unpack[RunOptions]
) -> ObservedRun:
    """Run a child that makes the file `mark` when it is set up, and end the run after that.

    cause: "deadline", or the name of a signal to the caller.
    """
    limits: RunOptions = {"within_s": 20}
    if cause == "deadline":
        limits["timeout_ms"] = SETTLED_MS
    with case.exec.start(**(options | limits)) as shim:
        if cause != "deadline":
            until(mark.exists)
            shim.signal(cause)
        seen = shim.finish()
    if not mark.exists():
        raise Late("the child is set up before its deadline", "a handler", "none")
    return seen


@contextlib.contextmanager
def after_the_childs_exit(case: ExecCase, code: int) -> Iterator[ShimProcess[ObservedRun]]:
    """Yield a run three ticks after its child has ended. A process outside the group holds the
    output, so the run lasts longer than its child."""
    events = case.events()
    line = f'"$1" "$2" --setsid --keep out; exit {code}'
    with case.exec.start(**shell(line, P.orphan, events.path), expect_result=False) as shim:
        events.wait("orphan")
        shell_ends(shim)
        pass_time(3 * case.tick_ms)
        yield shim


def signal_caller(case: ExecCase, shim: ShimProcess[ObservedRun]) -> tuple[Stamp, ObservedRun]:
    """Send SIGTERM to the caller; return the time of the signal and the answer."""
    sent = shim.signal("TERM")
    seen = shim.finish()
    if not seen.ok:
        raise Blocked(["EXEC-SIGNAL-01"], "the signal ends the caller")
    return sent, seen


def signal_each_thread(shim: ShimProcess[ObservedRun], number: int) -> None:
    """Send a signal to each thread of the shim separately; skip threads that have ended."""
    for name in threads(shim.shim_pid):
        if SYS_TGKILL is None:
            shim.signal(number)
        else:
            LIBC.syscall(SYS_TGKILL, shim.shim_pid, int(name), number)
