"""The fifo on which fixture programs log what happened to them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from boxspec.judge.verdict import Failure
from boxspec.target.observe.lines import Deadline, LineReader

# How often a wait asks whether anybody is left who could still write.
LOOK_S = 0.25


@dataclass(frozen=True)
class Event:
    word: str
    pid: int
    t_ns: int
    rest: list[str]

    def __str__(self) -> str:
        return " ".join([self.word, str(self.pid), str(self.t_ns), *self.rest])


class Events:
    """`wait` gives each event once, in order; `all` gives every one that has arrived."""

    def __init__(
        self, path: Path, somebody_lives: Callable[[], bool], was_starved: Callable[[], bool]
    ) -> None:
        os.mkfifo(path)
        path.chmod(0o666)
        self.path = str(path)
        self._somebody_lives = somebody_lives
        self._was_starved = was_starved
        # Read and write: without a writer of our own the fifo would end with its first writer.
        self._fd = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._reader = LineReader(self._fd)
        self._seen: list[Event] = []
        self._given: set[int] = set()

    def fileno(self) -> int:
        return self._fd

    def _take(self, timeout_s: float = 0.0) -> bool:
        lines = self._reader.wait(timeout_s) if self._fd >= 0 else []
        for line in lines:
            words = line.decode("utf-8", "replace").split(" ")
            if len(words) >= 3 and words[1].isdigit() and words[2].isdigit():
                self._seen.append(Event(words[0], int(words[1]), int(words[2]), words[3:]))
            else:
                self._seen.append(Event("?", 0, 0, words))
        return bool(lines)

    def _next(self, word: str, pid: int | None) -> Event | None:
        for index, event in enumerate(self._seen):
            if index not in self._given and event.word == word and pid in (None, event.pid):
                self._given.add(index)
                return event
        return None

    def wait(self, word: str, timeout_s: float = 10, pid: int | None = None) -> Event:
        """The next event with this word; Failure when none comes."""
        limit = Deadline(timeout_s)
        last_look = False
        while True:
            found = self._next(word, pid)
            if found is not None:
                return found
            if self._take(0 if last_look else min(limit.left(), LOOK_S)):
                continue
            if last_look or limit.over():
                why = "everybody had ended" if last_look else f"none within {timeout_s} s"
                raise Failure(
                    f"the run reaches the event {word!r}",
                    f"an event {word!r} of a program of the case",
                    why,
                    {"events": [str(event) for event in self._seen]},
                    late=not last_look and self._was_starved(),
                )
            last_look = not self._somebody_lives()

    def all(self, word: str | None = None, pid: int | None = None) -> list[Event]:
        """Every event that has arrived so far (with this word, of this process)."""
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
