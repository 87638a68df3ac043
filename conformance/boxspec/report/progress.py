"""Estimate how long a run still takes, and show its progress in one line."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from boxspec.plural import many

# The speed of earlier runs counts like this many seconds of this run, but at most like this share
# of the expected duration. It gets a limited weight because the load was different then.
PRIOR_S, PRIOR_PART = 30.0, 0.25
# The speed of the last seconds counts as much as that of the whole run, because the load of a
# machine changes. In four runs whose load rose to 40 on two processors, the estimate at 10 to 120 s
# was wrong by a factor of 1.3 in the mean and 2.0 at most. In a fifth run, the factor was 3.8 at
# 10 s.
LATELY_S, STEADY_S = 30.0, 5.0
# A long test mostly waits, at the same time as other tests. This is its share of work, measured
# with the reference on two processors.
LONG_SHARE = 0.05
# In how many parts of equally many tests the course of a run is kept.
PARTS = 20
# The share of late tests is estimated as if this number of further tests had been in time. The
# first tests of a run are late more often: of a slow shim 10 of the first 49, and 57 of 459.
IN_TIME = 50
# The number of busy threads of a run for each processor. While 30 to 41 other threads were busy on
# two processors, three runs took 7, 10 and 11 times as long as on an idle machine.
AT_ONCE = 2
# Without a speed from earlier runs, there is an estimate only after this number of ended tests.
MIN_ENDED = 20


@dataclass(frozen=True)
class Durations:
    """The durations of earlier runs.

    topics: mean duration in seconds of a short test, by topic.
    speed: seconds of work that a run of the reference does in one second; 0 if unknown.
    seconds: the duration of the last run of this shim with as many tests; 0 if unknown. It replaces
        the speed, which belongs to other topics.
    own: the topics that were measured with this shim.
    course: the shares of the duration after the first attempts of each of `PARTS` equal parts of
        the tests, ascending to 1.0. Empty if unknown.
    """

    topics: Mapping[str, float] = field(default_factory=dict)
    speed: float = 0.0
    course: Sequence[float] = ()
    seconds: float = 0.0
    own: Container[str] = ()

    def weight(self, topic: str, long_s: float | None, start_s: float = 0.0) -> float:
        """Return the work in seconds of a test of this topic.

        If the topic is unknown, the mean of all topics counts.
        long_s: the duration of a long test; None for a short one.
        start_s: the additional seconds of a start of this shim, compared with the reference. Starts
            need a processor, so tests at the same time wait for each other's starts. They do not
            wait for each other's pauses, which are most of a long test.
        """
        start = start_s * (self.speed or 1.0)
        if long_s is not None:
            return LONG_SHARE * long_s + start
        mean = sum(self.topics.values()) / len(self.topics) if self.topics else 1.0
        return self.topics.get(topic, mean) + (0.0 if topic in self.own else start)

    def speed_now(self, work_s: float, others: float, processors: int) -> float:
        """Return the expected speed of a run with this work.

        others: the mean number of other runnable threads.
        """
        usual = work_s / self.seconds if self.seconds else self.speed
        return usual / slowdown(others, processors)


def slowdown(others: float, processors: int) -> float:
    """Return the factor by which this number of other runnable threads makes a run longer."""
    return 1 + others / (AT_ONCE * processors)


class Pace:
    """The work of a run, for the estimate.

    weights: for each test the seconds of work that it stands for (see `Durations`).
    at_least_s: the duration of the longest test. Even on an idle machine, the run cannot be
        shorter.
    speed: the expected seconds of work in one second, from earlier runs; 0 if unknown.
    course: see `Durations`. A run does its work faster at some times than at others, for example
        while many tests wait at once.
    """

    def __init__(
        self,
        weights: Iterable[float],
        at_least_s: float,
        speed: float,
        course: Sequence[float] = (),
    ) -> None:
        each = list(weights)
        self._tests, self._all_s = len(each), sum(each)
        self._at_least_s, self._speed = at_least_s, speed
        self._course = [0.0, *course] if len(course) == PARTS else []
        # The work that is done, in seconds.
        self.done_s = 0.0
        # The seconds from the begin of the first test to the end of each test that was not
        # repeated, and the number of the other tests.
        self._ends: list[float] = []
        self._repeated = 0
        self._prior_s = min(PRIOR_S, PRIOR_PART * self._all_s / speed) if speed else 0.0
        # Pairs of two values, the oldest first: seconds since the first test began, and the work
        # that was done then.
        self._lately = deque([(0.0, 0.0)])

    def end(self, weight: float, elapsed_s: float, *, repeated: bool = False) -> None:
        """Note that a test of this weight has ended, `elapsed_s` after the first one began."""
        self.done_s += weight
        if repeated:
            self._repeated += 1
        else:
            self._ends.append(elapsed_s)

    def course(self) -> list[float]:
        """Return the course of this run (see `Durations`), or an empty list if it took no time."""
        if not self._ends or self._ends[-1] <= 0:
            return []
        places = [-(-len(self._ends) * n // PARTS) - 1 for n in range(1, PARTS)]
        return [*(round(self._ends[place] / self._ends[-1], 3) for place in places), 1.0]

    def _even(self, done_s: float, waiting: int) -> float:
        """Return the work that would be done now if the run had the same speed all the time.

        done_s: the work that is done. waiting: the number of tests that wait for their repeat.
        """
        in_time = self._tests - self._repeated - waiting
        if not self._course or in_time <= 0:
            return min(done_s, self._all_s)
        part = min(len(self._ends) / in_time, 1.0) * PARTS
        at = min(int(part), PARTS - 1)
        before, after = self._course[at : at + 2]
        return self._all_s * (before + (after - before) * (part - at))

    def left_s(
        self, elapsed_s: float, first_s: float = 0.0, repeats_s: float = 0.0, waiting: int = 0
    ) -> float | None:
        """Return how many seconds the run still takes, or None if that cannot be estimated.

        The argument `elapsed_s` must not decrease from call to call.
        elapsed_s: seconds since the first test began.
        waiting: the number of tests that wait for their repeat.
        first_s: the work of their first attempts.
        repeats_s: the seconds that all repeats take in the end.
        """
        known = elapsed_s <= self._prior_s if self._speed else len(self._ends) >= MIN_ENDED
        if not (known or (self._speed and self._ends)):
            return None
        done_s = self._even(self.done_s + first_s, waiting)
        speed = (done_s + self._prior_s * self._speed) / max(elapsed_s + self._prior_s, 0.001)
        self._lately.append((elapsed_s, done_s))
        while len(self._lately) > 2 and self._lately[1][0] <= elapsed_s - LATELY_S:
            self._lately.popleft()
        then_s, before_s = self._lately[0]
        lately = (done_s - before_s + STEADY_S * speed) / (elapsed_s - then_s + STEADY_S)
        work_s = self._all_s - done_s
        left_s = (work_s / speed + work_s / lately) / 2 if speed and lately > 0 else 0.0
        return max(left_s, self._at_least_s - elapsed_s, 0.0) + repeats_s


def late_in_the_end(late: int, ended: int, of: int) -> float:
    """Return how many tests of one kind will be late, if `late` of the first `ended` ones are."""
    return late + late / (ended + IN_TIME) * (of - ended)


def line(
    done: int, of: int, elapsed_s: float, left_s: float | None, broken: int, late: int = 0
) -> str:
    """Return `210/640 tests · 12 s · about 43 s left · 3 fail`.

    late: the number of tests that are being repeated; 0 before that phase.
    """
    parts = [f"{done}/{of} tests", f"{elapsed_s:.0f} s"]
    if late:
        parts.append(f"repeats {many(late, 'late test')}")
    if left_s is not None and done < of:
        parts.append(f"about {duration(left_s)} left")
    if broken:
        parts.append(f"{broken} fail{'s' * (broken == 1)}")
    return " · ".join(parts)


def duration(seconds: float) -> str:
    """Return `43 s` or `3 min`. The estimate is not more exact than this."""
    return f"{max(seconds, 1):.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
