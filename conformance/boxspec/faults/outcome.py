"""The outcome of running the suite against one fault, and whether it is the expected one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from boxspec.faults.fault import Fault
from boxspec.judge.requirements import load


@dataclass
class Outcome:
    """The outcome of one fault.

    caught_by: requirements that failed, and failed again in a separate run.
    """

    fault: Fault
    scope: str
    caught_by: list[str] = field(default_factory=list)
    tries: int = 1
    problem: str = ""

    @property
    def blunt(self) -> list[str]:
        """Return the requirements of other topics that failed too: the suite should name only the
        broken one."""
        topic = self.fault.topic
        return [name for name in self.caught_by if topic and load()[name].topic != topic]

    @property
    def named(self) -> bool:
        return self.fault.requirement in self.caught_by

    @property
    def good(self) -> bool:
        if self.problem:
            return False
        if self.fault.role == "fault":
            return self.named and not self.blunt
        return bool(self.caught_by) == (self.fault.role == "control")

    @property
    def word(self) -> str:
        if self.problem:
            return "broken"
        if self.fault.role == "noop":
            return "caught" if self.caught_by else "quiet"
        if not self.caught_by:
            return "missed"
        if self.fault.role == "fault" and not self.named:
            return "by others"
        return "blunt" if self.blunt else "caught"

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.fault.id,
            "contract": self.fault.contract,
            "requirement": self.fault.requirement,
            "role": self.fault.role,
            "mistake": self.fault.mistake,
            "seen": self.fault.seen,
            "scope": self.scope,
            "caught": bool(self.caught_by),
            "caught_by": self.caught_by,
            "tries": self.tries,
            "other_topics": self.blunt,
            "problem": self.problem,
        }
