"""The pytest plugin: options, the `box` fixture, overlapping bodies, verdicts out of exceptions."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from concurrent.futures import wait
from functools import partial
from pathlib import Path

import pytest

from boxspec.errors import NotConforming, UsageError
from boxspec.judge.block import failure_block
from boxspec.judge.marks import Requires
from boxspec.judge.record import Record
from boxspec.judge.verdict import BROKEN, Late, NotApplicable, NotMeasured, Verdict
from boxspec.schedule.body import Body, applicable
from boxspec.schedule.choosing import choose, is_of_other_topics, leave_undeclared, says
from boxspec.schedule.ending import PROPERTY
from boxspec.schedule.fail_fast import until_failure
from boxspec.schedule.keys import BOX, LATE, LOOKS, RECORD, SECONDS
from boxspec.schedule.options import add_options
from boxspec.schedule.repeat import Repeat
from boxspec.schedule.state import STATE, State
from boxspec.target.case import Box
from boxspec.target.look import Look
from boxspec.target.session import Session

MAX_GAP_S = 0.03


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[STATE] = State(config)


def pytest_unconfigure(config: pytest.Config) -> None:
    state = config.stash.get(STATE, None)
    if state is not None:
        state.close()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if is_of_other_topics(collection_path, config) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    choose(config, items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    state = session.config.stash[STATE]
    if session.config.option.collectonly or not any(says(item) for item in session.items):
        return None
    try:
        shim = state.open()
    except (NotConforming, UsageError) as why:
        state.ending.stop = why
        pytest.exit(str(why), returncode=2)
    leave_undeclared(session, shim.capabilities)
    if session.config.getoption("boxspec_repeat"):
        repeat = Repeat(session, shim)
        repeat.run()
        state.ending.repeat, state.ending.flaky = repeat.lines(), repeat.flaky
        return True
    if session.config.getoption("boxspec_fail_fast"):
        _submit(session.items, state, shim)
        until_failure(session, state.overlap)
        return True
    if not hasattr(session.config, "workerinput"):
        _submit(session.items, state, shim)
        _fill_lane(session.items, state, shim)
    return None


def _submit(items: list[pytest.Item], state: State, shim: Session) -> None:
    """Start the bodies of the overlapping tests, the longest first."""
    state.overlap.gap_s = min(MAX_GAP_S, shim.startup_ms / 1000 / len(os.sched_getaffinity(0)))
    overlapping = [(item, marked) for item in items if (marked := says(item)) and marked.overlap]
    overlapping.sort(key=lambda pair: -pair[1].seconds)
    for item, marked in overlapping:
        body = Body(item, marked)
        box = Box(shim, item.nodeid)
        state.boxes[item.nodeid] = box
        state.overlap.submit(item.nodeid, partial(body.run_and_sweep, box))


def _fill_lane(items: list[pytest.Item], state: State, shim: Session) -> None:
    """The short bodies, from the last one on."""
    for item in reversed(items):
        marked = says(item)
        here = marked is None or marked.overlap or marked.main_thread
        if marked is not None and not here and Body.is_portable(item):
            body = Body(item, marked)
            state.lane.submit(item.nodeid, partial(_run_in_lane, body, item, state, shim))


def _run_in_lane(body: Body, item: pytest.Item, state: State, shim: Session) -> float:
    box = state.boxes[item.nodeid] = Box(shim, item.nodeid)
    return body.run_and_sweep(box)


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


@pytest.fixture
def box(request: pytest.FixtureRequest) -> Generator[Box, None, None]:
    """The world of one case."""
    yield take_box(request.node)
    give_box_back(request.node)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    marked = says(pyfuncitem)
    return None if marked is None else look(pyfuncitem, marked)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    marked = says(item)
    if marked is None:
        return report
    record = record_of(item, marked)
    if call.when == "call":
        measure(item, record, call.duration, passed=call.excinfo is None)
    if call.excinfo is not None:
        blame(item, record, call.excinfo.value)
        _tell(item, call.excinfo.value, record, report)
    if call.when == "teardown":
        item.user_properties.append((PROPERTY, record.to_json()))
        report.user_properties = list(item.user_properties)
    return report


def _tell(item: pytest.Item, why: BaseException, record: Record, report: pytest.TestReport) -> None:
    """The verdict in pytest's words."""
    if isinstance(why, NotMeasured | NotApplicable):
        report.outcome = "skipped"
        path, line, _ = item.location
        report.longrepr = (path, (line or 0) + 1, f"{record.verdict}: {why}")
    elif record.verdict in BROKEN:
        report.outcome = "failed"
        report.longrepr = failure_block(
            record,
            item.config.getoption("boxspec_shim"),
            item.config.getoption("boxspec_backend"),
        )


# The short way, in the kit's own runs: pytest's makes fixtures that nearly no test uses, copies
# keywords, and asks some fifty hooks for each of three phases, which took as long as a short case
# itself. Nobody reads those reports there: the record is the report. A test with anything else than
# a box goes pytest's way.

# Marks that do not change how a test is run.
HARMLESS = frozenset({"requires", "timing", "stress", "long", "parametrize"})


# Where a function stands: most are many tests, and pytest asks for each.
PLACES = pytest.StashKey[dict[object, tuple[str, int | None]]]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    if not item.config.getoption("boxspec_records_only"):
        return None
    marked = says(item)
    if marked is None or not isinstance(item, pytest.Function) or not _has_only_a_box(item):
        return None
    _place(item)
    record = record_of(item, marked)
    try:
        _look_and_measure(item, marked, record)
    finally:
        if BOX in item.stash:
            _closed(item, record)
    bad = record.verdict in BROKEN or record.verdict is Verdict.HARNESS_ERROR
    report = pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords={},
        outcome="failed" if bad else "passed",
        longrepr=record.reason or None,
        when="teardown",
        user_properties=[(PROPERTY, record.to_json())],
    )
    item.config.hook.pytest_runtest_logreport(report=report)
    return True


def _look_and_measure(item: pytest.Function, marked: Requires, record: Record) -> None:
    began = time.perf_counter()
    try:
        take_box(item)
        began = time.perf_counter()
        assert look(item, marked)
    except (KeyboardInterrupt, pytest.exit.Exception):
        raise
    except BaseException as why:
        measure(item, record, time.perf_counter() - began, passed=False)
        blame(item, record, why)
    else:
        measure(item, record, time.perf_counter() - began, passed=True)


def _place(item: pytest.Function) -> None:
    places = item.config.stash.setdefault(PLACES, {})
    known = places.get(item.function)
    if known is None:
        places[item.function] = item.location[:2]
    else:
        item.location = (*known, item.name)


def _closed(item: pytest.Item, record: Record) -> None:
    try:
        give_box_back(item)
    except Exception as why:
        blame(item, record, why)


def _has_only_a_box(item: pytest.Function) -> bool:
    params = item.callspec.params if hasattr(item, "callspec") else {}
    return all(name == "box" or name in params for name in item.fixturenames) and all(
        mark.name in HARMLESS for mark in item.iter_markers()
    )


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    lines = config.stash[STATE].ending.repeat
    for line in ["", *lines] if lines else []:
        terminalreporter.write_line(line)
