"""How long a machine kept a run waiting between two stamps, at most."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from boxspec.subject.observe.company import Company
from boxspec.subject.observe.machine import Machine
from boxspec.subject.observe.stamps import Spent, Stamp, Waited, elapsed_ms, observers_waited_ns

# In front of all other programs a target waits for nobody but itself; one that computes for more
# than that share of its life may do so.
OWN_WORK = 0.5


@dataclass(frozen=True)
class Setting:
    """Of a run: the processors as they were when it was started, who takes part beside the first
    thread of the shim, and whether it goes in front of all other programs."""

    machine: Machine
    company: Company
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
    """Milliseconds that the machine was late by at most, and whether all of them were read. child:
    somebody else ends in the stretch: what a child or a member waited, to die, went with it. That
    is so where it goes to the end of the run, unless told otherwise."""
    run = _concerned(runs, since, until)
    if run is None:
        return observers_waited_ns(since, until) / 1e6, True
    to_the_end = run.t_ended_ns is not None and until.t_ns >= run.t_ended_ns
    return _waited(run, since, until, child=to_the_end if child is None else child)


def waited_by_now(run: Run) -> tuple[float, bool]:
    """The same from the start of a shim to this moment, or to its end."""
    now = Stamp(run.t_ended_ns or time.monotonic_ns(), targets={run.shim_pid: run.waited()})
    return _waited(run, Stamp(run.t_started_ns), now)


def _concerned(runs: Sequence[Run], since: Stamp, until: Stamp) -> Run | None:
    """The run that the stretch is about."""
    named = {**since.targets, **until.targets}
    found = [run for run in runs if run.shim_pid in named]
    found = found or [run for run in runs if run.t_started_ns <= until.t_ns]
    return found[-1] if found else None


def _waited(run: Run, since: Stamp, until: Stamp, *, child: bool = False) -> tuple[float, bool]:
    waited, seen = _target(run, since, until)
    seen = seen and (not child or _in_front(run))
    machine, before = Machine.now(), run.setting.machine
    waited += observers_waited_ns(since, until) + machine.stolen_since(before)
    if not seen:
        waited = max(waited, machine.busy_since(before))
    return min(waited / 1e6, max(0.0, elapsed_ms(since, until))), seen


def _target(run: Run, since: Stamp, until: Stamp) -> tuple[int, bool]:
    """Nanoseconds that the threads of a shim waited meanwhile, and whether none was missed."""
    company = run.setting.company
    first = since.targets.get(run.shim_pid, Waited(0, 1))
    last = until.targets.get(run.shim_pid) or run.waited()
    helped = company.beside or (company.before and since.t_ns <= run.t_started_ns)
    # What a thread has waited goes with it; the first one alone is left of a process that ended.
    whole = last.threads >= max(first.threads, company.threads)
    seen = first.known and whole and not helped
    return max(0, last.ns - first.ns), seen or _in_front(run)


def _in_front(run: Run) -> bool:
    """It ran before all other programs, and was not its own obstacle."""
    if not run.setting.realtime or run.spent is None or run.t_ended_ns is None:
        return False
    return run.spent.cpu_ns < OWN_WORK * (run.t_ended_ns - run.t_started_ns)
