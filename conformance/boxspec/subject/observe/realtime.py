"""Run repeated cases with real-time priority, so that they run before all other programs of the
machine."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

# The shim and its programs have a priority one lower (fixtures/programs/warden/warden.h), so that
# processes that observe them run first.
PRIORITY = 2
TARGETS = PRIORITY - 1

# True while a thread of this process has real-time priority.
_taken = False


@contextlib.contextmanager
def realtime() -> Iterator[bool]:
    """Run this thread, and the processes that it starts, with SCHED_FIFO.

    Yield False if that is not permitted, or if the C library lacks the call (musl: ENOSYS).
    """
    global _taken
    try:
        before = os.sched_getscheduler(0), os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except OSError:
        yield False
        return
    _taken = True
    try:
        yield True
    finally:
        _taken = False
        os.sched_setscheduler(0, *before)


@contextlib.contextmanager
def beside_the_target() -> Iterator[None]:
    """Run with the same priority as the shim, around calls that may wait for the shim in the
    kernel.

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
