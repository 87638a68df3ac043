"""In front of the line: cases that are asked again run where no other program delays them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

# The target and its programs are one below (fixtures/programs/warden/child.c): whoever looks at
# them goes first.
PRIORITY = 2


@contextlib.contextmanager
def realtime() -> Iterator[bool]:
    """This thread and what it starts, under SCHED_FIFO; False where that is not allowed, or where
    the C library has no such call: musl's says ENOSYS."""
    try:
        before = os.sched_getscheduler(0), os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except OSError:
        yield False
        return
    try:
        yield True
    finally:
        os.sched_setscheduler(0, *before)
