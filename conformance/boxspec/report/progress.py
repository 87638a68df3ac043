"""Estimate the duration of a run while it runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

# The estimate uses only the last 30 s, because tests are slower at the beginning, while the long
# ones start.
RECENT_S = 30.0


class Pace:
    """The tests of a run, for the estimate.

    short: number of tests that run one after the other.
    long: durations in seconds of the tests that run at the same time as these.
    at_once: how many long tests run at once.
    """

    def __init__(self, short: int, long: list[float], at_once: int) -> None:
        self.short = short
        self._at_least = max([*long, sum(long) / max(1, at_once)], default=0.0)
        self._seen: deque[tuple[float, int]] = deque([(0.0, 0)])

    @classmethod
    def of(cls, seconds: Iterable[float | None], at_once: int) -> Pace:
        """Create it from one entry per test: the duration of a long test, None for a short one."""
        every = list(seconds)
        long = [each for each in every if each is not None]
        return cls(len(every) - len(long), long, at_once)

    def expected_s(self, elapsed_s: float, short_done: int) -> float | None:
        """Return the estimated duration of the whole run in seconds, or None if it would be only a
        guess.

        Calls must be in the order of time.
        """
        self._seen.append((elapsed_s, short_done))
        while elapsed_s - self._seen[1][0] >= RECENT_S:
            self._seen.popleft()
        since_s, since = self._seen[0]
        if short_done >= self.short:
            return max(self._at_least, elapsed_s)
        if short_done == since:
            return None
        rate = (short_done - since) / (elapsed_s - since_s)
        return max(self._at_least, elapsed_s + (self.short - short_done) / rate)


def progress(
    done: int, of: int, elapsed_s: float, expected_s: float | None, broken: int, again: str = ""
) -> str:
    """Return `210/640 · 12 s of about 55 s · 3 tests fail · re-running test_it with no other
    test`."""
    # The estimate does not include tests that are being repeated.
    known = expected_s and expected_s > elapsed_s and done < of
    about = f" of about {expected_s:.0f} s" if known else ""
    bad = f" · {broken} test{'s' * (broken > 1)} fail{'s' * (broken == 1)}" if broken else ""
    alone = f" · re-running {again} with no other test" if again else ""
    return f"{done}/{of} · {elapsed_s:.0f} s{about}{bad}{alone}"
