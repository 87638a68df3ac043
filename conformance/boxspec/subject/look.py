"""The attempt at a test."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Look:
    """The number of an attempt at a test, and its conditions: with no other test, and with
    SCHED_FIFO if the kit may use it."""

    number: int = 1
    alone: bool = False
    realtime: bool = False


FIRST = Look()
