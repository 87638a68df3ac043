"""Show the live line of a run, and keep durations for the estimate of the next run."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from boxspec.cli import cache
from boxspec.judge.record import Record
from boxspec.judge.requirements import contract_of, load
from boxspec.report.progress import Pace, late_in_the_end, line, slowdown
from boxspec.schedule.runner import Observer
from boxspec.schedule.selection import requires_of

# How long the thread of the live line may record tests before it shows the next line.
RECORD_S = 0.5
# The processor time of a start of the reference, in seconds.
START_S = 0.005
# Runnable threads of this run before the tests: this one, and the one that checks the shim.
OWN_THREADS = 2


def _other_threads() -> int:
    """Return the number of runnable threads on this machine, without those of this run."""
    try:
        running = Path("/proc/loadavg").read_text().split()[3].partition("/")[0]
        return max(0, int(running) - OWN_THREADS)
    except (OSError, ValueError, IndexError):
        return 0


class Live:
    """Counts the tests of a run.

    show: a function that gets the shim's answer to `hello`. It is called again and again.
    """

    def __init__(
        self, argv: Sequence[str], at_once: int, show: Callable[[Mapping[str, Any]], None]
    ) -> None:
        self._argv, self._at_once, self._show = argv, at_once, show
        self._pace: Pace | None = None
        # The weight of each test, and the topics of the short ones.
        self._weights: dict[str, float] = {}
        self._short: dict[str, str] = {}
        # The number of tests that have ended and were not repeated: of the long and the short ones.
        self._ended = {True: 0, False: 0}
        # The times at which the first test began and the last one ended, by the monotonic clock.
        self._began = self._end = 0.0
        # The time at which the last test ended, also a repeated one; 0 before that.
        self._last = 0.0
        self._seconds: dict[str, list[float]] = {}
        # The numbers of other runnable threads, sampled before the first test began.
        self._others: list[int] = []
        self._slowdown = 1.0

    def line(self, observer: Observer) -> tuple[str, float]:
        """Return the live line, and the share of the tests that have ended, from 0 to 1."""
        now = time.monotonic()
        elapsed_s = now - observer.started
        if not observer.session_info().begun:
            self._others.append(_other_threads())
        if not observer.items:
            return f"collecting tests · {elapsed_s:.0f} s", 0.0
        observer.session_info().record_ended(most_s=RECORD_S)
        if hello := observer.hello():
            self._show(hello)
        if not observer.session_info().begun:
            return f"checking the shim · {elapsed_s:.0f} s", 0.0
        pace, done = self._started(observer), observer.done()
        first_s = sum(self._weights.get(name, 0.0) for name in done.late)
        repeats_s = done.repeats_s * self._more_late(done.late)
        left_s = pace.left_s(now - self._began, first_s, repeats_s, len(done.late))
        if left_s is not None and self._is_overdue(now, left_s):
            left_s = None
        repeats = len(done.late) if done.tests + len(done.late) >= done.of else 0
        text = line(done.tests, done.of, elapsed_s, left_s, done.broken, repeats)
        return text, done.tests / max(done.of, 1)

    def end(self, record: Record, observer: Observer) -> None:
        """Note that a test has ended."""
        if hello := observer.hello():
            self._show(hello)
        pace, weight = self._started(observer), self._weights.get(record.id, 0.0)
        repeated = bool(record.late)
        self._last = time.monotonic()
        pace.end(weight, self._last - self._began, repeated=repeated)
        if topic := self._short.get(record.id):
            self._seconds.setdefault(topic, []).append(record.seconds)
        if not repeated:
            self._ended[topic is None] += 1
            self._end = self._last

    def _is_overdue(self, now: float, left_s: float) -> bool:
        """True if no test has ended for longer than all tests should still take.

        The estimate is then wrong, for example because a repeated test hangs.
        """
        return bool(self._last) and now - self._last > left_s

    def _more_late(self, late: Sequence[str]) -> float:
        """Return by which factor more tests will be late in the end.

        Long tests are late more often than short ones, and most of them begin first.
        """
        tests = {True: len(self._weights) - len(self._short), False: len(self._short)}
        expected = 0.0
        for is_long, of in tests.items():
            now = sum((name not in self._short) == is_long for name in late)
            ended = min(self._ended[is_long] + now, of)
            expected += late_in_the_end(now, ended, of)
        return expected / len(late) if late else 1.0

    def _started(self, observer: Observer) -> Pace:
        if self._pace is None:
            self._began = time.monotonic()
            durations = cache.durations(self._argv, len(observer.items))
            known = load()
            long = []
            marks = [(item.nodeid, requires_of(item)) for item in observer.items]
            # Contracts without long tests send all requests to one shim process.
            starting = {contract_of(each.ids[0]) for _, each in marks if each and each.overlap}
            processors = os.cpu_count() or 1
            start_s = max(0.0, observer.session_info().start_cpu_s - START_S) / processors
            for name, marked in marks:
                if marked:
                    topic = known[marked.ids[0]].topic
                    long_s = marked.seconds if marked.overlap else None
                    own_s = start_s if contract_of(marked.ids[0]) in starting else 0.0
                    self._weights[name] = durations.weight(topic, long_s, own_s)
                    if marked.overlap:
                        long.append(marked.seconds)
                    else:
                        self._short[name] = topic
            at_least_s = max([*long, sum(long) / self._at_once], default=0.0)
            others = sum(self._others) / max(len(self._others), 1)
            self._slowdown = slowdown(others, processors)
            speed = durations.speed_now(sum(self._weights.values()), others, processors)
            self._pace = Pace(self._weights.values(), at_least_s, speed, durations.course)
        return self._pace

    def remember(self) -> None:
        """Keep the durations of this run for the next one."""
        if self._pace is not None:
            means = {topic: sum(each) / len(each) for topic, each in self._seconds.items()}
            seconds = (self._end - self._began) / self._slowdown
            tests = len(self._weights)
            cache.remember_durations(self._argv, tests, means, self._pace, seconds)
