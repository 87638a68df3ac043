"""Bounds of time: what was measured, and what that says.

A machine that is busy makes everybody late and nobody early. So whoever is on time conforms on any
machine; whoever is late by more than the machine was, fails; and what lies between says nothing.

Not all who wait can be asked how long: a child that was killed must run once more to be gone, and
takes its count along. Where the others waited, it may have waited too, so a look beside others at a
busy machine accuses nobody; the next one, alone, does.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from boxspec.judge.verdict import Failure, Late

# So many looks may have others beside them (schedule/beside.py). `run -x`, where none is alone,
# decides by the third.
BESIDE = 2


@dataclass
class Timing:
    """One bound, measured once; all in milliseconds.

    limit: the requirement's. spare: what a right implementation may take beyond it, whatever the
    load. took: the longest that it can have been. waited: of that, at most so much was the
    machine's doing. seen: whether all of that was read from those who waited; else it is how long
    no processor was free. attempt, alone, realtime: which look it was, whether others ran beside
    it, and whether it ran in front of all other programs.
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
        """The least that it took by itself."""
        return self.took_ms - self.waited_ms

    @property
    def may_have_missed(self) -> bool:
        """Whether somebody who was not seen may have waited as well, at a look beside others."""
        return self.attempt <= BESIDE and not self.alone and self.waited_ms > self.spare_ms

    def to_json(self) -> dict[str, Any]:
        plain = asdict(self)
        return {name: round(v, 3) if isinstance(v, float) else v for name, v in plain.items()}

    def figures(self) -> str:
        return (
            f"{self.took_ms:.1f} ms of {self.limit_ms:g} and {self.spare_ms:g},"
            f" {self.waited_ms:.1f} ms of them may be the machine's"
        )

    def judge(self) -> None:
        """Failure, Late, or nothing."""
        if self.in_time:
            return
        expected = f"at most {self.limit_ms:g} ms, and {self.spare_ms:g} to be seen"
        evidence = {"timing": self.to_json()}
        if self.own_ms > self.allowed_ms and not self.may_have_missed:
            raise Failure(self.what, expected, self.figures(), evidence, timed=True)
        raise Late(self.what, expected, self.figures(), evidence)
