"""Run tests for `run -x`, which stops at the first failure in page order."""

from __future__ import annotations

import sys

import pytest

from boxspec.judge.requirements import load
from boxspec.judge.verdict import BROKEN
from boxspec.schedule.protocol import run_one
from boxspec.schedule.selection import requires_of
from boxspec.schedule.stash import RECORD


def until_failure(session: pytest.Session) -> None:
    """Run tests in the order of their requirements on the pages until one fails.

    The bodies of overlapping tests run meanwhile, so which test fails first in time depends on the
    machine.
    """
    places = {name: place for place, name in enumerate(load())}
    for item in sorted(session.items, key=lambda each: _place(each, places)):
        run_one(session, item)
        record = item.stash.get(RECORD, None)
        if record is not None and record.verdict in BROKEN:
            return


def _place(item: pytest.Item, places: dict[str, int]) -> int:
    marked = requires_of(item)
    return min((places[name] for name in marked.ids), default=0) if marked else sys.maxsize
