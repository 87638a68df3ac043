"""Stamps: times that observers record, together with the scheduling delay so far.

A busy machine delays all processes, observers too. It makes no process faster. The kernel counts
for each thread how long it waited for a processor (/proc/PID/task/TID/schedstat, field 2). If an
event is late by more than this time, the delay has another cause.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

# Measurement allowance: each limit is extended by this time, on any machine. It covers waking up
# and observing, and at the end of a shim also its answer and its exit.
SPARE_MS = 25.0
ENDING_MS = 50.0


@dataclass(frozen=True)
class Waited:
    """How long the threads of a process have waited for a processor; unknown if `threads` is 0."""

    ns: int
    threads: int

    @property
    def known(self) -> bool:
        return self.threads > 0


UNKNOWN = Waited(0, 0)


@dataclass(frozen=True)
class Spent:
    """Totals of a shim that has ended, read before it was reaped.

    waited: how long its remaining threads have waited for a processor.
    late_ns: how long the warden waited for a processor before it recorded the end.
    cpu_ns: processor time, including its reaped children.
    """

    waited: Waited
    late_ns: int
    cpu_ns: int


@dataclass(frozen=True)
class Stamp:
    """A moment of CLOCK_MONOTONIC.

    t_ns: the event happened at this time, or at most early_ns earlier, because its observer may
        have waited that long for a processor.
    by: the pid of the process that recorded the moment.
    own: how long this process had waited for a processor in total.
    targets: how long each shim had waited for a processor in total, by pid.
    spare_ms: the measurement allowance that extends a time limit if this stamp ends the measured
        time.
    """

    t_ns: int
    early_ns: int = 0
    by: int = 0
    own: Waited = UNKNOWN
    targets: Mapping[int, Waited] = field(default_factory=dict)
    spare_ms: float = SPARE_MS

    @property
    def earliest_ns(self) -> int:
        return self.t_ns - self.early_ns

    def exact(self) -> Stamp:
        """Return the stamp for an action after this moment. Such a stamp is never too late."""
        return replace(self, early_ns=0)


def elapsed_ms(since: Stamp, until: Stamp) -> float:
    """Return the longest possible time between two stamps."""
    return (until.t_ns - since.earliest_ns) / 1e6


def observers_waited_ns(since: Stamp, until: Stamp) -> int:
    """Return how long the observers waited for a processor between two stamps."""
    same = since.by == until.by and since.own.known and until.own.known
    between = until.own.ns - since.own.ns if same else until.early_ns
    return since.early_ns + max(0, between)
