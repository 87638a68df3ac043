"""Tests of the queue for short tests: it runs one at a time, and more while processors are idle."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from boxspec.schedule import short_queue
from boxspec.schedule.short_queue import AT_ONCE, BUSY, IDLE, ShortQueue, next_limit
from boxspec.subject.observe.machine import Machine

START = Machine(0, 2, 0, 0, 0)


class Clock:
    """Counters of two processors, each of which was idle for this share of the time."""

    def __init__(self, free: float) -> None:
        self.free, self.last = free, START

    def now(self) -> Machine:
        t_ns = self.last.t_ns + 1000
        idle_ns = self.last.idle_ns + int(2 * 1000 * self.free)
        self.last = replace(self.last, t_ns=t_ns, idle_ns=idle_ns)
        return self.last


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[ShortQueue]:
    monkeypatch.setattr(short_queue, "CHECK_S", 0.01)
    made = ShortQueue(lambda _: None)
    yield made
    made.cancel()
    made.join()


def free(monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    monkeypatch.setattr(short_queue, "Machine", Clock(share))


def test_the_next_bodies_start_while_others_wait(
    made: ShortQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    free(monkeypatch, 1.0)
    # The barrier opens only after AT_ONCE bodies have started.
    barrier = threading.Barrier(AT_ONCE)

    def body() -> float:
        barrier.wait(30)
        return 0.5

    futures = [made.submit(number, body) for number in range(2 * AT_ONCE)]
    assert [future.result(60) for future in futures] == [0.5] * len(futures)


def test_on_a_busy_machine_they_come_one_after_the_other(
    made: ShortQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    free(monkeypatch, BUSY / 2)
    running, most = list[int](), list[int]()

    def body() -> float:
        running.append(1)
        most.append(len(running))
        time.sleep(0.05)
        running.pop()
        return 0.0

    for future in [made.submit(number, body) for number in range(8)]:
        future.result(60)
    assert max(most) == 1


@pytest.mark.parametrize(
    ("limit", "share", "count"),
    [
        (1, 1.0, 2),
        (5, IDLE, 6),
        (AT_ONCE, 1.0, AT_ONCE),
        (5, BUSY, 5),
        (5, BUSY / 2, 2),
        (1, 0.0, 1),
    ],
)
def test_how_many_may_run(limit: int, share: float, count: int) -> None:
    assert next_limit(limit, share) == count


def test_the_limit_never_falls_below_its_minimum() -> None:
    assert next_limit(3, 0.0, at_least=2) == 2


def test_the_share_of_the_time_that_was_free() -> None:
    later = replace(START, t_ns=1000, idle_ns=500)
    assert later.free_since(START) == 0.25
    assert START.free_since(START) == 0.0
    assert replace(later, throttled_ns=1).free_since(START) == 0.0
