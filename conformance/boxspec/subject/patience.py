"""Decide how long the kit waits for an event, and whether the shim or the machine is to blame if it
does not come.

Until the child has started, the limit allows for a slow shim, for example an interpreter or a shell
with many helper processes; its unit is the time that `true` took in the smoke test. After the start
of the child the limit of the case counts. If the event is then missing and the machine was not
busy, the shim hangs.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Protocol

from boxspec.judge.timing import Timing
from boxspec.judge.verdict import Failure, Late
from boxspec.subject import waiting
from boxspec.subject.attempt import Attempt
from boxspec.subject.hangs import Hangs
from boxspec.subject.observe.events import LOOK_S
from boxspec.subject.observe.procs import Proc
from boxspec.subject.observe.stillness import Stillness

# Time that a shim has to start a child: SLOW_S, or SLOW_RUNS times the duration of a run of `true`
# if that is longer.
SLOW_S, SLOW_RUNS = 20.0, 10
# After three hangs of a topic, a further test of this topic gets its expected duration plus this
# time.
HURRY_S = 5.0
# If a run waited for a processor for at least this share of the time, the machine was too busy.
ON_TIME = 0.5
# If all processes slept for at least this share of the time, the machine is not to blame. A correct
# implementation sleeps less, for example in a grace period.
STILL = 0.75


def slow_s(startup_ms: float) -> float:
    """Return the seconds that a shim may take to start its child."""
    return max(SLOW_S, SLOW_RUNS * startup_ms / 1000)


class Run(waiting.Run, Protocol):
    """A run from which an event is expected.

    child_since: when its child was first seen.
    childless: True if the request starts a child that has not been seen yet.
    """

    child_since: float | None
    deadline_ms: float | None

    @property
    def childless(self) -> bool: ...

    def look_for_child(self) -> None: ...

    def kept_waiting_ns(self) -> int: ...

    def descendants(self) -> Sequence[Proc]: ...


class Stage(Protocol):
    """A case, as far as waiting needs it: the topic of its test, the expected duration, and the
    attempt."""

    topic: str
    needs_s: float
    attempt: Attempt

    @property
    def shim_processes(self) -> Sequence[Run]: ...

    @property
    def startup_ms(self) -> float: ...

    @property
    def hangs(self) -> Hangs: ...

    def note(self, timing: Timing) -> Timing: ...


# A test acts and looks more often than this. After a longer gap the kit itself was stopped, and the
# shim may have waited for it.
STALL_S = 5.0


class Patience:
    """The limit for one event of a run: of the given run, or of the last run of the case.

    `left` returns how long to wait until the limit must be checked again.
    """

    def __init__(self, case: Stage, seconds: float, run: Run | None = None) -> None:
        self._case = case
        self._named = run
        self.seconds = seconds
        if case.hangs.many(case.topic):
            self.seconds = min(seconds, case.needs_s + HURRY_S)
        self._began = self._looked = time.monotonic()
        self._stalled_s = 0.0
        self._stillness = Stillness(self._all_processes)

    def _all_processes(self) -> Iterator[Proc]:
        return chain.from_iterable(run.descendants() for run in self._case.shim_processes)

    @property
    def _run(self) -> Run | None:
        return self._named or (self._case.shim_processes[-1] if self._case.shim_processes else None)

    def _end(self) -> float:
        run = self._run
        if run is None or not run.childless:
            end = max(self._began, (run and run.child_since) or 0.0) + self.seconds
        else:
            launched = run.t_started_ns / 1e9
            end = max(launched + slow_s(self._case.startup_ms), self._began + self.seconds)
        return end + self._stalled_s

    def left(self) -> float:
        return max(0.0, min(LOOK_S, self._end() - time.monotonic()))

    def over(self) -> bool:
        if self._run is not None:
            self._run.look_for_child()
        self._stillness.glance()
        now = time.monotonic()
        if now - self._looked > STALL_S:
            self._stalled_s += now - self._looked
        self._looked = now
        return self._end() <= now

    def gave_up(
        self, what: str, expected: str, got: str, evidence: dict[str, Any], symptom: str = ""
    ) -> Failure | Late:
        """Return the exception for a limit that is over: a Failure if the machine was not too busy,
        else Late."""
        run = self._run
        since_s, waited_ms, seen = self._began, 0.0, True
        limit_s, since = self.seconds, ""
        if run is not None:
            since_s = run.t_started_ns / 1e9
            waited_ms, seen = waiting.waited_by_now(run)
            # The event may depend on a program of the case, which may have waited for a processor
            # too.
            waited_ms = max(waited_ms, run.kept_waiting_ns() / 1e6)
            since = " of its start" if run.child_since is None else " of its child's start"
            if run.childless:
                limit_s = max(self.seconds, slow_s(self._case.startup_ms))
                since = " of its start, and no child had been started"
        took_ms = 1000 * (time.monotonic() - since_s)
        timing = self._case.note(Timing(what, 1000 * limit_s, 0.0, took_ms, waited_ms, seen))
        still_s = self._stillness.seconds()
        why = Late(
            what,
            expected,
            f"{got} within {limit_s:g} s{since}",
            {**evidence, "all processes slept for": f"{still_s:.0f} s", "timing": timing.to_json()},
            hang=True,
            symptom=symptom,
        )
        slept = still_s >= max(STILL * limit_s, self._case.needs_s + HURRY_S / 2)
        if waited_ms >= ON_TIME * took_ms and not slept:
            return why
        self._case.hangs.note(self._case.topic)
        return why.failure()

    def all_ended(self, what: str, expected: str, evidence: dict[str, Any]) -> Failure | Late:
        """Return the exception if all processes have ended without the event.

        On a busy machine the reason may be the deadline of a program, which passed before the
        program caused the event.
        """
        got = "all processes had ended"
        met = any(_met_deadline(run) for run in self._case.shim_processes)
        if met and not self._case.attempt.realtime:
            return Late(what, expected, f"{got}, by a deadline", evidence)
        return Failure(what, expected, got, evidence, timed=met)


def _met_deadline(run: Run) -> bool:
    """True if the run lasted at least as long as the deadline of its program."""
    if run.deadline_ms is None:
        return False
    until_ns = run.t_ended_ns or time.monotonic_ns()
    return until_ns - run.t_started_ns >= run.deadline_ms * 1e6
