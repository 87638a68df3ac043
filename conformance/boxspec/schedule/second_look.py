"""What took too long is looked at a second time, when the tests that overlap are done.

Thirty shims that run beside each other, on a machine that others use as well, can be late by more
than the pacer sees: it sleeps most of the time, and who sleeps is let on first. So nobody is
accused of lateness that does not come again; it is told.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from concurrent.futures import wait

import pytest

from boxspec.judge.verdict import Failure
from boxspec.schedule.body import Body
from boxspec.schedule.choosing import says
from boxspec.schedule.keys import BOX, LATE_ONCE, SECONDS
from boxspec.schedule.overlap import Overlap
from boxspec.target.case import Box
from boxspec.target.session import Session

# A shim that is late again and again is late: so long is spent to be sure of it.
MOST_IN_VAIN_S = 90.0


class SecondLook:
    """A pytest plugin around the call of each test."""

    def __init__(self, shim: Callable[[], Session], overlap: Overlap) -> None:
        self.shim = shim
        self.overlap = overlap
        # Requirements of which it has come again: one such test decides them.
        self.confirmed: set[str] = set()
        self.in_vain_s = 0.0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_pyfunc_call(
        self, pyfuncitem: pytest.Function
    ) -> Generator[None, object | None, object | None]:
        try:
            return (yield)
        except Failure as why:
            if not self._is_due(pyfuncitem, why):
                raise
            first = why
        self._look(pyfuncitem, first)
        return True

    def _is_due(self, item: pytest.Function, why: Failure) -> bool:
        marked = says(item)
        if marked is None or not why.late or item.stash.get(BOX, None) is None:
            return False
        if self.in_vain_s > MOST_IN_VAIN_S:
            return False
        return Body.is_portable(item) and not self.confirmed.issuperset(marked.ids)

    def _look(self, item: pytest.Function, first: Failure) -> None:
        marked = says(item)
        assert marked is not None
        # Who asks for the first failure does not wait for all the others.
        if not item.config.getoption("boxspec_fail_fast"):
            wait(self.overlap.futures())
        item.stash[BOX].close(keep=False)
        began = time.monotonic()
        box = item.stash[BOX] = Box(self.shim(), item.nodeid)
        try:
            Body(item, marked).run_and_sweep(box)
        except Failure as why:
            self.confirmed.update(marked.ids)
            self.in_vain_s += time.monotonic() - began
            why.evidence.setdefault("first look", f"{first.what}: {first.got}")
            raise
        else:
            seen = f"{first.what}: {first.got}, expected {first.expected}"
            item.stash[LATE_ONCE] = f"late once and not again: {seen}"
        finally:
            item.stash[SECONDS] = time.monotonic() - began
