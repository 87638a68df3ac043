"""Translate a forced order of a run into events of the model (model.pml, ../shared/trace.pml)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from signal import SIGINT, SIGKILL, SIGTERM, Signals

from boxspec.subject.orders.clock import MS
from boxspec.subject.orders.explore import Ran, Scenario
from boxspec.subject.orders.replay import NotComparable, Replay
from boxspec.subject.orders.task import Note
from contracts.exec.order_facts import PIPE_BYTES, Judged

GRACE_MS = 5000
MOST_FORKS = 2
# These are higher than the numbers in any order, so the model is not limited by them.
BOUNDS = {"FORKS": MOST_FORKS, "WRITES": 8, "SIGNALS": 2, "CANCELS": 0, "DELAYS": 4, "PIPE": 8}
CAUSES = ("stdin", "parent_signal", "cap", "exit", "cancel", "timeout", "spawn")
Event = tuple[str, int]


def replay_of(scenario: Scenario, ran: Ran) -> Replay:
    """Return the events of this order, and the bounds of the model that replays them."""
    if "batch" in scenario.request:
        raise NotComparable("it has several runs")
    return Replay({**BOUNDS, **_bounds(scenario)}, list(_Events(Judged(scenario, ran)).all()))


def _bounds(scenario: Scenario) -> Mapping[str, object]:
    request = scenario.request
    payload = request.get("stdin")
    size = len(payload["bytes"]) if payload else 0
    return {
        # The length of a limit does not matter, only the order of its end.
        "LIMIT": "NEVER" if scenario.deadline_ms is None else min(scenario.deadline_ms, 1),
        "PAYLOAD": BOUNDS["PIPE"] + 1 if size > PIPE_BYTES else min(size, 1),
        "CAP": _cap(scenario.script, request.get("max_output_bytes")),
    }


def _cap(script: Sequence[str], most: int | None) -> int:
    """Return how many writes fit into the cap. The model counts a write as one byte."""
    sizes = [len(word.rpartition("out:")[2]) for word in script if "out:" in word]
    if most is None:
        return BOUNDS["WRITES"]
    return sum(sum(sizes[: count + 1]) <= most for count in range(len(sizes)))


class _Events:
    """Makes the events from the notes of the driver."""

    def __init__(self, judged: Judged) -> None:
        self.judged = judged
        self.numbers: dict[str, int] = {}  # of the programs, by the names of the puppets
        self.ignored: dict[str, set[int]] = {}
        self.closed: dict[str, set[str]] = {}
        self.outside: set[str] = set()
        self.handlers: dict[str, dict[str, str]] = {}
        self.asked = self.killed = self.over = self.failed = False
        self.asked_at = 0
        payload = judged.scenario.request.get("stdin")
        # A payload that fits into the pipe is written at once; the model drops it then.
        self.is_long = payload is not None and len(payload["bytes"]) > PIPE_BYTES

    def all(self) -> Iterator[Event]:
        judged, spawned = self.judged, self.judged.spawned
        if judged.ran.hung or judged.one("answers") is None:
            raise NotComparable("it gave no answer")
        deadline = judged.deadline()
        for note in judged.ran.notes:
            if note is deadline and judged.scenario.deadline_ms:
                yield "DUE", 0
            if self.asked and not self.over and note.at - self.asked_at >= (GRACE_MS - 1) * MS:
                self.over = True
                yield "GRACE_OVER", 0
            if note is spawned:
                yield "START", 0
            if note.kind == "answers":
                yield self._end()
                return
            make = getattr(self, f"_{note.kind.replace(' ', '_')}", None)
            if make is not None:
                yield from make(note)

    def _end(self) -> Event:
        reported = (self.judged.reported or "").partition(" ")[0]
        if reported not in CAUSES:
            raise NotComparable(f"its cause is {reported}")
        return "RETURN", CAUSES.index(reported)

    def _number(self, note: Note) -> int:
        name = note.facts["task"].name
        if name not in self.numbers and self.numbers:
            raise NotComparable("a puppet has no number")
        return self.numbers.setdefault(name, 0)

    def _born(self, _note: Note) -> Iterator[Event]:
        if self.judged.scenario.fails and not self.failed:
            self.failed = True
            yield "NOT_STARTED", 0

    def _signal(self, note: Note) -> Iterator[Event]:
        if not note.facts["handled"]:
            raise NotComparable("a signal arrives while there is no handler")
        yield "SIGNAL", 0

    def _send(self, note: Note) -> Iterator[Event]:
        signo, leader = note.facts["signal"], self.judged.ran.leader
        if abs(note.facts["target"]) != leader:
            return
        if signo == SIGKILL and not self.killed:
            self.killed = True
            yield "KILL", 0
        elif signo in (SIGINT, SIGTERM):
            self.asked, self.asked_at = True, note.at
            yield "ASK", 0
            for name in note.facts["alive"]:
                if signo in self.ignored.get(name, ()):
                    yield "GO_ON", self.numbers[name]

    def _delivered(self, note: Note) -> Iterator[Event]:
        name, signo = note.facts["task"].name, note.facts["signal"]
        handler = self.handlers.get(name, {}).get(Signals(signo).name[3:])
        if handler is None:
            return
        yield "GO_ON", self._number(note)
        yield from self._act(note, handler)

    def _action(self, note: Note) -> Iterator[Event]:
        yield from self._act(note, note.facts["action"])

    def _act(self, note: Note, action: str) -> Iterator[Event]:
        number = self._number(note)
        name = note.facts["task"].name
        word, _, rest = action.partition(":")
        if word == "ignore":
            self.ignored.setdefault(name, set()).add(Signals[f"SIG{rest}"])
        elif word == "on":
            signal, _, handler = rest.partition(":")
            self.handlers.setdefault(name, {})[signal] = handler
        elif word == "fork":
            yield from self._fork(name, rest)
        elif word == "setsid":
            self.outside.add(name)
            yield "LEAVE", number
        elif word in ("out", "err") and name not in self.outside:
            yield word.upper(), number
        elif word == "read" and self.is_long:
            raise NotComparable("a program reads a long payload")
        elif word == "close" and rest == "0":
            yield "CLOSE_IN", number
        elif word == "close":
            closed = self.closed.setdefault(name, set())
            closed.add(rest)
            if closed == {"1", "2"}:
                yield "CLOSE", number

    def _fork(self, parent: str, child: str) -> Iterator[Event]:
        if len(self.numbers) > MOST_FORKS:
            raise NotComparable(f"it forks more than {MOST_FORKS} times")
        self.numbers[child] = len(self.numbers)
        self.ignored[child] = set(self.ignored.get(parent, ()))
        self.handlers[child] = dict(self.handlers.get(parent, {}))
        self.closed[child] = set(self.closed.get(parent, ()))
        if parent in self.outside:
            self.outside.add(child)
        yield "FORK", self.numbers[parent]

    def _died(self, note: Note) -> Iterator[Event]:
        task, status = note.facts["task"], note.facts["status"]
        if task.kind != "puppet":
            return
        number = self._number(note)
        signo = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        if signo == SIGKILL and self.killed:
            yield "KILLED", number
        elif signo in (SIGINT, SIGTERM) and self.asked:
            yield "END", number
        else:
            yield "EXIT", number

    def _collects(self, note: Note) -> Iterator[Event]:
        if note.facts["pid"] == self.judged.ran.leader:
            yield "COLLECT", 0
