"""The answers to exec.run and exec.batch. A stream in a result is complete, or is given as a
digest."""

from __future__ import annotations

from functools import cached_property

from boxspec.subject.observed import Observed
from contracts.shared.runs import RunAnswer


class ObservedRun(RunAnswer, Observed):
    """The answer to one exec.run, which had its own shim process."""


class ObservedBatch(Observed):
    """The answer to one exec.batch. `runs` has one answer for each run, in order."""

    @cached_property
    def runs(self) -> list[RunAnswer]:
        return [RunAnswer(run) for run in self.result["runs"]]
