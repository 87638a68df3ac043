"""Find out how long all processes of a run have been asleep.

A busy machine delays only processes that are ready to run. If all processes sleep and no counter
changes, the machine is not the reason why an event is missing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from boxspec.subject.observe import procs
from boxspec.subject.observe.procs import Proc

# Interval of the checks. Activity between two checks is visible in the counters.
EVERY_S = 1.0
# States of a thread that sleeps, or of a zombie, which has ended. In any other state a thread runs,
# waits for a processor or a disk, or is ending.
SLEEPS = frozenset((b"S", b"I", b"T", b"t", b"Z"))

# The counters of each thread, by process and thread.
Done = dict[tuple[int, str], bytes]


class Stillness:
    """Checks at intervals whether these processes sleep."""

    def __init__(self, members: Callable[[], Iterable[Proc]]) -> None:
        self._members = members
        self._looked = self._since = time.monotonic()
        self._done: Done | None = None

    def glance(self) -> None:
        """Check the processes if the interval has passed."""
        if time.monotonic() - self._looked >= EVERY_S:
            self._look()

    def _look(self) -> None:
        now = self._looked = time.monotonic()
        done = _done(self._members())
        if done is None or done != self._done:
            self._since = now
        self._done = done

    def seconds(self) -> float:
        """Return for how many seconds all processes have slept."""
        self._look()
        return self._looked - self._since


def _done(members: Iterable[Proc]) -> Done | None:
    """Return the counters of all threads.

    Return None if a thread is awake, no process is left, or the kernel does not count.
    """
    found: Done = {}
    for member in members:
        for thread in procs.threads(member.pid):
            # The counters are read before the state: the state shows if a thread wakes up in
            # between.
            counted = procs.read(f"/proc/{member.pid}/task/{thread}/schedstat")
            if not counted or procs.thread_state(member.pid, thread) not in SLEEPS:
                return None
            found[member.pid, thread] = counted
    return found or None
