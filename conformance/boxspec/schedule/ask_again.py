"""What came too late, and may be the machine's doing, is asked again: alone, in front of others.

Nobody is accused of lateness that may be the machine's, and nobody conforms by it: whoever is on
time at one of these looks conforms, whoever is late by itself fails, and what stays open was not
measured. Something that did not come at all is asked once more, and before that beside others that
did not come either.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

from boxspec.judge.verdict import Failure, Late, NotMeasured
from boxspec.subject.look import Look
from boxspec.subject.observe.realtime import realtime

# With the first look.
LOOKS = 5
# So long is spent on what stays open: a machine that is late for minutes will be so for more.
MOST_IN_VAIN_S = 120.0

# The test, asked in a case of its own.
Ask = Callable[[Look], object]


class AskAgain:
    """For the tests of one session."""

    def __init__(self) -> None:
        self.in_vain_s = 0.0

    def until_decided(
        self,
        ask: Ask,
        first: Late,
        *,
        beside: Callable[[], object] | None = None,
        alone: bool = True,
        in_front: bool = True,
    ) -> str:
        """Ask until one look decides; what was seen at the others, in words.

        beside: what a second look came to that was had beside others (schedule/beside.py).
        alone: no other test runs meanwhile. in_front: it goes in front of all other programs where
        that is allowed, which only one test may do at a time.
        Raises what decides against the target: Failure; or NotMeasured, when none does. What did
        not come at all, twice, is a failure where it ran in front of all others.
        """
        seen = [first]
        if beside is not None:
            try:
                beside()
            except Late as why:
                seen.append(why)
            except Failure as why:
                raise _with_first(why, first) from None
            else:
                return _late(seen)
        while len(seen) < LOOKS and self.in_vain_s < MOST_IN_VAIN_S:
            began = time.monotonic()
            try:
                with _look(len(seen) + 1, alone, in_front) as look:
                    self._once(ask, look)
            except _Obstacle:
                in_front = False
                continue
            except Late as why:
                self.in_vain_s += time.monotonic() - began
                seen.append(why)
                if why.hang and look.realtime:
                    raise _with_first(why.failure(), first) from None
                if why.hang:
                    break
            except Failure as why:
                raise _with_first(why, first) from None
            else:
                return _late(seen)
        times = "once" if len(seen) == 1 else f"in each of {len(seen)} looks"
        raise NotMeasured(f"late {times}: {seen[-1]}") from None

    @staticmethod
    def _once(ask: Ask, look: Look) -> None:
        try:
            ask(look)
        except Late:
            raise
        except Exception as why:
            if look.realtime and not getattr(why, "timed", False):
                raise _Obstacle from why
            raise


class _Obstacle(Exception):
    """In front of all others a run behaved otherwise, such as one that computes without a pause and
    is ended: that is no way to judge it."""


@contextlib.contextmanager
def _look(number: int, alone: bool, in_front: bool) -> Iterator[Look]:
    if not in_front:
        yield Look(number, alone)
        return
    with realtime() as allowed:
        yield Look(number, alone, allowed)


def _late(seen: list[Late]) -> str:
    return f"late in {len(seen)} of {len(seen) + 1} looks: {seen[0]}"


def _with_first(why: Failure, first: Late) -> Failure:
    why.evidence.setdefault("first look", f"{first.what}: {first.got}")
    return why
