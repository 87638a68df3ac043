"""The outcome of a run of a target."""

from __future__ import annotations

from dataclasses import dataclass

from boxspec.fuzz.engine import Progress
from boxspec.fuzz.findings import Finding


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run.

    The times do not include the processing of findings.
    """

    findings: list[Finding]
    progress: Progress
    wall_s: float
    cpu_s: float
    inputs_before: int
    inputs_after: int
    ended_early: str | None

    @property
    def per_cpu_s(self) -> float:
        """Return the executions per second of CPU time. This rate does not depend on the load of
        the machine."""
        return self.progress.runs / self.cpu_s if self.cpu_s > 0 else 0.0
