"""Translate a forced order into the events of a model that all contracts share (trace.pml)."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from signal import SIGINT, SIGKILL, SIGTERM, Signals

from boxspec.subject.orders.clock import MS
from boxspec.subject.orders.replay import NotComparable
from boxspec.subject.orders.task import Note
from contracts.shared.order_facts import Facts

MOST_FORKS = 2
Event = tuple[str, int]


class GroupEvents(ABC):
    """Makes the events of the programs, of the signals to their group, and of the group's leader.

    If there is a method `_some_kind`, it translates notes of the kind `some kind`.
    """

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.numbers: dict[str, int] = {}  # the number of each program, by the name of its puppet
        self.ignored: dict[str, set[int]] = {}
        self.closed: dict[str, set[str]] = {}
        self.outside: set[str] = set()
        self.handlers: dict[str, dict[str, str]] = {}
        self.asked = self.killed = self.collected = self.over = False
        # The end of the grace period; None until the first signal was sent.
        self.grace_until: int | None = None

    def all(self) -> Iterator[Event]:
        """Yield the events up to the answer."""
        if self.facts.ran.hung or self.facts.one("answers") is None:
            raise NotComparable("it gave no answer")
        spawned = self.facts.spawned
        for note in self.facts.ran.notes:
            yield from self.passed(note)
            if note is spawned:
                yield "START", 0
            if note.kind == "answers":
                yield self.end()
                return
            make = getattr(self, f"_{note.kind.replace(' ', '_')}", None)
            if make is not None:
                yield from make(note)

    def passed(self, note: Note) -> Iterator[Event]:
        """Yield the limits that have passed at this note."""
        if self.grace_until is not None and not self.over and note.at >= self.grace_until:
            self.over = True
            yield "GRACE_OVER", 0

    @abstractmethod
    def grace_ms(self, note: Note) -> int | None:
        """Return the grace period that begins with this signal, or None."""

    @abstractmethod
    def end(self) -> Event:
        """Return the last event."""

    def reads(self, number: int) -> Iterator[Event]:
        """Yield the event of a program that reads its stdin."""
        yield from ()

    def closes_stdin(self, number: int) -> Iterator[Event]:
        yield from ()

    def _number(self, note: Note) -> int:
        name = note.facts["task"].name
        if name not in self.numbers and self.numbers:
            raise NotComparable("a puppet has no number")
        return self.numbers.setdefault(name, 0)

    def _send(self, note: Note) -> Iterator[Event]:
        signo, leader = note.facts["signal"], self.facts.ran.leader
        # Before the leader is reaped, a signal to a group without a live member has no effect.
        if abs(note.facts["target"]) != leader or not (note.facts["alive"] or self.collected):
            return
        if signo == SIGKILL:
            self.killed = True
            yield "KILL", 0
        elif signo in (SIGINT, SIGTERM):
            self.asked = True
            grace_ms = self.grace_ms(note)
            if grace_ms is not None:
                # An implementation may have read its clock up to a millisecond before the signal.
                until = note.at + max(0, grace_ms - 1) * MS
                self.grace_until = min(until, self.grace_until or until)
            yield "ASK", 0
            for name in note.facts["alive"]:
                if signo in self.ignored.get(name, ()):
                    yield "GO_ON", self.numbers[name]
            yield from self.passed(note)

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
        elif word == "read":
            yield from self.reads(number)
        elif word == "close" and rest == "0":
            yield from self.closes_stdin(number)
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
        if note.facts["pid"] == self.facts.ran.leader:
            self.collected = True
            yield "COLLECT", 0
