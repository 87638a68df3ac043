"""Run tests for `run -x`, which stops at the first failure in page order.

Bodies run in parallel, so a test that comes later on the pages may fail first. Its failure is final
only after each test before it has a verdict. The tests after it are cancelled at once.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from boxspec.judge.record import Record
from boxspec.judge.requirements import load
from boxspec.judge.verdict import BROKEN
from boxspec.schedule.body import Body
from boxspec.schedule.protocol import expect_no_stop, run_one
from boxspec.schedule.recording import STOP_S, Recorder
from boxspec.schedule.selection import requires_of
from boxspec.schedule.stash import RECORD
from boxspec.schedule.state import State

# A long test does not start while more than this many tests before it have no verdict. It would
# take processor time from the tests that decide.
AHEAD = 100


def in_page_order(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the tests of requirements, in the order of the pages."""
    places = {name: place for place, name in enumerate(load())}
    marked = [(item, marked) for item in items if (marked := requires_of(item))]
    marked.sort(key=lambda pair: min((places[name] for name in pair[1].ids), default=0))
    return [item for item, _ in marked]


def until_failure(
    session: pytest.Session,
    items: list[pytest.Item],
    state: State,
    recorder: Recorder,
    start_long: Callable[[list[pytest.Item]], None],
    stops: Callable[[Record], bool],
) -> list[str]:
    """Run tests until the first failure in the order of `items` is known.

    Return the names of the tests after this failure. Their results are left out.

    start_long: starts the bodies of the long tests among the given ones. The short ones are already
        queued.
    stops: returns True for the record of a failure that ends the run.
    """
    for item in items:
        if not Body.is_portable(item):
            run_one(session, item)
    started = first = 0
    before = items
    while True:
        while first < len(before) and _has_ended(before[first], recorder):
            first += 1
        if first == len(before):
            break
        ahead = max(started, min(len(before), first + AHEAD))
        start_long(items[started:ahead])
        started = ahead
        recorder.record_ended(STOP_S)
        expect_no_stop(session)
        before = _until_failing(items, stops)
    for item in items[len(before) :]:
        state.cancel(item.nodeid)
    # A late test may fail in its repeat. Then the tests after it are left out too.
    while late := [item for item in _until_failing(before, stops) if item.nodeid in recorder.late]:
        recorder.repeat_late(session, late[0])
    before = _until_failing(before, stops)
    return [item.nodeid for item in items[len(before) :]]


def _has_ended(item: pytest.Item, recorder: Recorder) -> bool:
    return RECORD in item.stash or item.nodeid in recorder.late


def _until_failing(items: list[pytest.Item], stops: Callable[[Record], bool]) -> list[pytest.Item]:
    """Return the tests up to the first one that is known to fail and ends the run, or all."""
    for place, item in enumerate(items):
        record = item.stash.get(RECORD, None)
        if record is not None and record.verdict in BROKEN and stops(record):
            return items[: place + 1]
    return items
