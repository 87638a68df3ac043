"""Moments as observers write them down, with what had been waited for a processor by then.

A machine that is busy makes everybody late, observers too, and nobody early. The kernel counts for
each thread how long it stood in line for a processor (/proc/PID/task/TID/schedstat, field 2); so
what is late by more than that has another cause.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

# What a right implementation may take beyond a limit, on any machine: to wake up and be seen, and,
# where its end is what is seen, to say its answer and to end.
SPARE_MS = 25.0
ENDING_MS = 50.0


@dataclass(frozen=True)
class Waited:
    """How long the threads of one process have stood in line, in all; no threads: nobody knows."""

    ns: int
    threads: int

    @property
    def known(self) -> bool:
        return self.threads > 0


UNKNOWN = Waited(0, 0)


@dataclass(frozen=True)
class Spent:
    """Of a shim, when it had ended and before it was collected.

    waited: by the threads that were left. late_ns: by the warden, in front of its stamp. cpu_ns:
    processor time, with that of its collected children.
    """

    waited: Waited
    late_ns: int
    cpu_ns: int


@dataclass(frozen=True)
class Stamp:
    """A moment of CLOCK_MONOTONIC.

    t_ns: what is stamped happened then, or at most early_ns before: so long its observer may have
        stood in line in front of it.
    by, own: the process that stamped it, and what that had waited by then.
    targets: what shims had waited by then, by their pid.
    spare_ms: what a right implementation may take beyond a limit that ends here.
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
        """The stamp was made first, and then what it stands for was done."""
        return replace(self, early_ns=0)


def elapsed_ms(since: Stamp, until: Stamp) -> float:
    """The longest that it can have been."""
    return (until.t_ns - since.earliest_ns) / 1e6


def observers_waited_ns(since: Stamp, until: Stamp) -> int:
    """How much of it the observers stood in line."""
    same = since.by == until.by and since.own.known and until.own.known
    between = until.own.ns - since.own.ns if same else until.early_ns
    return since.early_ns + max(0, between)
