"""Answers about runs: the streams of a result, whole or as a digest."""

from __future__ import annotations

from functools import cached_property

from boxspec.target.observed import Observed
from contracts.shared.runs import RunAnswer


class ObservedRun(Observed, RunAnswer):
    """One exec.run through one shim process."""


class ObservedBatch(Observed):
    """One exec.batch; `runs` holds an answer per run, in order."""

    @cached_property
    def runs(self) -> list[RunAnswer]:
        return [RunAnswer(run) for run in self.result["runs"]]
