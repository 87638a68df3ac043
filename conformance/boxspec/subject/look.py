"""Which look at a test it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Look:
    """The how manieth look at a test it is, and how: with no other test beside it, and under
    SCHED_FIFO where that is allowed."""

    number: int = 1
    alone: bool = False
    realtime: bool = False


FIRST = Look()
