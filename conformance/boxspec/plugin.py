"""The pytest plugin: options, the `box` fixture, overlapping bodies, verdicts out of exceptions."""

from __future__ import annotations

import inspect
import os
import re
import time
from collections.abc import Generator
from concurrent.futures import Future, wait
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from boxspec.case import Box
from boxspec.choosing import choose, is_of_other_topics, leave_undeclared, says
from boxspec.client.command import shim_argv
from boxspec.errors import NotConforming, UsageError
from boxspec.first import RECORD, until_first
from boxspec.marks import Requires
from boxspec.overlap import THREADS, Overlap
from boxspec.record import Record
from boxspec.repeat import Repeat
from boxspec.requirements import contract_of, load
from boxspec.second import BOX, LATE_ONCE, SECONDS, SecondLook
from boxspec.session import Session
from boxspec.smoke import trust
from boxspec.verdict import BROKEN, NotApplicable, NotMeasured, Verdict

PROPERTY = "boxspec"
MAX_GAP_S = 0.03


class State:
    """What one pytest session holds; made in pytest_configure, closed in pytest_unconfigure."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.session: Session | None = None
        self.overlap = Overlap(config.getoption("boxspec_jobs"))
        # Short bodies, from the last one on: the main thread comes to meet it. Most of a short case
        # is waiting for processes to start and end, and there is more than one processor.
        self.lane = Overlap(threads=1)
        self.boxes: dict[str, Box] = {}
        self.repeat: Repeat | None = None
        self.stop: BaseException | None = None

    def open(self) -> Session:
        """The shim's session, trusted; the first caller starts it."""
        if self.session is None:
            option = self.config.getoption
            session = Session(
                shim_argv(option("boxspec_shim")),
                seed=option("boxspec_seed"),
                busy=option("boxspec_busy"),
            )
            try:
                trust(session, contracts=option("boxspec_contracts"))
            except BaseException:
                session.close()
                raise
            self.session = session
        return self.session

    def elsewhere(self, key: str) -> Future[float] | None:
        """A body that runs or ran in another thread; None leaves it to the caller."""
        future = self.overlap.get(key)
        if future is not None:
            return future
        future = self.lane.get(key)
        return None if future is None or future.cancel() else future

    def close(self) -> None:
        self.overlap.cancel()
        self.lane.cancel()
        if self.session is not None:
            self.session.interrupt()
            self.overlap.join()
            self.lane.join()
            for box in self.boxes.values():
                box.close(keep=False)
            self.session.close()


STATE = pytest.StashKey[State]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("boxspec", "conformance of a sandbox (boxspec)")
    add = group.addoption
    add("--shim", dest="boxspec_shim", metavar="CMD", help="the shim (default: the reference)")
    add(
        "--contract",
        dest="boxspec_contracts",
        action="append",
        metavar="NAME",
        help="only this contract (repeatable; default: what the shim declares)",
    )
    add(
        "--profile",
        dest="boxspec_profile",
        choices=("contract", "hardened", "all"),
        help="only requirements of this profile",
    )
    add(
        "--requirement",
        dest="boxspec_requirements",
        action="append",
        metavar="ID",
        help="only tests that decide this requirement (repeatable)",
    )
    add(
        "--topic",
        dest="boxspec_topics",
        action="append",
        metavar="TOPIC",
        help="only tests of this topic (repeatable)",
    )
    add(
        "--focus",
        dest="boxspec_focus",
        metavar="TOPIC",
        help="all tests of this topic, and one of each other requirement",
    )
    add("--seed", dest="boxspec_seed", type=int, default=0, help="decides what is varied")
    add("--repeat", dest="boxspec_repeat", type=int, metavar="N", help="run each test N times")
    add("--repeat-file", dest="boxspec_repeat_file", metavar="FILE", help="results, resumable")
    add("--first", dest="boxspec_first", action="store_true", help="end with the first failure")
    add("--keep", dest="boxspec_keep", action="store_true", help="keep every case folder")
    add("--busy", dest="boxspec_busy", type=int, default=0, metavar="N", help="N busy loops beside")
    add(
        "--overlap",
        dest="boxspec_jobs",
        type=int,
        default=THREADS,
        metavar="N",
        help=f"at most N long tests at once (default {THREADS})",
    )


def pytest_configure(config: pytest.Config) -> None:
    state = config.stash[STATE] = State(config)
    config.pluginmanager.register(SecondLook(state))


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
        state.stop = why
        pytest.exit(str(why), returncode=2)
    leave_undeclared(session, shim)
    if session.config.getoption("boxspec_repeat"):
        state.repeat = Repeat(session, shim, says)
        state.repeat.run()
        return True
    if session.config.getoption("boxspec_first"):
        _submit(session.items, state, shim)
        until_first(session, state)
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
        box = Box(shim, folder_name(item))
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
    box = state.boxes[item.nodeid] = Box(shim, folder_name(item))
    return body.run_and_sweep(box)


def folder_name(item: pytest.Item) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", item.name).strip("-")


class Body:
    """A test's function with everything but its box: it runs in any thread, any number of times."""

    @staticmethod
    def is_portable(item: pytest.Item) -> bool:
        """Whether it needs nothing but its box and parameters."""
        return not Body._strange(item)

    @staticmethod
    def _strange(item: pytest.Item) -> list[str]:
        assert isinstance(item, pytest.Function)
        params = item.callspec.params if hasattr(item, "callspec") else {}
        names = inspect.signature(item.obj).parameters
        return [name for name in names if name != "box" and name not in params]

    def __init__(self, item: pytest.Item, marked: Requires) -> None:
        assert isinstance(item, pytest.Function)
        params = dict(item.callspec.params) if hasattr(item, "callspec") else {}
        names = list(inspect.signature(item.obj).parameters)
        strange = self._strange(item)
        if strange:
            raise pytest.UsageError(
                f"{item.nodeid}: an overlapping test uses only box and parameters, not {strange}"
            )
        self.needs_box = "box" in names
        self.arguments = {name: params[name] for name in names if name != "box"}
        self.function = item.obj
        self.marked = marked

    def run(self, box: Box) -> None:
        applicable(self.marked, box.session)
        given: dict[str, Any] = dict(self.arguments)
        if self.needs_box:
            given["box"] = box
        self.function(**given)

    def run_and_sweep(self, box: Box) -> float:
        """The seconds that it took; nothing of it runs on."""
        start = time.monotonic()
        try:
            self.run(box)
            return time.monotonic() - start
        finally:
            box.sweep()


def applicable(marked: Requires, shim: Session) -> None:
    missing = [name for name in needed(marked) if name not in shim.capabilities]
    if missing:
        raise NotApplicable(f"the shim does not declare {', '.join(missing)}")


def needed(marked: Requires) -> list[str]:
    """The capabilities without which a test cannot be asked."""
    names = dict.fromkeys(marked.capabilities)
    for each in marked.ids:
        names.update(dict.fromkeys([load()[each].capability or contract_of(each)]))
    # Globs can be had without policies, everything else only with its contract.
    if set(names) != {"glob"}:
        names.setdefault(contract_of(marked.ids[0]))
    return list(names)


@pytest.fixture
def box(request: pytest.FixtureRequest) -> Generator[Box, None, None]:
    """The world of one case."""
    state = request.config.stash[STATE]
    future = state.elsewhere(request.node.nodeid)
    if future is not None:
        wait([future])
    made = state.boxes.pop(request.node.nodeid, None)
    if made is None:
        made = Box(state.open(), folder_name(request.node))
    request.node.stash[BOX] = made
    yield made
    made = request.node.stash[BOX]
    record = request.node.stash.get(RECORD, None)
    keep = record is not None and record.folder is not None
    made.close(keep=keep or request.config.getoption("boxspec_keep"))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    marked = says(pyfuncitem)
    if marked is None:
        return None
    state = pyfuncitem.config.stash[STATE]
    future = state.elsewhere(pyfuncitem.nodeid)
    if future is None:
        applicable(marked, state.open())
        return None
    pyfuncitem.stash[SECONDS] = future.result()
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    marked = says(item)
    if marked is None:
        return report
    record = item.stash.get(RECORD, None)
    if record is None:
        record = item.stash[RECORD] = Record(item.nodeid, list(marked.ids))
    if call.when == "call":
        seconds: float = item.stash.get(SECONDS, call.duration)
        record.seconds = round(seconds, 4)
        record.reason = item.stash.get(LATE_ONCE, "")
    if call.excinfo is not None:
        _judge(item, call.excinfo.value, record, report)
    if call.when == "teardown":
        item.user_properties.append((PROPERTY, record.to_json()))
        report.user_properties = list(item.user_properties)
    return report


def _judge(
    item: pytest.Item, why: BaseException, record: Record, report: pytest.TestReport
) -> None:
    record.blame(why)
    box = item.stash.get(BOX, None)
    if isinstance(why, NotMeasured | NotApplicable):
        report.outcome = "skipped"
        path, line, _ = item.location
        report.longrepr = (path, (line or 0) + 1, f"{record.verdict}: {why}")
        return
    if box is not None:
        record.request = box.request_text()
        if record.verdict in BROKEN:
            record.evidence = {**box.outside(), **record.evidence}
        if record.verdict in BROKEN or record.verdict is Verdict.HARNESS_ERROR:
            record.folder = str(box.folder)
    if record.verdict in BROKEN:
        from boxspec.report.block import failure_block

        report.outcome = "failed"
        report.longrepr = failure_block(record, item.config.getoption("boxspec_shim"))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    repeat = config.stash[STATE].repeat
    if repeat is not None:
        terminalreporter.write_line("")
        for line in repeat.lines():
            terminalreporter.write_line(line)
