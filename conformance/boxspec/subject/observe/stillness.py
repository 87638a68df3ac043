"""Since when nobody of a run has done anything, and could not have.

A machine that is busy keeps those waiting who are ready to run. Where everybody sleeps and no
counter goes on, nobody was kept from anything: what does not come then is not the machine's doing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from boxspec.subject.observe import procs
from boxspec.subject.observe.procs import Proc

# So often is looked: counters tell what happened in between.
EVERY_S = 1.0
# A thread in another state is about to go on, by itself or by the kernel: it runs, stands in line,
# waits for a disk, is taken down. Zombies have been taken down.
SLEEPS = frozenset((b"S", b"I", b"T", b"t", b"Z"))

# What each thread has done.
Done = dict[tuple[int, str], bytes]


class Stillness:
    """Of these processes, looked at from now and then on."""

    def __init__(self, members: Callable[[], Iterable[Proc]]) -> None:
        self._members = members
        self._looked = self._since = time.monotonic()
        self._done: Done | None = None

    def glance(self) -> None:
        """Look, if it is time again."""
        if time.monotonic() - self._looked >= EVERY_S:
            self._look()

    def _look(self) -> None:
        now = self._looked = time.monotonic()
        done = _done(self._members())
        if done is None or done != self._done:
            self._since = now
        self._done = done

    def seconds(self) -> float:
        """How long everybody has slept by now."""
        self._look()
        return self._looked - self._since


def _done(members: Iterable[Proc]) -> Done | None:
    """None where somebody goes on, where nobody is left, or where the kernel does not count."""
    found: Done = {}
    for member in members:
        for thread in procs.threads(member.pid):
            # First what it has done: who is woken meanwhile shows in its state.
            counted = procs.read(f"/proc/{member.pid}/task/{thread}/schedstat")
            if not counted or procs.thread_state(member.pid, thread) not in SLEEPS:
                return None
            found[member.pid, thread] = counted
    return found or None
