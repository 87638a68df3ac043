"""Describe one attempt at a test. A test whose first attempt was late is repeated."""

from __future__ import annotations

from dataclasses import dataclass

# Longer than the limits of almost all tests (up to 40 s), and than a shim may take to start a
# child.
LOOP_S = 45


@dataclass(frozen=True)
class Attempt:
    """One attempt at a test.

    number: 1 for the first attempt.
    alone: True if no other test runs meanwhile.
    realtime: True if the attempt runs with SCHED_FIFO (see observe/realtime.py).
    hung: True if the attempt before this one was a hang.
    """

    number: int = 1
    alone: bool = False
    realtime: bool = False
    hung: bool = False

    @property
    def flags(self) -> list[str]:
        """The warden's flags for a shim of this attempt.

        An endless loop must reach the limit of the test with real-time priority: only then it is
        certain that the machine did not delay it. So after a hang the kernel kills it later.
        """
        if not self.realtime:
            return []
        return ["--realtime", *(["--computes", str(LOOP_S)] if self.hung else [])]


FIRST = Attempt()
