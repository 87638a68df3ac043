"""Answers to exec.run and exec.batch; a stream of a result is whole or a digest."""

from __future__ import annotations

from functools import cached_property

from boxspec.subject.observed import Observed
from contracts.shared.runs import RunAnswer


class ObservedRun(RunAnswer, Observed):
    """The answer of one exec.run through one shim process."""


class ObservedBatch(Observed):
    """The answer of one exec.batch; `runs` holds one answer per run, in order."""

    @cached_property
    def runs(self) -> list[RunAnswer]:
        return [RunAnswer(run) for run in self.result["runs"]]
