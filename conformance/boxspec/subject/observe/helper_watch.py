"""Find the helper processes of a run (see helper_processes.py)."""

from __future__ import annotations

from typing import Protocol

from boxspec.subject.observe import procs
from boxspec.subject.observe.events import Event, Events
from boxspec.subject.observe.helper_processes import HelperProcesses
from boxspec.subject.observe.lines import Limit


class Watched(Protocol):
    """A shim process that can be watched."""

    @property
    def shim_pid(self) -> int: ...

    @property
    def running(self) -> bool: ...


class HelperWatch:
    """Watches one run without a pause, because helper processes may live for only milliseconds."""

    def __init__(self, shim: Watched) -> None:
        self._shim = shim
        self._threads = 1
        # Processes that were seen before the child existed, and processes that were seen later.
        self._before: set[int] = set()
        self._later: set[int] = set()

    def _observe(self, found: set[int]) -> None:
        self._threads = max(self._threads, len(procs.threads(self._shim.shim_pid)))
        found.update(proc.pid for proc in procs.tree(self._shim.shim_pid))

    def until_ready(self, events: Events, limit: Limit) -> Event:
        """Watch until the child writes its first event, and return that event.

        Raise Failure at the time limit.
        """
        while self._shim.running and not events.all("ready") and not limit.over():
            self._observe(self._before)
        self._observe(self._later)
        return events.wait("ready")

    def until_the_end(self, ready: Event, limit: Limit) -> HelperProcesses:
        while self._shim.running and not limit.over():
            self._observe(self._later)
        wrapped = self._shim.shim_pid not in ready.parents
        # The pid of the child does not count as a helper: the child was a copy of the shim until
        # its exec.
        before, later = self._before - {ready.pid}, self._later - {ready.pid}
        return HelperProcesses(self._threads, bool(before), bool(later) or wrapped)
