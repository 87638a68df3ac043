"""Read the events that fixture programs write to a fifo."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from boxspec.subject.observe import procs
from boxspec.subject.observe.lines import Limit, LineReader
from boxspec.subject.observe.stamps import UNKNOWN, Stamp, Waited

# No case logs nearly as many events. Later events are ignored.
MOST_EVENTS = 200_000
# The interval at which a wait checks whether a process is left that could write an event.
LOOK_S = 0.25


class Patience(Limit, Protocol):
    """A time limit that can return an exception once it is over."""

    def gave_up(
        self, what: str, expected: str, got: str, evidence: dict[str, Any], symptom: str = ""
    ) -> Exception: ...

    def all_ended(self, what: str, expected: str, evidence: dict[str, Any]) -> Exception: ...


@dataclass(frozen=True)
class Event:
    """One logged event.

    rest: the words after the time stamp.
    waited: how long its writer had waited for a processor in total.
    late_ns: the part of `waited` since the writer's previous event.
    parents: how long each parent of the writer had waited, by pid.
    """

    word: str
    pid: int
    t_ns: int
    rest: list[str]
    waited: Waited = UNKNOWN
    late_ns: int = 0
    parents: Mapping[int, Waited] = field(default_factory=dict)

    def __str__(self) -> str:
        return " ".join([self.word, str(self.pid), str(self.t_ns), *self.rest])

    @property
    def effect(self) -> Stamp:
        """Return the stamp of something that happened to the writer before this event.

        The writer may have waited for a processor in between.
        """
        return Stamp(self.t_ns, self.late_ns, self.pid, self.waited, self.parents)

    @property
    def cause(self) -> Stamp:
        """Return the stamp of the next action of the writer after this event, for example its
        exit."""
        return self.effect.exact()


def _parsed(line: bytes, before: Mapping[int, int]) -> Event:
    words = line.decode("utf-8", "replace").split(" ")
    waited, parents = UNKNOWN, {}
    if words[-1].startswith("waited="):
        numbers = words.pop().removeprefix("waited=").split(":")
        if len(numbers) == 5 and all(number.isdigit() for number in numbers):
            ns, threads, parent, parents_ns, parents_threads = map(int, numbers)
            waited, parents = Waited(ns, threads), {parent: Waited(parents_ns, parents_threads)}
    if len(words) < 3 or not (words[1].isdigit() and words[2].isdigit()):
        return Event("?", 0, 0, words)
    pid = int(words[1])
    late = max(0, waited.ns - before.get(pid, 0))
    return Event(words[0], pid, int(words[2]), words[3:], waited, late, parents)


class Events:
    """The events of a fifo.

    `wait` returns each event once, in order; `all` returns all that have arrived.
    """

    def __init__(
        self,
        path: Path,
        any_process_alive: Callable[[], bool],
        patience: Callable[[float], Patience],
        started: Callable[[float], None],
        outside: Callable[[int], int] | None = None,
    ) -> None:
        os.mkfifo(path)
        path.chmod(0o666)
        self.path = str(path)
        self._any_process_alive = any_process_alive
        self._patience = patience
        self._started = started
        # Translates the pid of a writer from its pid namespace to the pid outside.
        self._outside = outside
        self._numbers: dict[int, int] = {}
        # The fifo is opened for writing too. Otherwise it would end when its first writer closes
        # it.
        self._fd = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._reader = LineReader(self._fd)
        self._seen: list[Event] = []
        self._given: set[int] = set()
        # How long each writer had waited for a processor at its last event.
        self._waited: dict[int, int] = {}

    def fileno(self) -> int:
        return self._fd

    def _take(self, timeout_s: float = 0.0) -> bool:
        hears = self._fd >= 0 and len(self._seen) < MOST_EVENTS
        lines = self._reader.wait(timeout_s) if hears else []
        for line in lines:
            event = _parsed(line, self._waited)
            self._waited[event.pid] = event.waited.ns
            self._seen.append(self._from_outside(event))
        if lines:
            self._started(self._seen[-len(lines)].t_ns / 1e9)
        return bool(lines)

    def _from_outside(self, event: Event) -> Event:
        if self._outside is None or event.pid <= 0:
            return event
        known = self._numbers.get(event.pid, procs.NOBODY)
        if not procs.exists(known):
            # The pid may be reused: another run of the case may have the same pids in its own pid
            # namespace.
            found = self._outside(event.pid)
            gone = found > procs.NOBODY
            self._numbers[event.pid] = known if gone and known != procs.NOBODY else found
        return replace(event, pid=self._numbers[event.pid])

    def _next(self, word: str, pid: int | None) -> Event | None:
        for index, event in enumerate(self._seen):
            if index not in self._given and event.word == word and pid in (None, event.pid):
                self._given.add(index)
                return event
        return None

    def wait(self, word: str, timeout_s: float = 10, pid: int | None = None) -> Event:
        """Return the next event with this word.

        The time limit is counted from the start of a child. If the limit is over, its exception is
        raised.
        """
        limit = self._patience(timeout_s)
        last_look = False
        while True:
            found = self._next(word, pid)
            if found is not None:
                return found
            if self._take(0 if last_look else min(limit.left(), LOOK_S)):
                continue
            what, expected = f"the run reaches the event {word!r}", f"an event {word!r}"
            evidence = {"events": [str(event) for event in self._seen]}
            if last_look:
                raise limit.all_ended(what, expected, evidence)
            if limit.over() and (found := self._next(word, pid)) is None:
                raise limit.gave_up(what, expected, "none", evidence)
            if found is not None:
                return found
            last_look = not self._any_process_alive()

    def all(self, word: str | None = None, pid: int | None = None) -> list[Event]:
        """Return all events so far, or only the events with this word and of this process."""
        while self._take():
            pass
        return [
            event for event in self._seen if word in (None, event.word) and pid in (None, event.pid)
        ]

    def close(self) -> None:
        if self._fd >= 0:
            self.all()
            os.close(self._fd)
            self._fd = -1
