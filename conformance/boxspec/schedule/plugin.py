"""The pytest plugin: options, the `box` fixture, overlapping bodies, verdicts out of exceptions."""

from __future__ import annotations

import os
from collections.abc import Generator
from functools import partial
from pathlib import Path

import pytest

from boxspec.errors import NotConforming, UsageError
from boxspec.judge.block import failure_block
from boxspec.judge.record import Record
from boxspec.judge.verdict import BROKEN, NotApplicable, NotMeasured
from boxspec.schedule.body import Body
from boxspec.schedule.choosing import choose, is_of_other_topics, leave_undeclared, says
from boxspec.schedule.ending import PROPERTY
from boxspec.schedule.fail_fast import until_failure
from boxspec.schedule.options import add_options
from boxspec.schedule.repeat import Repeat
from boxspec.schedule.state import STATE, State
from boxspec.schedule.turn import blame, give_box_back, look, measure, record_of, take_box
from boxspec.target.case import Box
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


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    lines = config.stash[STATE].ending.repeat
    for line in ["", *lines] if lines else []:
        terminalreporter.write_line(line)
