"""Answers about runs: the streams of a result, whole or as a digest."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from boxspec.subject.observed import Facts, Observed
from contracts.shared.inside import expect_confined
from contracts.shared.runs import RunAnswer


class ObservedRun(Observed, RunAnswer):
    """One exec.run through one shim process."""


class ObservedBatch(Observed):
    """One exec.batch; `runs` holds an answer per run, in order."""

    @cached_property
    def runs(self) -> list[RunAnswer]:
        return [RunAnswer(run) for run in self.result["runs"]]


class RunInside(ObservedRun):
    """One exec.run inside a sandbox."""

    def __init__(self, raw: dict[str, Any] | None, observed: Facts) -> None:
        expect_confined(raw)
        super().__init__(raw, observed)


class BatchInside(ObservedBatch):
    """One exec.batch, each run of it inside a sandbox."""

    def __init__(self, raw: dict[str, Any] | None, observed: Facts) -> None:
        expect_confined(raw)
        super().__init__(raw, observed)
