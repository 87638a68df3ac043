"""How long a run will take, as far as can be told while it runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

# The rest will be like the last so many seconds: the first ones are slower, when the long tests
# start beside them.
RECENT_S = 30.0


class Pace:
    """short: how many tests are done one after the other. long: what those that run beside them
    take each, in seconds, at most `beside` at once."""

    def __init__(self, short: int, long: list[float], beside: int) -> None:
        self.short = short
        self._at_least = max([*long, sum(long) / max(1, beside)], default=0.0)
        self._seen: deque[tuple[float, int]] = deque([(0.0, 0)])

    @classmethod
    def of(cls, seconds: Iterable[float | None], beside: int) -> Pace:
        """One entry a test: what it takes beside others, None for one that does not overlap."""
        every = list(seconds)
        long = [each for each in every if each is not None]
        return cls(len(every) - len(long), long, beside)

    def expected_s(self, elapsed_s: float, short_done: int) -> float | None:
        """The whole run in seconds; None while that would be a guess. Asked in order of time."""
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
    """`210/640 · 12 s of about 55 s · 3 not conforming · asks test_it again, alone`."""
    # Bodies that are done tell nothing about how long what is asked again will take.
    known = expected_s and expected_s > elapsed_s and done < of
    about = f" of about {expected_s:.0f} s" if known else ""
    bad = f" · {broken} not conforming" if broken else ""
    alone = f" · asks {again} again, alone" if again else ""
    return f"{done}/{of} · {elapsed_s:.0f} s{about}{bad}{alone}"
