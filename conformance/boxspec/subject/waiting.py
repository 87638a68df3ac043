"""Find out how long a run may have waited for a processor between two stamps."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from boxspec.subject.observe.helper_processes import HelperProcesses
from boxspec.subject.observe.machine import Machine
from boxspec.subject.observe.stamps import Spent, Stamp, Waited, elapsed_ms, observers_waited_ns

# With real-time priority a shim is delayed only by its own threads, and only if it computes for
# more than this share of its life time.
OWN_WORK = 0.5


@dataclass(frozen=True)
class Setting:
    """The conditions of a run: the counters of the machine at its start, its helper processes, and
    whether it has real-time priority."""

    machine: Machine
    helpers: HelperProcesses
    realtime: bool


class Run(Protocol):
    """A shim process that runs or has run."""

    setting: Setting

    @property
    def shim_pid(self) -> int: ...

    @property
    def t_started_ns(self) -> int: ...

    @property
    def t_ended_ns(self) -> int | None: ...

    @property
    def spent(self) -> Spent | None: ...

    def waited(self) -> Waited: ...


def waited_between(
    runs: Sequence[Run], since: Stamp, until: Stamp, *, child: bool | None = None
) -> tuple[float, bool]:
    """Return the longest possible scheduling delay in milliseconds, and True if it was measured.

    child: True if a child or another process ends between the stamps: its waiting time is then
        lost. By default True if `until` is the end of the run.
    """
    run = _concerned(runs, since, until)
    if run is None:
        return observers_waited_ns(since, until) / 1e6, True
    to_the_end = run.t_ended_ns is not None and until.t_ns >= run.t_ended_ns
    return _waited(run, since, until, child=to_the_end if child is None else child)


def waited_by_now(run: Run) -> tuple[float, bool]:
    """Return the longest possible scheduling delay of a shim until now or until its end.

    The second value is True if the delay was measured.
    """
    now = Stamp(run.t_ended_ns or time.monotonic_ns(), targets={run.shim_pid: run.waited()})
    return _waited(run, Stamp(run.t_started_ns), now)


def measured_wait_ms(runs: Sequence[Run]) -> float:
    """Return how long one of these shims has certainly waited for a processor, the longest time.

    The counters of ended threads are lost, so the true time may be longer.
    """
    return max((run.waited().ns / 1e6 for run in runs), default=0.0)


def _concerned(runs: Sequence[Run], since: Stamp, until: Stamp) -> Run | None:
    """Return the run to which the two stamps belong, or None."""
    named = {**since.targets, **until.targets}
    found = [run for run in runs if run.shim_pid in named]
    found = found or [run for run in runs if run.t_started_ns <= until.t_ns]
    return found[-1] if found else None


def _waited(run: Run, since: Stamp, until: Stamp, *, child: bool = False) -> tuple[float, bool]:
    waited, seen = _target(run, since, until)
    seen = seen and (not child or _in_front(run))
    machine, before = Machine.now(), run.setting.machine
    waited += observers_waited_ns(since, until)
    waited += machine.stolen_since(before) + machine.stalled_since(before)
    if not seen:
        waited = max(waited, machine.busy_since(before))
    return min(waited / 1e6, max(0.0, elapsed_ms(since, until))), seen


def _target(run: Run, since: Stamp, until: Stamp) -> tuple[int, bool]:
    """Return how long the threads of a shim waited, in ns, and True if all of them were
    measured."""
    helpers = run.setting.helpers
    first = since.targets.get(run.shim_pid, Waited(0, 1))
    last = until.targets.get(run.shim_pid) or run.waited()
    helped = helpers.later or (helpers.before and since.t_ns <= run.t_started_ns)
    # The kernel forgets the counter of a thread when the thread ends. After the end of a process
    # only the counter of its first thread can be read.
    whole = last.threads >= max(first.threads, helpers.threads)
    seen = first.known and whole and not helped
    return max(0, last.ns - first.ns), seen or _in_front(run)


def _in_front(run: Run) -> bool:
    """True if the run had real-time priority and its own threads did not delay it."""
    if not run.setting.realtime or run.spent is None or run.t_ended_ns is None:
        return False
    return run.spent.cpu_ns < OWN_WORK * (run.t_ended_ns - run.t_started_ns)
