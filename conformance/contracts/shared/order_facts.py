"""Observations of a forced order of events, which the laws of several contracts use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from signal import SIGCONT, SIGINT, SIGTERM
from typing import Any

from boxspec.subject.client.b64 import unb64
from boxspec.subject.orders.clock import MS
from boxspec.subject.orders.explore import Ran, Scenario
from boxspec.subject.orders.task import Note

TICK_MS = 100
# SIGINT first, and SIGTERM some steps later. Even if an implementation finds both pending, it sees
# SIGINT first, because the kernel reports the lower number first.
IN_ORDER = (f"parent_signal {int(SIGINT)}", f"parent_signal {int(SIGTERM)}")


def text_of(result: Mapping[str, Any], name: str) -> str:
    """Return an output of a result as a text. The result may contain it as bytes."""
    if name in result:
        return str(result[name])
    return unb64(str(result[f"{name}_b64"])).decode(errors="replace")


@dataclass(frozen=True)
class Cause:
    """An event that may end the run. It has the name that a result gives it."""

    name: str
    step: int
    at: int
    batch: int

    @classmethod
    def of(cls, name: str, note: Note) -> Cause:
        return cls(name, note.step, note.at, note.batch)


class Facts:
    """The facts of one order."""

    def __init__(self, scenario: Scenario, ran: Ran) -> None:
        self.scenario, self.ran = scenario, ran

    def of(self, *kinds: str) -> list[Note]:
        return [note for note in self.ran.notes if note.kind in kinds]

    def one(self, kind: str) -> Note | None:
        return next(iter(self.of(kind)), None)

    @cached_property
    def result(self) -> dict[str, Any] | None:
        return (self.ran.answer or {}).get("result")

    def end_of(self, pid: int) -> Note | None:
        """Return the note of the end of a process. The process may not have been reaped yet."""
        return next((n for n in self.of("died") if n.facts["pid"] == pid), None)

    def sends_to(self, leader: int) -> list[Note]:
        """Return the signals to a group or its leader, without those that cannot end it."""
        return [
            note
            for note in self.of("send")
            if abs(note.facts["target"]) == leader != 0 and note.facts["signal"] not in (0, SIGCONT)
        ]

    @cached_property
    def leader_end(self) -> Note | None:
        return self.end_of(self.ran.leader)

    @cached_property
    def sends(self) -> list[Note]:
        return self.sends_to(self.ran.leader)

    @cached_property
    def first_signal(self) -> Note | None:
        """Return the first signal that asks the group to end."""
        return next((n for n in self.sends if n.facts["signal"] in (SIGINT, SIGTERM)), None)

    def sent(self, signo: int) -> list[Note]:
        """Return the notes of each time this signal was sent, to any target."""
        return [note for note in self.of("send") if note.facts["signal"] == signo]

    def numbers(self, name: str) -> set[int]:
        """Return the process numbers of the puppets of this name."""
        tasks = [note.facts["task"] for note in self.ran.notes if "task" in note.facts]
        return {task.pid for task in tasks if task.name == name}

    def parent_signals(self) -> list[Cause]:
        """Return the signals to the caller for which it had a handler."""
        return [
            Cause.of(f"parent_signal {note.facts['signal']}", note)
            for note in self.of("signal")
            if note.facts["handled"]
        ]

    def deadline(self) -> Note | None:
        """Return the first note after the deadline."""
        ms, spawn = self.scenario.deadline_ms, self.spawned
        if ms is None or spawn is None:
            return None
        # The implementation reads its clock shortly before it starts the child, so the deadline may
        # be up to a millisecond earlier.
        due = spawn.at + (ms - 1) * MS if ms else spawn.at
        return next((note for note in self.ran.notes if note.at >= due), None)

    @cached_property
    def spawned(self) -> Note | None:
        """Return the note of the birth of the process that executed the program, or None."""
        starts = self.one("starts")
        if starts is None:
            return None
        return next(n for n in self.of("born") if n.facts["pid"] == starts.facts["pid"])

    def writes(self, *, by_all: bool = False) -> Iterator[tuple[Note, int, str]]:
        """Yield the texts that members of the group wrote: note, descriptor, text.

        by_all: True to include processes that have left the group.
        """
        handlers: dict[str, str] = {}
        for note in self.of("action", "delivered"):
            task = note.facts["task"]
            if note.kind == "action":
                action = note.facts["action"]
                if action.startswith("on:TERM:"):
                    handlers[task.name] = action[len("on:TERM:") :]
                if action == "setsid":
                    handlers[f"{task.name} left"] = ""
            elif note.facts["signal"] == SIGTERM:
                action = handlers.get(task.name, "")
            else:
                continue
            word, _, text = action.partition(":")
            if word in ("out", "err") and (by_all or f"{task.name} left" not in handlers):
                yield note, 1 if word == "out" else 2, text


def comes_first(facts: Facts, first: Cause, second: Cause) -> bool:
    """True if the implementation must have found `first` before `second`.

    That is certain if it waited again after `first`, and a tick passed. If it found both at once,
    the order of causes in the contract decides.
    """
    if first.batch == second.batch and _rank(first) and _rank(second):
        return _rank(first) < _rank(second)
    if (first.name, second.name) == IN_ORDER and first.batch < second.batch:
        return True
    return second.at - first.at >= TICK_MS * MS and any(
        first.step <= wait.step < second.step for wait in facts.of("waits")
    )


def may_be_first(facts: Facts, cause: Cause, causes: Sequence[Cause]) -> bool:
    """True if an implementation may take this cause for the first of these causes."""
    if facts.sends and cause.step > facts.sends[0].step:
        return False
    return not any(comes_first(facts, other, cause) for other in causes)


def happened(causes: Sequence[Cause]) -> str:
    texts = [f"{each.name} at {each.at // MS} ms" for each in causes]
    return f"happened, in this order: {'; '.join(texts) or 'no cause'}"


def _rank(cause: Cause) -> int:
    """Return the rank of the cause in EXEC-RESULT-08; 0 for other causes."""
    return {"parent_signal": 1, "exit": 2, "timeout": 3}.get(cause.name.partition(" ")[0], 0)
