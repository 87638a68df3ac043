"""Tests of the progress line and of the time left."""

from __future__ import annotations

import io
import time

import pytest

from boxspec.cli import cache
from boxspec.cli.live import Live
from boxspec.judge.requirements import load
from boxspec.report import console
from boxspec.report.console import Console, Progress
from boxspec.report.progress import (
    LONG_SHARE,
    PARTS,
    PRIOR_S,
    Durations,
    Pace,
    late_in_the_end,
    line,
)
from boxspec.schedule.runner import collect
from boxspec.schedule.selection import requires_of
from boxspec.terminal import fitting

# Progress ------------------------------------------------------------------------------------


def test_without_a_terminal_there_is_a_line_every_so_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(console, "LINES_S", 0.01)
    out = io.StringIO()
    progress = Progress(Console(out), lambda: ("3/8", 0.4))
    limit = time.monotonic() + 20
    while out.getvalue().count("\n") < 2 and time.monotonic() < limit:
        time.sleep(0.005)
    progress.close()
    assert set(out.getvalue().splitlines()) == {"3/8"}
    assert out.getvalue().count("\n") >= 2


def test_the_progress_line_does_not_report_a_closed_pipe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(console, "LINES_S", 0.001)
    out = io.StringIO()
    out.close()
    progress = Progress(Console(io.StringIO()), lambda: ("3/8", 0.4))
    progress._console.out = out
    progress._thread.join(20)
    assert not progress._thread.is_alive()
    progress.close()


def test_the_time_left_follows_the_work_that_is_done() -> None:
    run = Pace([1.0] * 100, 20.0, speed=0.0)
    assert run.left_s(1.0) is None
    for _ in range(25):
        run.end(1.0, 10.0)
    assert run.left_s(10.0) == pytest.approx(30.0)
    # Tests that were late are repeated in the end.
    assert run.left_s(10.0, repeats_s=7.0) == pytest.approx(30.0 + 7)
    # Their first attempts are done.
    assert run.left_s(10.0, 5.0, 7.0, 5) == pytest.approx(70 / 3 + 7)


def test_the_tests_that_have_not_ended_are_late_less_often() -> None:
    # The first 49 of 459 tests: 10 of them were late, and 57 in the end.
    assert late_in_the_end(10, 49, 459) == pytest.approx(51.4, abs=0.1)
    assert late_in_the_end(0, 100, 459) == 0.0
    assert late_in_the_end(57, 459, 459) == 57.0


def test_only_tests_of_the_same_kind_are_expected_to_be_late() -> None:
    live = Live(["/no/such/shim"], 32, lambda _: None)
    live._weights = dict.fromkeys(["a", "b", "c", *map(str, range(1000))], 1.0)
    live._short = {str(n): "A-B" for n in range(1000)}
    # Of three long tests two were late and one not; a thousand short ones have not ended.
    live._ended[True] = 1
    assert live._more_late(["a", "b"]) == 1.0
    # One of 51 ended short tests was late, and 949 have not ended.
    live._ended[False] = 50
    assert live._more_late(["0"]) == pytest.approx(1 + 949 / 101)
    assert live._more_late([]) == 1.0


def test_an_estimate_is_overdue_if_no_test_ends_for_a_longer_time() -> None:
    live = Live(["/no/such/shim"], 32, lambda _: None)
    assert not live._is_overdue(100.0, 1.0)
    live._last = 100.0
    assert [live._is_overdue(100.0 + each, 15.0) for each in (10, 16)] == [False, True]


def test_the_time_left_begins_with_the_speed_of_earlier_runs() -> None:
    run = Pace([1.0] * 100, 0.0, speed=2.0)
    assert run.left_s(0.0) == pytest.approx(50.0)
    # No test has ended, so this run is slower than earlier runs, by an unknown factor.
    assert run.left_s(PRIOR_S) is None


def test_the_time_left_of_a_short_run_follows_its_own_speed() -> None:
    run = Pace([1.0] * 100, 0.0, speed=10.0)
    for _ in range(20):
        run.end(1.0, 10.0)
    # Two tests a second, and ten in earlier runs: 80 tests take 40 s.
    left_s = run.left_s(10.0)
    assert left_s is not None and 25.0 < left_s < 40.0


def test_the_time_left_follows_a_load_that_changes() -> None:
    run = Pace([1.0] * 1000, 0.0, speed=0.0)
    for second in range(60):
        for _ in range(10):
            run.end(1.0, second)
        run.left_s(second + 1.0)
    # From here on, two tests a second: the other 300 take 150 s.
    for second in range(60, 110):
        run.end(1.0, second)
        run.end(1.0, second)
        left_s = run.left_s(second + 1.0)
    assert left_s is not None and 75.0 < left_s < 150.0


def test_the_time_left_follows_the_course_of_the_last_run() -> None:
    first = Pace([1.0] * 100, 0.0, speed=0.0)
    # The first half of the work takes 10 s, and the second one 40 s.
    for n in range(50):
        first.end(1.0, 0.2 * (n + 1))
    for n in range(50):
        first.end(1.0, 10 + 0.8 * (n + 1))
    # Repeats are no part of the course.
    for n in range(5):
        first.end(1.0, 60 + 20 * n, repeated=True)
    course = first.course()
    assert len(course) == PARTS and course[PARTS // 2 - 1] == pytest.approx(0.2)
    for speed in (0.0, 2.0):
        second = Pace([1.0] * 100, 0.0, speed, course)
        for n in range(50):
            # The weights of this run differ from those of the first one.
            second.end(2.0 if n % 2 else 0.5, 0.2 * (n + 1))
        assert second.left_s(10.0) == pytest.approx(40.0)


def test_the_course_of_the_reference_is_of_runs_of_all_contracts() -> None:
    every = len(collect().items)
    assert len(cache.durations(["/no/such/shim"], every).course) == PARTS
    assert cache.durations(["/no/such/shim"], every // 3).course == ()


def test_the_time_left_includes_the_longest_test() -> None:
    run = Pace([1.0], 30.0, speed=1.0)
    run.end(1.0, 2.0)
    assert run.left_s(2.0) == 28.0


def test_a_topic_that_is_not_known_counts_as_the_average_one() -> None:
    known = Durations({"A-B": 1.0, "A-C": 3.0})
    assert known.weight("A-B", None) == 1.0
    assert known.weight("A-D", None) == 2.0
    assert known.weight("A-B", 100.0) == pytest.approx(100 * LONG_SHARE)


def test_the_live_line_shows_the_progress() -> None:
    assert line(3, 8, 12.4, 55.0, 1) == "3/8 tests · 12 s · about 55 s left · 1 fails"
    assert line(3, 8, 12.4, None, 0) == "3/8 tests · 12 s"
    again = line(6, 8, 12.4, 150.0, 0, 2)
    assert again == "6/8 tests · 12 s · repeats 2 late tests · about 2 min left"
    assert line(8, 8, 12.4, 9.0, 0) == "8/8 tests · 12 s"


@pytest.mark.parametrize("columns", [60, 80])
def test_the_live_line_drops_whole_parts_that_do_not_fit(columns: int) -> None:
    longest = line(4404, 4405, 1234.0, 7000.0, 4321, 1234)
    shown = fitting(longest, columns - 1)
    assert len(shown) < columns
    parts = longest.split(" · ")
    assert set(shown.split(" · ")) <= {*parts}
    assert shown.startswith("4404/4405 tests · ") and shown.endswith(" · 4321 fail")
    assert fitting(longest, 200) == longest
    assert (
        fitting("name · 3 findings · 12 s · 4 k/s · 5 inputs", 36, 2)
        == "name · 3 findings · 4 k/s · 5 inputs"
    )
    assert [fitting("one two · three", width) for width in (14, 7, 6, 2)] == [
        *("one two", "one two", "one", "")
    ]


def test_the_first_run_of_the_reference_begins_with_its_duration() -> None:
    """Check that the stored speed and the stored durations of topics belong together."""
    known = cache.durations(["/no/such/shim"], 0)
    tests = [marked for item in collect().items if (marked := requires_of(item))]
    topics = load()
    work_s = sum(
        known.weight(topics[each.ids[0]].topic, each.seconds if each.overlap else None)
        for each in tests
    )
    # Whole runs on two idle processors took 48 to 53 s.
    assert 40 <= work_s / known.speed_now(work_s, 0.0, 2) <= 65


def test_a_start_that_takes_longer_makes_a_run_longer() -> None:
    known = Durations({"A-B": 0.1}, speed=4.0, own=["A-C"])
    # Ten tests, each with one start of 0.5 s, take 5 s more than 1 s of work at this speed.
    work_s = 10 * known.weight("A-B", None, 0.5)
    assert work_s / known.speed_now(work_s, 0.0, 2) == pytest.approx(5.25)
    # A start is part of the duration that was measured with this shim.
    assert known.weight("A-C", None, 0.5) == pytest.approx(0.1)
    assert known.weight("A-B", 1.0, 0.5) == pytest.approx(LONG_SHARE + 2.0)


def test_the_first_estimate_knows_other_busy_threads_and_the_last_run() -> None:
    known = Durations(speed=5.0, seconds=50.0)
    assert known.speed_now(100.0, 0.0, 2) == pytest.approx(2.0)
    assert known.speed_now(100.0, 36.0, 2) == pytest.approx(0.2)
    assert Durations(speed=5.0).speed_now(100.0, 0.0, 2) == pytest.approx(5.0)
