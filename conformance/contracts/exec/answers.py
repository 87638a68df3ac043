"""Answers to exec.run and exec.batch; a stream of a result is whole or a digest."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from boxspec.subject.observed import Facts, Observed
from contracts.shared.inside import expect_confined
from contracts.shared.runs import RunAnswer


class ObservedRun(RunAnswer, Observed):
    """The answer of one exec.run through one shim process."""


class ObservedBatch(Observed):
    """The answer of one exec.batch; `runs` holds one answer per run, in order."""

    @cached_property
    def runs(self) -> list[RunAnswer]:
        return [RunAnswer(run) for run in self.result["runs"]]


class RunInside(ObservedRun):
    """The answer of one exec.run inside a sandbox."""

    def __init__(self, raw: dict[str, Any] | None, observed: Facts) -> None:
        expect_confined(raw)
        super().__init__(raw, observed)


class BatchInside(ObservedBatch):
    """The answer of one exec.batch with each run inside a sandbox."""

    def __init__(self, raw: dict[str, Any] | None, observed: Facts) -> None:
        expect_confined(raw)
        super().__init__(raw, observed)
