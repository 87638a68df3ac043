"""Make the record of a test from the result of its body, and report it to pytest."""

from __future__ import annotations

import math
import queue
import threading
import time
from dataclasses import fields
from typing import Literal

import pytest
from pytest import TestReport

from boxspec.judge.failure_block import failure_block
from boxspec.judge.record import Record
from boxspec.judge.repro import RunFlags
from boxspec.judge.requires import Requires
from boxspec.judge.verdict import BROKEN, Late, Verdict
from boxspec.schedule.body import record_exception
from boxspec.schedule.protocol import run_one
from boxspec.schedule.retry_pool import AT_ONCE
from boxspec.schedule.selection import requires_of
from boxspec.schedule.session_info import PROPERTY
from boxspec.schedule.stash import RECORD
from boxspec.schedule.state import State
from boxspec.schedule.worker import ClosedCase, WorkerFailure
from boxspec.subject.case import Case

# The main thread checks in this interval whether it should stop.
STOP_S = 1.0
# The estimated duration of a short test on an idle machine.
SHORT_S = 1.0
# A repeat is expected to take as long as one attempt on an idle machine; TIMES as long, if more
# than this share of the tests fails. Such a repeat may need several attempts: in three runs of a Go
# shim repeats took 2.1 to 5.6 times as long, in two runs of a bash shim 2.0 and 2.5 times, in one
# run of the reference 0.7 times.
FAILING, TIMES = 0.1, 2.4
# Repeats that have ended correct the expectation. It has the weight of repeats that should take
# this many seconds.
EXPECTED_S = 5.0


class Recorder:
    """Records the bodies that have ended in other threads, while the session runs.

    late: tests that must be repeated, with the duration of their first attempt in seconds.
    """

    def __init__(self, session: pytest.Session, state: State) -> None:
        self._state = state
        self._items = {item.nodeid: item for item in session.items}
        self._lock = threading.Lock()
        self.late: dict[str, float] = {}
        self._hung: set[str] = set()
        # The test that is being repeated, and when that began by the monotonic clock.
        self._repeated = ("", 0.0)
        # How long the ended repeats took, and one attempt of each on an idle machine.
        self._took_s = self._once_s = 0.0
        self._recorded = self._broken = 0

    def record_ended(self, timeout_s: float = 0.0, most_s: float = math.inf) -> None:
        """Record all bodies that have ended. Wait at most `timeout_s` for the first one.

        After `most_s`, leave the others to the next call: on a busy machine, bodies may end as fast
        as they are recorded.

        Callable from any thread: after a signal another thread may have to write the results.
        """
        until = time.monotonic() + most_s
        try:
            name = self._state.ended.get(timeout=timeout_s) if timeout_s else self._next()
            while True:
                with self._lock:
                    try:
                        self._record(self._items[name])
                    except KeyboardInterrupt:
                        self._state.ended.put(name)
                        raise
                if time.monotonic() > until:
                    return
                name = self._next()
        except queue.Empty:
            return

    def repeats_s(self) -> float:
        """Return how many seconds the repeats of the late tests take; callable from any thread.

        Tests that hung are repeated in parallel, the others one after the other. The first attempts
        of the others took long because the machine was busy, so their usual duration counts.
        """
        late = self.late.copy()
        hung = [seconds for name, seconds in late.items() if name in self._hung]
        first = TIMES if self._broken > FAILING * self._recorded else 1.0
        times = (first * EXPECTED_S + self._took_s) / (EXPECTED_S + self._once_s)
        others = {
            name: times * min(seconds, self._usual_s(name))
            for name, seconds in late.items()
            if name not in self._hung
        }
        every = max([*hung, sum(hung) / AT_ONCE], default=0.0) + sum(others.values())
        name, began = self._repeated
        return every - min(time.monotonic() - began, others.get(name, late.get(name, 0.0)))

    def _usual_s(self, name: str) -> float:
        """Return the duration of this test on an idle machine, in seconds."""
        marked = requires_of(self._items[name])
        return marked.seconds if marked is not None and marked.overlap else SHORT_S

    def repeat_late(self, session: pytest.Session, item: pytest.Item) -> None:
        """Repeat a late test, which then gets its verdict."""
        self._repeated = item.nodeid, time.monotonic()
        run_one(session, item)
        if item.nodeid not in self._hung:
            self._took_s += time.monotonic() - self._repeated[1]
            self._once_s += min(self.late[item.nodeid], self._usual_s(item.nodeid))
        del self.late[item.nodeid]

    def _next(self) -> str:
        return self._state.ended.get_nowait()

    def _record(self, item: pytest.Item) -> None:
        """Make the record of one ended body, and report it to pytest.

        pytest's own protocol takes a hundred times as long, and thousands of bodies end.
        """
        future, marked = self._state.body_of(item.nodeid), requires_of(item)
        assert future is not None
        assert marked is not None
        if RECORD in item.stash:
            return
        case, why = self._state.cases.get(item.nodeid), future.exception()
        seconds = case.seconds or 0.0 if case else 0.0
        if isinstance(why, Late):
            self.late[item.nodeid] = seconds
            if why.hang:
                self._hung.add(item.nodeid)
            return
        record = new_record(item, marked)
        # There is no case if the worker process has died.
        note_cases(record, [case] if case else [], conforms=why is None)
        record.seconds = round(seconds, 4)
        call = _report(item, "call", seconds)
        if why is not None:
            apply_verdict(item, why, record, call, case)
        if case is not None:
            keep = item.config.getoption("boxspec_keep") or record.folder is not None
            # After an interrupt only kept cases are closed one by one. All other folders are
            # deleted at once.
            if keep or not self._state.interrupted:
                case.close(keep=keep)
                self._state.cases.pop(item.nodeid, None)
        self._recorded += 1
        self._broken += record.verdict in BROKEN
        item.stash[RECORD] = record
        item.ihook.pytest_runtest_logreport(report=call)
        end = _report(item, "teardown", 0.0)
        end.user_properties = [(PROPERTY, record.to_json())]
        item.ihook.pytest_runtest_logreport(report=end)


def _report(item: pytest.Item, when: Literal["call", "teardown"], seconds: float) -> TestReport:
    return TestReport(item.nodeid, item.location, {}, "passed", None, when, duration=seconds)


def new_record(item: pytest.Item, marked: Requires) -> Record:
    line = (item.location[1] or 0) + 1
    return Record(item.nodeid, list(marked.ids), line=line, needs=list(marked.needs))


def note_cases(record: Record, cases: list[Case | ClosedCase], *, conforms: bool) -> None:
    """Add the facts about the cases of a test, one for each attempt."""
    record.timing = [each for case in cases for each in case.measured()]
    record.shim_seconds = round(sum(case.shim_seconds for case in cases), 4)
    if conforms and cases and cases[-1].questions:
        record.cases = [0, cases[-1].questions]


def apply_verdict(
    item: pytest.Item,
    why: BaseException,
    record: Record,
    report: TestReport,
    case: Case | ClosedCase | None,
) -> None:
    """Set the verdict in the record and in the report of pytest."""
    if isinstance(why, WorkerFailure):
        record.update(why.fields)
    else:
        record_exception(record, why, case if isinstance(case, Case) else None)
    if record.verdict in (Verdict.NOT_MEASURED, Verdict.NOT_APPLICABLE):
        report.outcome = "skipped"
        path, line, _ = item.location
        report.longrepr = (path, (line or 0) + 1, f"{record.verdict}: {record.reason}")
    elif record.verdict in BROKEN:
        report.outcome = "failed"
        option = item.config.getoption
        given = {each.name: option(f"boxspec_{each.name}") for each in fields(RunFlags)}
        report.longrepr = failure_block(record, RunFlags(**given))
