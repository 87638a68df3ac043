"""Tests of patience: how long the kit waits for an event, and when a missing event counts as a
hang."""

from __future__ import annotations

import queue
import threading
import time
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import pytest

from boxspec.judge.timing import Timing
from boxspec.judge.verdict import Failure, Late
from boxspec.subject.attempt import Attempt
from boxspec.subject.hangs import AT_ONCE, Hangs
from boxspec.subject.observe.helper_processes import HelperProcesses
from boxspec.subject.observe.helper_watch import HelperWatch
from boxspec.subject.observe.lines import Deadline
from boxspec.subject.observe.machine import Machine
from boxspec.subject.observe.stamps import Waited
from boxspec.subject.observe.stillness import Stillness
from boxspec.subject.patience import Patience, slow_s
from boxspec.subject.waiting import Setting

MS = 1_000_000


class Stage:
    """A case whose run started ten seconds ago and had to wait this long for a processor."""

    def __init__(self, shim_ms: int = 0, member_ms: int = 0, needs_s: float = 0.0) -> None:
        run = SimpleNamespace(
            setting=Setting(Machine.now(), HelperProcesses(), False),
            spent=None,
            shim_pid=7,
            t_started_ns=time.monotonic_ns() - 10_000 * MS,
            t_ended_ns=None,
            deadline_ms=None,
            child_since=None,
            childless=False,
            waited=lambda: Waited(shim_ms * MS, 1),
            kept_waiting_ns=lambda: member_ms * MS,
            descendants=list,
        )
        self.topic, self.needs_s, self.attempt, self.shim_processes = "A", needs_s, Attempt(), [run]
        self.hangs, self.noted = Hangs(), list[Timing]()

    def note(self, timing: Timing) -> Timing:
        self.noted.append(timing)
        return timing

    def gave_up(self, patience: Patience | None = None) -> Failure | Late:
        patience = patience or Patience(cast(Any, self), 10.0)
        return patience.gave_up("it comes", "an event", "none", {})


@pytest.mark.parametrize(
    ("shim_ms", "member_ms", "raised"),
    [(0, 0, Failure), (4900, 4900, Failure), (5100, 0, Late), (0, 5100, Late)],
)
def test_a_hang_counts_if_no_program_had_to_wait(
    shim_ms: int, member_ms: int, raised: type[Exception]
) -> None:
    stage = Stage(shim_ms, member_ms)
    assert type(stage.gave_up()) is raised
    assert stage.noted[0].waited_ms >= max(shim_ms, member_ms)


@pytest.mark.parametrize(
    ("still_s", "needs_s", "raised"),
    [
        (7.4, 0.0, Late),
        (7.6, 0.0, Failure),
        (7.6, 5.0, Failure),
        # The test itself sleeps for 5.2 s. The rest of the sleep is too short to count as a hang.
        (7.6, 5.2, Late),
        (9.9, 8.0, Late),
    ],
)
def test_a_hang_counts_if_all_processes_slept(
    monkeypatch: pytest.MonkeyPatch, still_s: float, needs_s: float, raised: type[Exception]
) -> None:
    monkeypatch.setattr(Stillness, "seconds", lambda _: still_s)
    stage = Stage(shim_ms=9000, needs_s=needs_s)
    why = stage.gave_up()
    assert type(why) is raised
    assert why.evidence["all processes slept for"] == f"{still_s:.0f} s"
    assert stage.hangs.count("A") == (raised is Failure)


def test_all_remaining_processes_of_the_case_are_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = Stage()
    stage.shim_processes += Stage().shim_processes
    stage.shim_processes[0].descendants, stage.shim_processes[1].descendants = (
        lambda: "ab",
        lambda: "c",
    )
    looked = list[object]()

    def seconds(self: Stillness) -> float:
        looked.extend(self._members())
        return 0.0

    monkeypatch.setattr(Stillness, "seconds", seconds)
    stage.gave_up()
    assert looked == ["a", "b", "c"]


def test_hangs_of_one_topic_are_counted_and_then_run_a_few_at_a_time() -> None:
    hangs = Hangs()
    for _ in range(3):
        assert not hangs.many("A")
        hangs.note("A")
    assert hangs.many("A")
    assert not hangs.many("B")
    inside, go_on = queue.SimpleQueue[int](), threading.Event()

    def go(number: int) -> None:
        with hangs.turn("A"):
            inside.put(number)
            go_on.wait()

    threads = [threading.Thread(target=go, args=(number,)) for number in range(AT_ONCE + 1)]
    for thread in threads:
        thread.start()
    for _ in range(AT_ONCE):
        inside.get(timeout=10)
    with pytest.raises(queue.Empty):
        inside.get(timeout=0.05)
    go_on.set()
    for thread in threads:
        thread.join()
    assert inside.qsize() == 1


@pytest.mark.parametrize(("startup_ms", "seconds"), [(3, 20), (2000, 20), (2700, 27)])
def test_a_slow_shim_has_ten_runs_of_its_own(startup_ms: float, seconds: float) -> None:
    assert slow_s(startup_ms) == seconds


@dataclass
class NeverEnds:
    """A shim that hangs, with a child that never starts and therefore sends no events."""

    shim_pid: int = 0
    running: bool = True

    def all(self, _: str) -> list[Any]:
        return []

    def wait(self, _: str) -> Any:
        raise Failure("the child is there", "an event", "none")


def test_an_attempt_with_a_hanging_run_ends() -> None:
    hangs: Any = NeverEnds()
    with pytest.raises(Failure, match="none"):
        HelperWatch(hangs).until_ready(hangs, Deadline(0.05))
    HelperWatch(hangs).until_the_end(SimpleNamespace(pid=1, parents=[]), Deadline(0.05))  # type: ignore[arg-type]


def test_time_in_which_the_kit_was_stopped_does_not_count() -> None:
    stage = Stage()
    stage.shim_processes[0].look_for_child = lambda: None
    patience = Patience(cast(Any, stage), 10.0)
    patience._began -= 9.0
    assert not patience.over()
    # The kit checks again only two minutes later, so the shim gets the rest of its time after that
    # check.
    patience._began -= 120.0
    patience._looked -= 120.0
    assert not patience.over()
    patience._began -= 2.0
    assert patience.over()
