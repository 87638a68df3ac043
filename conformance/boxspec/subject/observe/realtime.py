"""In front of the line: cases that are asked again run where no other program delays them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

# The target and its programs are one below (fixtures/programs/warden/warden.h): whoever looks at
# them goes first.
PRIORITY = 2
TARGETS = PRIORITY - 1

# Whether a thread of this process is in front now.
_taken = False


@contextlib.contextmanager
def realtime() -> Iterator[bool]:
    """This thread and what it starts, under SCHED_FIFO; False where that is not allowed, or where
    the C library has no such call: musl's says ENOSYS."""
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
    """For what may wait for the target in the kernel, as a look into /proc or a wait may: the two
    take turns (fixtures/programs/warden/priority.c says why)."""
    if not _taken or os.sched_getscheduler(0) != os.SCHED_FIFO:
        yield
        return
    before = os.sched_getparam(0)
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(TARGETS))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_FIFO, before)
