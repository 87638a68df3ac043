"""Bounds of time in a case: between two stamps, or beyond another run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from boxspec.judge.timing import Timing
from boxspec.target.observe.stamps import ENDING_MS, Stamp, elapsed_ms
from boxspec.target.observed import FromOutside
from boxspec.target.waiting import Run, waited_between


class Stage(Protocol):
    """The case that such a bound belongs to."""

    @property
    def lives(self) -> Sequence[Run]: ...

    def note(self, timing: Timing) -> Timing: ...


def expect_within(box: Stage, what: str, since: Stamp, until: Stamp, limit_ms: float) -> None:
    """From one stamp to another it takes no longer than that."""
    waited_ms, seen = waited_between(box.lives, since, until)
    took_ms = elapsed_ms(since, until)
    box.note(Timing(what, limit_ms, until.spare_ms, took_ms, waited_ms, seen)).judge()


def expect_no_longer(
    box: Stage, what: str, seen: FromOutside, control: FromOutside, limit_ms: float
) -> None:
    """One run takes no longer than another and that."""
    ours, all_seen = waited_between(box.lives, seen.start, seen.end)
    theirs, all_theirs = waited_between(box.lives, control.start, control.end)
    # A control that was kept waiting would hide what is looked for.
    took_ms = seen.elapsed_ms - control.elapsed_ms + theirs
    waited_ms = min(ours + theirs, max(0.0, took_ms))
    whole = all_seen and all_theirs
    box.note(Timing(what, limit_ms, ENDING_MS, took_ms, waited_ms, whole)).judge()
