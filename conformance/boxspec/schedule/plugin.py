"""The pytest plugin.

It defines options and the fixture `case`, runs bodies in parallel, and turns exceptions into
verdicts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import wait
from functools import partial
from pathlib import Path
from zlib import crc32

import pytest

from boxspec.errors import NotConforming, UsageError
from boxspec.judge.requires import Requires
from boxspec.judge.verdict import Late
from boxspec.schedule.body import Body, case_class, check_applicable
from boxspec.schedule.fail_fast import in_page_order, until_failure
from boxspec.schedule.loop import run_tests
from boxspec.schedule.options import add_options
from boxspec.schedule.recording import Recorder, apply_verdict, new_record, note_cases
from boxspec.schedule.repeat import Repeat
from boxspec.schedule.selection import (
    deselect_undeclared,
    is_of_other_topics,
    requires_of,
    select_tests,
)
from boxspec.schedule.session_info import PROPERTY, STOPS
from boxspec.schedule.stash import CASE, CASES, LATE, RECORD, SECONDS
from boxspec.schedule.state import STATE, State
from boxspec.schedule.worker import ClosedCase
from boxspec.subject.attempt import Attempt
from boxspec.subject.case import Case
from boxspec.subject.session import Session

MAX_GAP_S = 0.03


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[STATE] = State(config)
    config.pluginmanager.register(_Interrupted(), "boxspec-interrupted")


class _Interrupted:
    """Records the tests that had finished in other threads when a signal arrived."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        try:
            return (yield)
        except KeyboardInterrupt:
            state = session.config.stash[STATE]
            state.interrupt()
            state.info.record_ended()
            raise


def pytest_unconfigure(config: pytest.Config) -> None:
    state = config.stash.get(STATE, None)
    if state is not None:
        state.close()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if is_of_other_topics(collection_path, config) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    select_tests(config, items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    state = session.config.stash[STATE]
    if session.config.option.collectonly or not any(requires_of(item) for item in session.items):
        return None
    option = session.config.getoption
    threaded = not (option("boxspec_repeat") or hasattr(session.config, "workerinput"))
    if threaded:
        state.start_worker([item for item, _ in _short_tests(session.items)])
    try:
        shim = state.open()
    except (NotConforming, UsageError) as why:
        state.info.stop = why
        pytest.exit(str(why), returncode=2)
    deselect_undeclared(session, shim.capabilities)
    state.info.start_cpu_s = shim.start_cpu_s
    state.info.begun = True
    if option("boxspec_repeat"):
        repeat = Repeat(session, shim)
        repeat.run()
        state.info.repeat, state.info.flaky = repeat.lines(), repeat.flaky
        return True
    if threaded:
        recorder = Recorder(session, state)
        state.info.record_ended = recorder.record_ended
        state.info.late, state.info.repeats_s = recorder.late, recorder.repeats_s
        if option("boxspec_fail_fast"):
            items = in_page_order(session.items)
            _submit_short_bodies(_short_tests(items), state, shim)

            def start_long(some: list[pytest.Item]) -> None:
                _submit_long_bodies(_long_tests(some), state, shim)

            stops = session.config.stash.get(STOPS, lambda _: True)
            state.info.cut = until_failure(session, items, state, recorder, start_long, stops)
            return True
        _mix(session.items)
        longest_first = sorted(_long_tests(session.items), key=lambda pair: -pair[1].seconds)
        _submit_long_bodies(longest_first, state, shim)
        # Queue the short tests from the last to the first, because the main thread runs them from
        # the first.
        _submit_short_bodies(_short_tests(session.items[::-1]), state, shim)
        run_tests(session, state, recorder)
        return True
    return None


Test = tuple[pytest.Item, Requires]


def _mix(items: list[pytest.Item]) -> None:
    """Put the tests of each contract in an order that is unrelated to their topics, and the same in
    every run.

    If an implementation hangs in each test of some topic, these tests are spread over the tests of
    the contract, so the time left can be estimated from the tests that have ended. The contracts
    keep their order: this thread begins with those that wait for processes, and the worker with
    those that compute.
    """
    folders = list(dict.fromkeys(item.path.parent for item in items))
    items.sort(key=lambda item: (folders.index(item.path.parent), crc32(item.nodeid.encode())))


def _long_tests(items: list[pytest.Item]) -> Iterator[Test]:
    """Return the overlapping tests."""
    for item in items:
        marked = requires_of(item)
        if marked is not None and marked.overlap:
            yield item, marked


def _submit_long_bodies(tests: Iterable[Test], state: State, shim: Session) -> None:
    state.long_bodies.gap_s = min(MAX_GAP_S, shim.startup_ms / 1000 / len(os.sched_getaffinity(0)))
    for item, marked in tests:
        body = Body(item, marked)
        case = case_class(marked)(shim, item.nodeid)
        state.cases[item.nodeid] = case
        state.long_bodies.submit(item.nodeid, partial(body.run_and_sweep, case))


def _short_tests(items: list[pytest.Item]) -> Iterator[Test]:
    """Return the tests whose bodies may be in the queue of short bodies."""
    for item in items:
        marked = requires_of(item)
        here = marked is None or marked.overlap
        if marked is not None and not here and Body.is_portable(item):
            yield item, marked


def _submit_short_bodies(tests: Iterable[Test], state: State, shim: Session) -> None:
    for item, marked in tests:
        body = Body(item, marked)
        state.short_bodies.submit(item.nodeid, partial(_run_short_body, body, item, state, shim))


def _run_short_body(body: Body, item: pytest.Item, state: State, shim: Session) -> float:
    if state.worker is not None and state.worker.serves:
        result = state.worker.run(item.nodeid, body.marked.topic)
        if result is not None:
            state.cases[item.nodeid], outcome = result
            if isinstance(outcome, Exception):
                raise outcome
            return outcome
    case = state.cases[item.nodeid] = case_class(body.marked)(shim, item.nodeid)
    return body.run_and_sweep(case)


@pytest.fixture
def case(request: pytest.FixtureRequest) -> Generator[Case | ClosedCase, None, None]:
    state = request.config.stash[STATE]
    future = state.future_of(request.node.nodeid)
    if future is not None:
        wait([future])
    made = state.cases.pop(request.node.nodeid, None)
    if made is None:
        made = case_class(requires_of(request.node))(state.open(), request.node.nodeid)
    request.node.stash[CASE] = made
    request.node.stash[CASES] = [made]
    yield made
    made = request.node.stash[CASE]
    record = request.node.stash.get(RECORD, None)
    keep = record is not None and record.folder is not None
    made.close(keep=keep or request.config.getoption("boxspec_keep"))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    marked = requires_of(pyfuncitem)
    if marked is None:
        return None
    state = pyfuncitem.config.stash[STATE]
    try:
        return _first_attempt(pyfuncitem, marked, state)
    except Late as first:
        began = time.monotonic()
        pyfuncitem.stash[LATE] = ""
        with state.without_other_tests():
            run_attempt = partial(_repeat, Body(pyfuncitem, marked), pyfuncitem, state)
            pooled = _retry_in_pool(pyfuncitem, state) if first.hang else None
            pyfuncitem.stash[LATE] = state.retry.until_decided(run_attempt, first, pooled=pooled)
        pyfuncitem.stash[SECONDS] = time.monotonic() - began
        return True


def _first_attempt(item: pytest.Function, marked: Requires, state: State) -> bool | None:
    future = state.future_of(item.nodeid)
    if future is not None:
        item.stash[SECONDS] = future.result()
        return True
    check_applicable(marked, state.open())
    case = item.stash.get(CASE, None)
    if not isinstance(case, Case) or not Body.is_portable(item):
        return None
    Body(item, marked).run(case)
    return True


def _retry_in_pool(item: pytest.Function, state: State) -> Callable[[], float] | None:
    """Repeat all hung tests in the retry pool, and return a function for the result of this
    test."""
    bodies = {
        each.nodeid: (case_class(marked), Body(each, marked).run_and_sweep)
        for each in (item, *state.have_hung(item.session.items))
        if (marked := requires_of(each))
    }
    state.retry_pool.run(bodies, state.open(), state.long_bodies.gap_s)
    found = state.retry_pool.take_over(item.nodeid)
    if found is None:
        return None
    case, future = found
    _replace_case(item, case, state)
    return future.result


def _repeat(body: Body, item: pytest.Function, state: State, attempt: Attempt) -> None:
    case = case_class(body.marked)(state.open(), item.nodeid, attempt=attempt)
    body.run_and_sweep(_replace_case(item, case, state))


def _replace_case(item: pytest.Function, case: Case, state: State) -> Case:
    """Close the test's current case and replace it by this one."""
    item.stash[CASE].close(keep=state.config.getoption("boxspec_keep"))
    item.stash[CASE] = case
    item.stash[CASES].append(case)
    return case


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    marked = requires_of(item)
    if marked is None:
        return report
    record = item.stash.get(RECORD, None)
    if record is None:
        record = item.stash[RECORD] = new_record(item, marked)
    if call.when == "call":
        record.seconds = round(_seconds(item, call), 4)
        record.reason = item.stash.get(LATE, "")
        record.late = LATE in item.stash
        note_cases(record, item.stash.get(CASES, []), conforms=call.excinfo is None)
    if call.excinfo is not None:
        apply_verdict(item, call.excinfo.value, record, report, item.stash.get(CASE, None))
    if call.when == "teardown":
        item.user_properties.append((PROPERTY, record.to_json()))
        report.user_properties = list(item.user_properties)
    return report


def _seconds(item: pytest.Item, call: pytest.CallInfo[None]) -> float:
    """Return the duration of the test body in seconds, as measured in the thread that ran it.

    If the body failed, only its case has the duration.
    """
    case = item.stash.get(CASE, None)
    if SECONDS not in item.stash and case is not None and case.seconds is not None:
        return case.seconds
    return item.stash.get(SECONDS, call.duration)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    lines = config.stash[STATE].info.repeat
    for line in ["", *lines] if lines else []:
        terminalreporter.write_line(line)
