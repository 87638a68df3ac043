"""A test's turn: its box, its looks, and the record that is left of it."""

from __future__ import annotations

import time
from concurrent.futures import wait
from functools import partial

import pytest

from boxspec.judge.marks import Requires
from boxspec.judge.record import Record
from boxspec.judge.verdict import BROKEN, Late, NotApplicable, NotMeasured, Verdict
from boxspec.schedule.body import Body, applicable
from boxspec.schedule.keys import BOX, LATE, LOOKS, RECORD, SECONDS
from boxspec.schedule.state import STATE, State
from boxspec.target.case import Box
from boxspec.target.look import Look


def take_box(item: pytest.Item) -> Box:
    """The world of one case: a new one, or that of a body that ran elsewhere."""
    state = item.config.stash[STATE]
    future = state.elsewhere(item.nodeid)
    if future is not None:
        wait([future])
    box = state.boxes.pop(item.nodeid, None)
    if box is None:
        box = Box(state.open(), item.nodeid)
    item.stash[BOX] = box
    item.stash[LOOKS] = [box]
    return box


def give_box_back(item: pytest.Item) -> None:
    """The box of its last look is kept with what the test left there, or goes."""
    record = item.stash.get(RECORD, None)
    keep = record is not None and record.folder is not None
    item.stash[BOX].close(keep=keep or item.config.getoption("boxspec_keep"))


def look(item: pytest.Function, marked: Requires) -> bool | None:
    """Ask, and ask again what came late; None where pytest has to call the test."""
    state = item.config.stash[STATE]
    try:
        return _first_look(item, marked, state)
    except Late as first:
        began = time.monotonic()
        item.stash[LATE] = ""
        with state.alone() as alone:
            ask = partial(_ask, Body(item, marked), item, state)
            item.stash[LATE] = state.again.until_decided(ask, first, alone=alone)
        item.stash[SECONDS] = time.monotonic() - began
        return True


def _first_look(item: pytest.Function, marked: Requires, state: State) -> bool | None:
    future = state.elsewhere(item.nodeid)
    if future is not None:
        item.stash[SECONDS] = future.result()
        return True
    applicable(marked, state.open())
    box = item.stash.get(BOX, None)
    if box is None or not Body.is_portable(item):
        return None
    Body(item, marked).run(box)
    return True


def _ask(body: Body, item: pytest.Function, state: State, look: Look) -> None:
    body.run_and_sweep(_next_box(item, state, look))


def _next_box(item: pytest.Function, state: State, look: Look) -> Box:
    item.stash[BOX].close(keep=item.config.getoption("boxspec_keep"))
    box = item.stash[BOX] = Box(state.open(), item.nodeid, look=look)
    item.stash[LOOKS].append(box)
    return box


def record_of(item: pytest.Item, marked: Requires) -> Record:
    record = item.stash.get(RECORD, None)
    if record is None:
        line = (item.location[1] or 0) + 1
        record = Record(item.nodeid, list(marked.ids), line=line, needs=list(marked.needs))
        item.stash[RECORD] = record
    return record


def measure(item: pytest.Item, record: Record, seconds: float, passed: bool) -> None:
    """What the looks took; `seconds`, if no look tells it."""
    record.seconds = round(_seconds(item, seconds), 4)
    record.reason = item.stash.get(LATE, "")
    record.late = LATE in item.stash
    boxes = item.stash.get(LOOKS, [])
    record.timing = [each.to_json() for box in boxes for each in box.timings]
    record.shim_seconds = round(sum(box.shim_seconds for box in boxes), 4)
    if passed and boxes and boxes[-1].questions:
        record.cases = [0, boxes[-1].questions]


def _seconds(item: pytest.Item, seconds: float) -> float:
    """What the body took where it ran; a body that failed has told its box alone."""
    box = item.stash.get(BOX, None)
    if SECONDS not in item.stash and box is not None and box.seconds is not None:
        return box.seconds
    return item.stash.get(SECONDS, seconds)


def blame(item: pytest.Item, record: Record, why: BaseException) -> None:
    """Take what a look raised, and what its box has to show."""
    record.blame(why)
    box = item.stash.get(BOX, None)
    if box is None or isinstance(why, NotMeasured | NotApplicable):
        return
    record.request = box.request_text(why)
    if record.verdict in BROKEN:
        record.evidence = {**box.outside(why), **record.evidence}
    if record.verdict in BROKEN or record.verdict is Verdict.HARNESS_ERROR:
        record.folder = str(box.folder)
