"""Tests of time limits: the verdict on measured times, and which processes had to wait for a
processor."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from boxspec.api import at_most, between, expect
from boxspec.judge.timing import Timing
from boxspec.judge.verdict import Failure, Late
from boxspec.schedule.body_pool import BodyPool
from boxspec.subject.attempt import Attempt
from boxspec.subject.bounds import expect_no_longer, expect_within, for_the_prompt
from boxspec.subject.case import Case
from boxspec.subject.delays import Delays
from boxspec.subject.observe.helper_processes import HelperProcesses
from boxspec.subject.observe.lines import LineReader
from boxspec.subject.observe.machine import TICK_NS, Machine, stalled_us
from boxspec.subject.observe.stamps import Spent, Stamp, Waited
from boxspec.subject.observed import Facts, FromOutside
from boxspec.subject.waiting import Setting, waited_between

MS = 1_000_000
QUIET = Machine(0, 2, 0, 0, 0)


def verdict(took: float, waited: float, attempt: int = 2, alone: bool = True) -> str:
    try:
        Timing("it", 100.0, 25.0, took, waited, attempt=attempt, alone=alone).check()
    except Late:
        return "open"
    except Failure as why:
        assert why.timed
        return "fails"
    return "conforms"


@pytest.mark.parametrize(
    ("took", "waited", "says"),
    [
        (0, 0, "conforms"),
        (125, 0, "conforms"),
        (125, 90, "conforms"),
        (125.1, 0, "fails"),
        (150, 0, "fails"),
        (150, 24.9, "fails"),
        (150, 25, "open"),
        (943, 900, "open"),
        (5000, 4874, "fails"),
        (5000, 5000, "open"),
    ],
)
def test_the_verdict_follows_from_the_measured_times(took: float, waited: float, says: str) -> None:
    assert verdict(took, waited) == says


@pytest.mark.parametrize(
    ("waited", "attempt", "alone", "says"),
    [
        (25, 1, False, "fails"),
        (25.1, 1, False, "open"),
        (25.1, 2, False, "open"),
        (255.2, 2, True, "fails"),
        (255.2, 3, False, "fails"),
    ],
)
def test_a_concurrent_attempt_on_a_busy_machine_does_not_fail(
    waited: float, attempt: int, alone: bool, says: str
) -> None:
    assert verdict(490.8, waited, attempt, alone) == says


def test_waiting_never_makes_a_late_run_conform() -> None:
    late = [verdict(took, waited) for took in range(126, 2000, 50) for waited in range(0, took, 50)]
    assert "conforms" not in late


@pytest.mark.parametrize(
    ("backend", "late_ms", "says"),
    [
        (None, 0, "conforms"),
        (None, 1, "fails"),
        # A namespace may take this long to end; reference/bench/backend has the longest measured
        # time.
        ("bubblewrap", 254, "conforms"),
        ("bubblewrap", 301, "fails"),
    ],
)
def test_the_end_of_a_sandbox_has_its_time_and_no_more(
    backend: str | None, late_ms: float, says: str
) -> None:
    case = Case.__new__(Case)
    case.__dict__.update(
        session=SimpleNamespace(backend=backend), attempt=Attempt(2, alone=True), timings=[]
    )
    try:
        case.judge_time("it", 125 + late_ms, 0, 100)
        said = "conforms"
    except Failure as why:
        assert why.timed
        said = "fails"
    assert said == says


@pytest.mark.parametrize("matcher", [at_most(3), between(1, 3)])
def test_a_bound_of_a_count_is_decided_at_once(matcher: Any) -> None:
    with pytest.raises(Failure) as why:
        expect("descriptors", 4, matcher)
    assert not why.value.timed


@dataclass
class FakeRun:
    """A run whose shim has pid 7, started at time 0 and has ended. No processor was free."""

    setting: Setting
    spent: Spent | None
    t_ended_ns: int | None = 1000 * MS
    shim_pid: int = 7
    t_started_ns: int = 0

    def waited(self) -> Waited:
        assert self.spent is not None
        return self.spent.waited


class FakeCase:
    """Those parts of a case, with one run, that the bounds use."""

    def __init__(
        self,
        helpers: HelperProcesses = HelperProcesses(),  # noqa: B008 - frozen
        *,
        waited_ms: float = 0,
        cpu_ms: float = 0,
        realtime: bool = False,
    ) -> None:
        spent = Spent(Waited(int(waited_ms * MS), 1), 0, int(cpu_ms * MS))
        self.shim_processes = [FakeRun(Setting(QUIET, helpers, realtime), spent)]
        self.judged: list[Timing] = []
        self.attempt = Attempt(realtime=realtime)

    def note(self, timing: Timing) -> Timing:
        self.judged.append(timing)
        return timing


@pytest.fixture(autouse=True)
def never_free(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(10_000 * MS, 2, 0, 0, 0)
    monkeypatch.setattr("boxspec.subject.waiting.Machine", SimpleNamespace(now=lambda: machine))


def stamp(t_ms: float, waited_ms: float = 0, threads: int = 1, early_ms: float = 0) -> Stamp:
    """Return a time stamp whose observer also read how long shim 7 had waited for a processor."""
    targets = {7: Waited(int(waited_ms * MS), threads)}
    return Stamp(int(t_ms * MS), int(early_ms * MS), targets=targets)


def test_the_wait_of_a_shim_counts_between_the_stamps() -> None:
    assert waited_between(FakeCase().shim_processes, stamp(100, 40), stamp(400, 70)) == (30.0, True)


def test_the_wait_of_the_observers_counts_too() -> None:
    case = FakeCase()
    since, until = stamp(100, 40, early_ms=20), stamp(400, 70, early_ms=5)
    assert waited_between(case.shim_processes, since, until) == (55.0, True)
    with pytest.raises(Late):
        expect_within(case, "it", since, until, 100)
    assert (case.judged[0].took_ms, case.judged[0].own_ms) == (320.0, 265.0)


def test_the_stalls_of_the_whole_machine_count_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """I/O that stops every process delays a shim that does not wait for a processor."""
    case = FakeCase()
    with pytest.raises(Failure):
        expect_within(case, "it", stamp(100), stamp(400), 100)
    stalled = Machine(10_000 * MS, 2, 0, 0, 0, stalled_ns=250 * MS)
    monkeypatch.setattr("boxspec.subject.waiting.Machine", SimpleNamespace(now=lambda: stalled))
    with pytest.raises(Late):
        expect_within(case, "it", stamp(100), stamp(400), 100)
    assert [timing.waited_ms for timing in case.judged] == [0.0, 250.0]


def test_only_a_stall_of_every_process_counts(tmp_path: Path) -> None:
    place, averages = tmp_path / "io", "avg10=0.00 avg60=0.00 avg300=0.00"
    assert stalled_us(place) == 0
    place.write_text(f"some {averages} total=400\nfull {averages} total=70\n")
    assert stalled_us(place) == 70


def test_the_own_count_of_a_stamper_counts_between_its_stamps() -> None:
    since = Stamp(100 * MS, by=3, own=Waited(10 * MS, 1), targets={7: Waited(0, 1)})
    until = Stamp(200 * MS, 1, by=3, own=Waited(40 * MS, 1), targets={7: Waited(0, 1)})
    assert waited_between(FakeCase().shim_processes, since, until) == (30.0, True)


def test_without_a_reading_at_the_end_the_whole_life_counts() -> None:
    case = FakeCase(waited_ms=90)
    assert waited_between(case.shim_processes, stamp(100, 40), Stamp(400 * MS)) == (50.0, True)


@pytest.mark.parametrize(
    ("helpers", "threads"),
    [
        (HelperProcesses(threads=2), 1),
        (HelperProcesses(later=True), 1),
        (HelperProcesses(), 3),
    ],
    ids=["threads", "helpers", "a thread that has gone"],
)
def test_a_lost_counter_makes_the_time_uncertain(helpers: HelperProcesses, threads: int) -> None:
    since = stamp(100, 0, threads)
    assert waited_between(FakeCase(helpers).shim_processes, since, stamp(400, 5, 1)) == (
        300.0,
        False,
    )


def test_helpers_in_front_of_the_child_matter_from_the_start_on_only() -> None:
    case = FakeCase(HelperProcesses(before=True))
    assert waited_between(case.shim_processes, Stamp(0), stamp(400, 5))[1] is False
    assert waited_between(case.shim_processes, stamp(100), stamp(400, 5))[1] is True


@pytest.mark.parametrize("realtime", [False, True], ids=["beside others", "in front of them"])
def test_a_child_took_its_count_along(realtime: bool) -> None:
    case = FakeCase(realtime=realtime)
    wanted = (30.0, True) if realtime else (300.0, False)
    assert waited_between(case.shim_processes, stamp(100, 40), stamp(400, 70), child=True) == wanted
    to_the_end = waited_between(case.shim_processes, stamp(700, 40), stamp(1000, 70))
    assert to_the_end == wanted


MANY_THREADS = HelperProcesses(threads=9, before=True, later=True)


def test_with_realtime_priority_no_wait_is_missed() -> None:
    case = FakeCase(MANY_THREADS, realtime=True, cpu_ms=100)
    assert waited_between(case.shim_processes, stamp(100), stamp(400, 5)) == (5.0, True)


def test_a_process_that_computes_all_the_time_delays_itself() -> None:
    case = FakeCase(MANY_THREADS, realtime=True, cpu_ms=900)
    assert waited_between(case.shim_processes, stamp(100), stamp(400, 5)) == (300.0, False)


def test_a_host_without_counters_makes_the_time_uncertain() -> None:
    unread = Stamp(400 * MS, targets={7: Waited(0, 0)})
    assert waited_between(FakeCase().shim_processes, stamp(100, 0, 0), unread) == (300.0, False)


def ran(until_ms: float, waited_ms: float) -> FromOutside:
    seen = FromOutside()
    seen.observed = Facts(("exited", 0), Stamp(0), stamp(until_ms, waited_ms))
    return seen


def test_a_control_that_was_kept_waiting_hides_nothing() -> None:
    case = FakeCase()
    with pytest.raises(Late):
        expect_no_longer(case, "it", ran(400, 10), ran(300, 60), 100)
    assert (case.judged[0].took_ms, case.judged[0].waited_ms) == (160.0, 160.0)
    front = FakeCase(realtime=True)
    with pytest.raises(Late):
        expect_no_longer(front, "it", ran(400, 10), ran(300, 60), 100)
    assert (front.judged[0].took_ms, front.judged[0].waited_ms) == (160.0, 70.0)


@pytest.mark.parametrize(
    ("waited_ms", "realtime", "raised"),
    [(0, False, Failure), (19, False, Failure), (21, False, Late), (21, True, Failure)],
)
def test_a_test_for_prompt_machines_runs_again(
    waited_ms: float, realtime: bool, raised: type[Exception]
) -> None:
    case = FakeCase(waited_ms=waited_ms, realtime=realtime)
    with pytest.raises(raised), for_the_prompt(case):
        expect("it", 1, 2)
    with for_the_prompt(case):
        expect("it", 1, 1)


def short_excess(took_ms: float) -> Failure:
    with pytest.raises(Failure) as caught:
        Timing("it", 5100.0, 50.0, took_ms, 0.0, attempt=3, alone=True, realtime=True).check()
    return caught.value


@pytest.mark.parametrize(("took_ms", "short"), [(5211, True), (5649, True), (5651, False)])
def test_a_short_excess_without_a_measured_delay_is_marked(took_ms: float, short: bool) -> None:
    assert short_excess(took_ms).short is short


@pytest.mark.parametrize(
    ("took_ms", "number", "raised"),
    [(5211, 1, Late), (5700, 1, Failure), (5211, 2, Failure)],
)
def test_a_short_excess_in_the_first_attempt_is_repeated(
    took_ms: float, number: int, raised: type[Exception]
) -> None:
    case = FakeCase(waited_ms=0)
    case.attempt = Attempt(number)
    with pytest.raises(raised) as caught, Delays().watch(case):
        raise short_excess(took_ms)
    assert getattr(caught.value, "unexplained", False) is (raised is Late)


def machine(t_ms: float, idle_ms: float, stolen_ms: float = 0, throttled_ms: float = 0) -> Machine:
    values = (int(each * MS) for each in (idle_ms, stolen_ms, throttled_ms))
    return Machine(int(t_ms * MS), 2, *values)


@pytest.mark.parametrize(
    ("after", "busy_ms"),
    [
        (machine(1000, 0), 1000),
        (machine(1000, 2000), TICK_NS / MS),
        (machine(1000, 1000), 500 + TICK_NS / MS),
        (machine(1000, 2000, throttled_ms=300), 300 + TICK_NS / MS),
    ],
    ids=["busy", "idle", "half", "throttled"],
)
def test_with_a_free_processor_no_process_waits(after: Machine, busy_ms: float) -> None:
    assert after.busy_since(machine(0, 0)) / MS == busy_ms


def test_the_counters_of_this_machine_go_on() -> None:
    before = Machine.now()
    time.sleep(0.05)
    after = Machine.now()
    assert before.processors == len(os.sched_getaffinity(0))
    assert 0 <= after.busy_since(before) <= after.t_ns - before.t_ns


def test_at_rest_nothing_runs() -> None:
    overlap, running = BodyPool(threads=2), list[str]()
    started, go_on = threading.Event(), threading.Event()

    def body() -> float:
        started.set()
        go_on.wait(10)
        running.append("first")
        return 0.0

    def late_one() -> float:
        running.append("second")
        return 0.0

    first = overlap.submit("first", body)
    assert started.wait(10)
    threading.Timer(0.05, go_on.set).start()
    with overlap.paused():
        assert running == ["first"]
        second = overlap.submit("second", late_one)
        time.sleep(0.05)
        assert running == ["first"]
    assert second.result(10) == first.result(10) == 0.0
    overlap.join()


def test_a_line_without_an_end_is_bounded() -> None:
    read_end, write_end = os.pipe2(os.O_CLOEXEC)
    reader = LineReader(read_end)
    try:
        longest = 0
        for _ in range(40):
            os.write(write_end, b"x" * 65536)
            longest = max([longest, len(reader.buffer), *map(len, reader.wait(1))])
    finally:
        os.close(read_end)
        os.close(write_end)
    assert longest <= 2**20 + 65536
