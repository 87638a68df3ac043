"""Tests on a busy machine: a process that waits for a processor is not mistaken for a busy loop."""

from __future__ import annotations

import subprocess
import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest

from boxspec.judge.verdict import Failure, Late
from boxspec.subject.observe.stamps import Waited
from contracts.shared.costs import costs_above_bounds_until
from contracts.shared.moments import late_without_busy_loop


def test_a_process_that_sleeps_had_to_wait() -> None:
    with subprocess.Popen(["sleep", "60"]) as idle:
        try:
            late_without_busy_loop(idle.pid, wanted=200, looked=600, share=0.5)
            with pytest.raises(Late, match="700 ms of 600 ms"):
                late_without_busy_loop(idle.pid, wanted=700, looked=600, share=0.5)
        finally:
            idle.kill()


def test_a_process_that_never_sleeps_loops() -> None:
    loop = "import os\nos.write(1, b'.')\nwhile True:\n    pass"
    with subprocess.Popen([sys.executable, "-c", loop], stdout=subprocess.PIPE) as busy:
        assert busy.stdout is not None
        try:
            assert busy.stdout.read(1) == b"."
            late_without_busy_loop(busy.pid, wanted=700, looked=600, share=0.5)
        finally:
            busy.kill()


class Counters:
    """A caller that has used and waited for a processor since the start of the test."""

    def __init__(self, cpu: float, waited: float, realtime: bool = False) -> None:
        self.setting = SimpleNamespace(realtime=realtime)
        self._cpu, self._waited, self._since = cpu, waited, time.monotonic()

    def wakeups(self) -> int:
        return 0

    def cpu_ms(self) -> float:
        return 1000 * self._cpu * (time.monotonic() - self._since)

    def waited(self) -> Waited:
        return Waited(int(1e9 * self._waited * (time.monotonic() - self._since)), 1)


def excess(*figures: Any) -> dict[str, float]:
    return costs_above_bounds_until(Counters(*figures), lambda: time.sleep(0.02))  # type: ignore


def test_a_caller_that_waits_for_a_processor_most_of_the_time_proves_no_sleep() -> None:
    assert excess(0.01, 0.4) == {}
    with pytest.raises(Late, match="it waited for one"):
        excess(0.01, 0.9)


def test_a_loop_with_realtime_priority_decides_at_once() -> None:
    assert excess(0.01, 0.0, True) == {}
    assert [*excess(2.0, 0.0)] == ["cpu_ms"]
    with pytest.raises(Failure) as caught:
        excess(2.0, 0.0, True)
    assert caught.value.timed
