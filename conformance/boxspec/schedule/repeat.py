"""Count how often each test does not conform (`--repeat N`).

An interrupted run can be resumed.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from boxspec.judge.record import Record
from boxspec.judge.verdict import BROKEN, Late, Verdict
from boxspec.schedule.body import Body, case_class
from boxspec.schedule.body_pool import BodyPool
from boxspec.schedule.retry import Retry
from boxspec.schedule.selection import requires_of
from boxspec.subject.attempt import FIRST, Attempt
from boxspec.subject.case import Case
from boxspec.subject.session import Session

AT_ONCE = 24


class Repeat:
    """Runs every selected test N times: overlapping tests in parallel, the others one by one."""

    def __init__(self, session: pytest.Session, shim: Session) -> None:
        option = session.config.getoption
        self.rounds: int = option("boxspec_repeat")
        self.session, self.shim = session, shim
        self.counts: dict[str, Counter[str]] = {}
        self.records: list[Record] = []
        self._lock = threading.Lock()
        self.retry = Retry()
        name = option("boxspec_repeat_file")
        self._file = Path(name) if name else None
        if self._file is not None and self._file.exists():
            self._resume(self._file)

    def _resume(self, path: Path) -> None:
        for line in path.read_text(encoding="utf-8").splitlines():
            # The last line is incomplete if the previous run was interrupted while writing it.
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            self.counts.setdefault(entry["test"], Counter())[entry["verdict"]] += 1

    def _note(self, name: str, record: Record) -> None:
        line = {
            "test": name,
            "verdict": str(record.verdict),
            "reason": record.reason,
            "timing": record.timing,
        }
        with self._lock:
            self.counts.setdefault(name, Counter())[str(record.verdict)] += 1
            if record.verdict is not Verdict.CONFORMS:
                self.records.append(record)
            if self._file is not None:
                with self._file.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(line) + "\n")

    def _once(self, name: str, body: Body) -> float:
        began = time.monotonic()
        record = Record(name, list(body.marked.ids))
        cases: list[Case] = []

        def next_case(attempt: Attempt = FIRST) -> Case:
            for case in cases[-1:]:
                case.close(keep=False)
            cases.append(case_class(body.marked)(self.shim, name, attempt=attempt))
            return cases[-1]

        try:
            self._attempts(body, next_case, record)
        except Exception as why:
            record.set_verdict(why)
            record.request = cases[-1].request_text(why)
        record.timing = [each.to_json() for case in cases for each in case.timings]
        keep = record.verdict in BROKEN or record.verdict is Verdict.HARNESS_ERROR
        record.folder = str(cases[-1].kept) if keep else None
        cases[-1].close(keep=keep)
        self._note(name, record)
        return time.monotonic() - began

    def _attempts(self, body: Body, next_case: Callable[..., Case], record: Record) -> None:
        try:
            body.run_and_sweep(next_case())
        except Late as first:
            record.late = True
            record.reason = self.retry.until_decided(
                lambda attempt: body.run_and_sweep(next_case(attempt)),
                first,
                alone=False,
                use_realtime=False,
            )

    def run(self) -> None:
        """Run all rounds. The overlapping tests of all rounds are in one queue."""
        pool = BodyPool(AT_ONCE)
        alone: list[tuple[str, Body, int]] = []
        waiting = []
        for item in self.session.items:
            marked = requires_of(item)
            if marked is None:
                continue
            body = Body(item, marked)
            left = self.rounds - sum(self.counts.get(item.nodeid, Counter()).values())
            if not marked.overlap:
                alone.append((item.nodeid, body, left))
                continue
            for number in range(left):
                job = partial(self._once, item.nodeid, body)
                waiting.append(pool.submit((item.nodeid, number), job))
        for name, body, left in alone:
            for _ in range(left):
                self._once(name, body)
        for future in waiting:
            future.result()
        self.session.testsfailed = self.flaky

    @property
    def flaky(self) -> int:
        return sum(self._flaky(count) for count in self.counts.values())

    @staticmethod
    def _flaky(count: Counter[str]) -> int:
        return (
            sum(number for verdict, number in count.items() if verdict in BROKEN)
            + count[Verdict.HARNESS_ERROR]
        )

    def lines(self) -> list[str]:
        """Return the failure rate of each test, the worst first, then the total."""
        rows = sorted(self.counts.items(), key=lambda pair: (-self._flaky(pair[1]), pair[0]))
        made = []
        for name, count in rows:
            rounds, flaky = sum(count.values()), self._flaky(count)
            others = {v: n for v, n in count.items() if v != Verdict.CONFORMS}
            extra = (
                "  " + ", ".join(f"{v} {n}" for v, n in sorted(others.items())) if others else ""
            )
            made.append(
                f"{flaky:>5}/{rounds:<6} {100 * flaky / max(rounds, 1):7.3f} %  {name}{extra}"
            )
        total = sum(sum(count.values()) for count in self.counts.values())
        made.append(f"{self.flaky} failures in {total} runs of {len(rows)} tests")
        return made
