"""Run repeated cases with real-time priority, before all other programs of the machine."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import time
from collections.abc import Iterator

# The shim and its programs have a priority that is lower by one
# (fixtures/programs/warden/warden.h), so that processes that observe them run first.
PRIORITY = 2
TARGETS = PRIORITY - 1

# Two runs with real-time priority at once would delay each other, and their own counters would not
# show this. So a run takes the lock on this directory: every user may open it, and no file is left.
LOCKED = "/"
LOCK_S, LOOK_S = 60.0, 0.02

# True while a thread of this process has real-time priority.
_taken = False


@contextlib.contextmanager
def realtime() -> Iterator[bool]:
    """Run this thread, and the processes that it starts, with SCHED_FIFO.

    Yield False if that is not permitted, if the C library lacks the call (musl: ENOSYS), or if
    other runs on this machine have had that priority for a minute.
    """
    global _taken
    try:
        before = os.sched_getscheduler(0), os.sched_getparam(0)
        _go_first()
        os.sched_setscheduler(0, *before)
    except OSError:
        yield False
        return
    with _locked() as mine:
        if not mine:
            yield False
            return
        _taken = True
        try:
            _go_first()
            yield True
        finally:
            _taken = False
            os.sched_setscheduler(0, *before)


def _go_first() -> None:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))


@contextlib.contextmanager
def _locked() -> Iterator[bool]:
    """Hold the lock. Yield False if another run did not release it for LOCK_S."""
    place = os.open(LOCKED, os.O_RDONLY)
    try:
        until = time.monotonic() + LOCK_S
        while not (mine := _try_lock(place)) and time.monotonic() < until:
            select.select([], [], [], LOOK_S)
        yield mine
    finally:
        os.close(place)


def _try_lock(place: int) -> bool:
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def beside_the_target() -> Iterator[None]:
    """Run with the priority of the shim, around calls that may wait for the shim in the kernel.

    These calls read /proc or wait for processes; fixtures/programs/warden/priority.c has the
    reason.
    """
    if not _taken or os.sched_getscheduler(0) != os.SCHED_FIFO:
        yield
        return
    before = os.sched_getparam(0)
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(TARGETS))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_FIFO, before)
