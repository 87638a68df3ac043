"""Second looks at what hung: a few beside each other, while no other test runs.

A body that hangs waits, so a few of them keep no machine busy, and a machine that is on time
decides about them (see target/patience.py). One after the other, those of a shim of bash took five
minutes.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future, wait
from functools import partial

import pytest

from boxspec.judge.verdict import Late
from boxspec.schedule.body import Body
from boxspec.schedule.choosing import says
from boxspec.schedule.overlap import Overlap
from boxspec.target.case import Box
from boxspec.target.hangs import AT_ONCE
from boxspec.target.look import Look
from boxspec.target.session import Session


class Beside:
    """The second looks of one session, by the test."""

    def __init__(self) -> None:
        self._pool = Overlap(AT_ONCE)
        self._asked: set[str] = set()
        self._boxes: dict[str, Box] = {}

    def look(self, items: Iterable[pytest.Item], shim: Session, gap_s: float) -> None:
        """At all of these that were not looked at yet; when it returns their bodies have ended."""
        self._pool.gap_s = gap_s
        begun = []
        for item in items:
            marked = says(item)
            if item.nodeid in self._asked or marked is None or marked.main_thread:
                continue
            box = Box(shim, item.nodeid, look=Look(2))
            self._asked.add(item.nodeid)
            self._boxes[item.nodeid] = box
            body = Body(item, marked)
            begun.append(self._pool.submit(item.nodeid, partial(body.run_and_sweep, box)))
        wait(begun)

    def take(self, name: str) -> tuple[Box, Future[float]] | None:
        """The case of the second look at a test, from now on the caller's, and what came of it."""
        box, future = self._boxes.pop(name, None), self._pool.get(name)
        return None if box is None or future is None else (box, future)

    def cancel(self) -> None:
        """Start nothing more."""
        self._pool.cancel()

    def close(self) -> None:
        """After the shims were interrupted: the cases that nobody took are over."""
        self._pool.join()
        for box in self._boxes.values():
            box.close(keep=False)


def hung(future: Future[float] | None) -> bool:
    """Whether a body that ran elsewhere ended because something did not come, nobody knows why."""
    if future is None or not future.done() or future.cancelled():
        return False
    why = future.exception()
    return isinstance(why, Late) and why.hang
