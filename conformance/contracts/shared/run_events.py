"""Translate a forced order of one run into events of the model of exec (../exec/model.pml)."""

from __future__ import annotations

from collections.abc import Iterator

from boxspec.subject.orders.clock import MS
from boxspec.subject.orders.replay import NotComparable
from boxspec.subject.orders.task import Note
from contracts.shared.model_events import MOST_FORKS, Event, GroupEvents
from contracts.shared.order_facts import Facts

GRACE_MS = 5000
# Bounds of the model. They are higher than the numbers in any order, so they do not limit the
# model.
BOUNDS = {"FORKS": MOST_FORKS, "WRITES": 8, "SIGNALS": 2, "CANCELS": 0, "DELAYS": 4, "PIPE": 8}
CAUSES = ("stdin", "parent_signal", "cap", "exit", "cancel", "timeout", "spawn")


class RunEvents(GroupEvents):
    """Makes the events of a run.

    cause: the cause that the answer names, in the words of CAUSES.
    """

    def __init__(self, facts: Facts, cause: str) -> None:
        super().__init__(facts)
        self.cause = cause
        self.deadline = facts.deadline()
        self.failed = False

    def passed(self, note: Note) -> Iterator[Event]:
        if note is self.deadline and self.facts.scenario.deadline_ms:
            self.deadline = None
            # A long delay may go past the end of the grace period and past the deadline. The grace
            # period may end first.
            if self.grace_until is not None and self.grace_until < self._due():
                yield from super().passed(note)
            yield "DUE", 0
        yield from super().passed(note)

    def _due(self) -> int:
        spawned, ms = self.facts.spawned, self.facts.scenario.deadline_ms
        assert spawned is not None
        assert ms is not None
        return spawned.at + (ms - 1) * MS

    def grace_ms(self, note: Note) -> int:
        return GRACE_MS

    def end(self) -> Event:
        if self.cause not in CAUSES:
            raise NotComparable(f"its cause is {self.cause}")
        return "RETURN", CAUSES.index(self.cause)

    def _born(self, _note: Note) -> Iterator[Event]:
        if self.facts.scenario.fails and not self.failed:
            self.failed = True
            yield "NOT_STARTED", 0

    def _signal(self, note: Note) -> Iterator[Event]:
        if not note.facts["handled"]:
            raise NotComparable("a signal arrives while there is no handler")
        yield "SIGNAL", 0
