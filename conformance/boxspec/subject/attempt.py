"""Describe one attempt at a test. A test whose first attempt was late is repeated."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Attempt:
    """One attempt at a test.

    number: 1 for the first attempt.
    alone: True if no other test runs meanwhile.
    realtime: True if the attempt runs with SCHED_FIFO (see observe/realtime.py).
    """

    number: int = 1
    alone: bool = False
    realtime: bool = False


FIRST = Attempt()
