"""Estimate how long a run still takes, and write its progress in one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from boxspec.plural import many

# After this many seconds the speed of this run counts as much as that of earlier ones.
PRIOR_S = 30.0
# A long test mostly waits, at the same time as others: its share of work, measured with the
# reference on two processors. With it the speed is the same from the beginning to the end of a run.
LONG_SHARE = 0.05
# The number of ended tests from which their count is shown.
MIN_ENDED = 20


@dataclass(frozen=True)
class Durations:
    """The durations of earlier runs.

    topics: mean duration in seconds of a short test, by topic. Short tests run one after the other.
    speed: seconds of work that a run does in a second; 0 if unknown.
    """

    topics: Mapping[str, float] = field(default_factory=dict)
    speed: float = 0.0

    def weight(self, topic: str, long_s: float | None) -> float:
        """Return the work in seconds of a test of this topic.

        A topic that is not known counts as the average one. long_s: the duration of a long test.
        """
        if long_s is not None:
            return LONG_SHARE * long_s
        mean = sum(self.topics.values()) / len(self.topics) if self.topics else 1.0
        return self.topics.get(topic, mean)


class Pace:
    """The work of a run, for the estimate.

    weights: for each test the seconds of work that it stands for (see `Durations`).
    at_least_s: the duration of the run if the machine were idle: that of its longest test.
    speed: the expected seconds of work in a second, from earlier runs; 0 if unknown.
    """

    def __init__(self, weights: Iterable[float], at_least_s: float, speed: float) -> None:
        self._all_s, self._done_s, self._ended = sum(weights), 0.0, 0
        self._at_least_s, self._speed = at_least_s, speed

    def end(self, weight: float) -> None:
        """Note that a test of this weight has ended."""
        self._done_s += weight
        self._ended += 1

    @property
    def done_s(self) -> float:
        """Return the work that is done, in seconds."""
        return self._done_s

    def left_s(
        self, elapsed_s: float, first_s: float = 0.0, repeats_s: float = 0.0
    ) -> float | None:
        """Return how many seconds the run still takes, or None if that would be only a guess.

        elapsed_s: seconds since the first test began. first_s: the work of the first attempts that
        were late. repeats_s: the seconds that the repeats of these tests take in the end.
        """
        prior_s = PRIOR_S if self._speed else 0.0
        if not prior_s and self._ended < MIN_ENDED:
            return None
        done_s = self._done_s + first_s
        speed = (done_s + prior_s * self._speed) / max(elapsed_s + prior_s, 0.001)
        work_s = (self._all_s - done_s) / speed if speed else 0.0
        return max(work_s, self._at_least_s - elapsed_s, 0.0) + repeats_s


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
    """Return `43 s` or `3 min`: the estimate is not more exact."""
    return f"{max(seconds, 1):.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
