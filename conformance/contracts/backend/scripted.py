"""Run sessions of a scripted backend, which succeeds or fails as the request says.

The test observes which programs ran, how many of them ran through the wrapper, and when the
backend's directory `place` was created and removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from boxspec.api import written
from boxspec.programs import programs
from boxspec.subject.observe.inotify import Inotify
from contracts.backend.answers import ObservedSession
from contracts.backend.client import BackendCase
from contracts.backend.ground import Ground, made_ground
from contracts.shared.requests import ExecRequest

CREATE, DELETE, ISDIR = 0x100, 0x200, 0x40000000
# A wrapper that leaves a mark in a file and then executes the program.
WRAPPER = ("/bin/sh", "-c", 'echo wrapped >> "$0"; exec "$@"')


class Seen:
    """One session: its answer, and how often each kind of event happened outside."""

    def __init__(self, session: ObservedSession, ground: Ground, events: Sequence[int]) -> None:
        self.session = session
        self.runs = len(_text(ground, "ran"))
        self.wrapped = _text(ground, "wrapped").count("wrapped\n")
        self.made, self.removed = events.count(CREATE), events.count(DELETE)
        self.place_is_there = (ground.out / "place").exists()

    @property
    def opened(self) -> bool:
        return self.session.opened


def _text(ground: Ground, name: str) -> str:
    path = ground.out / name
    return written(path).decode(errors="replace") if path.exists() else ""


def scripted(
    case: BackendCase,
    on_unavailable: str | None,
    *,
    calls: int = 1,
    program: str | None = None,
    request: ExecRequest | None = None,
    within_s: float = 30.0,
    **script: Any,
) -> Seen:
    """Run a session of a backend that follows `script`.

    Each call appends one byte to a file, unless `request` names another program.
    """
    with made_ground() as ground:
        inotify = Inotify()
        try:
            inotify.watch(str(ground.out), CREATE | DELETE)
            call: ExecRequest = {
                "program": program or programs.count_start,
                "args": [str(ground.out / "ran")],
                "env": {"clear_and_set": [["PATH", "/usr/bin:/bin"]]},
            }
            call |= request or {}
            session = case.backend.run(
                [call] * calls,
                script={
                    "place": str(ground.out / "place"),
                    "prefix": [*WRAPPER, str(ground.out / "wrapped")],
                    **script,
                },
                on_unavailable=on_unavailable,
                root=ground.ws,
                profile="repo-write",
                within_s=within_s,
            )
            seen = [mask for _, mask, name in inotify.read() if name == "place" and mask & ISDIR]
            events = [mask & ~ISDIR for mask in seen]
            return Seen(session, ground, events)
        finally:
            inotify.close()
