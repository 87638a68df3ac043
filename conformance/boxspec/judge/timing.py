"""Judge one measurement of a time limit.

Other programs can only delay a process; this delay is called scheduling delay. So a measurement
within the limit conforms on any machine. A measurement fails if it exceeds the limit even without
the scheduling delay. Otherwise the test is repeated.

The scheduling delay of some processes is unknown: a killed child must run once more to exit, and
its counter disappears with it. If other processes were delayed, that child may have been delayed
too. So on a busy machine an attempt that runs at the same time as other tests never fails; a later
attempt without other tests decides.

Some delays show in no counter: a virtual machine was stopped while its clock went on, or a write
waited for the disk. They are short and rare, so a short excess counts only if it shows in two
attempts.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from boxspec.judge.verdict import Failure, Late

# The number of attempts that may run at the same time as other tests (see schedule/retry_pool.py).
# With `run -x` all attempts run at the same time as other tests, and the third one decides.
PARALLEL_ATTEMPTS = 2

# A shorter excess may be a delay that no counter shows. The kernel lets a write wait for the disk
# for up to 200 ms.
SHORT_MS = 500.0


@dataclass
class Timing:
    """One measured duration and its limit. Fields with `_ms` are in milliseconds.

    limit_ms: the limit of the requirement.
    spare_ms: measurement allowance in addition to the limit; it does not depend on the load.
    took_ms: upper bound of the measured duration.
    waited_ms: upper bound of the scheduling delay within took_ms.
    seen: True if the delay was read from every process that matters; otherwise waited_ms is the
        time in which no processor was free.
    attempt: number of the attempt, from 1.
    alone: True if no other test ran at the same time.
    realtime: True if the attempt ran with real-time priority.
    """

    what: str
    limit_ms: float
    spare_ms: float
    took_ms: float
    waited_ms: float
    seen: bool = True
    attempt: int = 1
    alone: bool = False
    realtime: bool = False

    @property
    def allowed_ms(self) -> float:
        return self.limit_ms + self.spare_ms

    @property
    def in_time(self) -> bool:
        return self.took_ms <= self.allowed_ms

    @property
    def own_ms(self) -> float:
        """Return a lower bound of the duration without scheduling delay."""
        return self.took_ms - self.waited_ms

    @property
    def may_have_missed(self) -> bool:
        """True if other tests ran at the same time, so that waited_ms may lack the delay of a
        process."""
        return (
            self.attempt <= PARALLEL_ATTEMPTS and not self.alone and self.waited_ms > self.spare_ms
        )

    def to_json(self) -> dict[str, Any]:
        plain = asdict(self)
        return {name: round(v, 3) if isinstance(v, float) else v for name, v in plain.items()}

    def figures(self) -> str:
        return (
            f"{self.took_ms:.1f} ms, of which up to {self.waited_ms:.1f} ms may be scheduling delay"
        )

    def _limit(self) -> str:
        return f"at most {self.limit_ms:g} ms (+{self.spare_ms:g} ms measurement allowance)"

    def check(self) -> None:
        """Return if the measurement is in time; otherwise raise an exception.

        Raise Late if scheduling delay may explain the excess, and Failure if it cannot.
        """
        if self.in_time:
            return
        evidence = {"timing": self.to_json()}
        if self.own_ms > self.allowed_ms and not self.may_have_missed:
            short = self.own_ms - self.allowed_ms < SHORT_MS
            raise Failure(
                self.what, self._limit(), self.figures(), evidence, timed=True, short=short
            )
        raise Late(self.what, self._limit(), self.figures(), evidence)
