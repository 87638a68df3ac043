"""Run pytest in this process and capture its output, to collect tests or to run them."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from _pytest.terminal import TerminalReporter

from boxspec.folders import delete
from boxspec.judge.record import Record
from boxspec.judge.requirements import load
from boxspec.places import CONTRACTS, ROOT
from boxspec.schedule.selection import requires_of
from boxspec.schedule.session_info import PROPERTY, SESSION_INFO, SLOW, STOPS, SessionInfo

# Third-party plugins of pytest are not needed, and loading them takes most of the start-up time.
_NO_AUTOLOAD = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"
# Ignore these variables: they configure the caller's own tests. They may contain options that the
# kit does not know, or a selection that silently leaves out tests. Shims still get the caller's
# whole environment.
_OF_THE_CALLER = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DEBUG", _NO_AUTOLOAD)


# How many new objects trigger a garbage collection. The number is high because a case creates and
# frees thousands.
YOUNG = 20_000


def folders(wanted: Sequence[str] | None = None) -> list[str]:
    """Return the test folders of these contracts, or of all contracts that have tests."""
    every = dict.fromkeys(each.contract for each in load().values())
    contracts = every if wanted is None else [name for name in every if name in wanted]
    places = [CONTRACTS / name for name in contracts]
    return [str(place) for place in places if any(place.glob("test_*.py"))]


@dataclass(frozen=True)
class Done:
    """The progress of a session.

    tests, of: the number of tests that have ended, and of all tests.
    broken: tests that do not conform.
    late, repeats_s: the tests that wait for their repeat, and the seconds that all repeats take.
    """

    tests: int
    of: int
    broken: int
    late: Sequence[str] = ()
    repeats_s: float = 0.0


@dataclass
class Observer:
    """A pytest plugin that collects the records and passes each to a callback.

    on_slow: gets a line if the shim is slow before the tests; called in another thread.
    stops: with -x, returns True for the record of a failure that ends the run.
    """

    on_record: Callable[[Record, Observer], None] | None = None
    on_slow: Callable[[str], None] | None = None
    stops: Callable[[Record], bool] | None = None
    items: list[pytest.Item] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    broken: int = 0
    info: SessionInfo = field(default_factory=SessionInfo)
    output: io.StringIO = field(default_factory=io.StringIO)
    failures: list[str] = field(default_factory=list)
    broke: BaseException | None = None
    config: pytest.Config | None = None
    started: float = field(default_factory=time.monotonic)
    seconds: float = 0.0
    environment: dict[str, str] | None = None

    def takes_environment(self) -> None:
        """Remove pytest's variables from the environment until pytest has read its options."""
        self.environment = {name: os.environ[name] for name in _OF_THE_CALLER if name in os.environ}
        for name in self.environment:
            del os.environ[name]
        os.environ[_NO_AUTOLOAD] = "1"

    def gives_environment_back(self) -> None:
        if self.environment is not None:
            del os.environ[_NO_AUTOLOAD]
            os.environ.update(self.environment)
            self.environment = None

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        self.gives_environment_back()
        self.config = config
        # In an absolute path, pytest would take a `[` for the parameters of a test.
        config.args = [os.path.relpath(each, ROOT) for each in config.args]
        config.invocation_params = replace(config.invocation_params, dir=ROOT)
        if self.on_slow is not None:
            config.stash[SLOW] = self.on_slow
        if self.stops is not None:
            config.stash[STOPS] = self.stops
        manager = config.pluginmanager
        if manager.hasplugin("terminalreporter"):
            manager.unregister(name="terminalreporter")
            manager.register(TerminalReporter(config, self.output), "terminalreporter")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        # All objects that exist now stay until the end, so the garbage collector need not examine
        # them. This saves a tenth of the time of a run.
        gc.freeze()
        gc.set_threshold(YOUNG)
        gc.enable()
        self.items = [item for item in session.items if requires_of(item) is not None]

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        """Remove tests that were deselected after the collection, because the shim does not declare
        their contract."""
        gone = {item.nodeid for item in items}
        self.items = [item for item in self.items if item.nodeid not in gone]

    def session_info(self) -> SessionInfo:
        """Return the results of the session so far; callable from any thread."""
        config = self.config
        return self.info if config is None else config.stash.get(SESSION_INFO, self.info)

    def done(self) -> Done:
        """Return the progress of the session; callable from any thread."""
        info = self.session_info()
        late, repeats_s = list(info.late), info.repeats_s()
        return Done(len(self.records), len(self.items), self.broken, late, repeats_s)

    def sort_records(self) -> None:
        """Put the records in the order of the tests; records without a test come last."""
        places = {item.nodeid: place for place, item in enumerate(self.items)}
        self.records.sort(key=lambda each: places.get(each.id, len(places)))

    def leave_out_cut(self) -> None:
        """With -x, remove the records of the tests after the first failure, and their folders."""
        cut = set(self.info.cut)
        for record in self.records:
            if record.id in cut and record.folder is not None:
                delete(Path(record.folder))
        self.records = [record for record in self.records if record.id not in cut]

    def hello(self) -> dict[str, Any]:
        """Return the shim's answer to `hello`, or an empty dict if there is none yet; callable from
        any thread."""
        return self.session_info().hello

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failures.append(f"{report.nodeid}: {report.longreprtext}")

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self.broke = excinfo.value

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "teardown":
            return
        for name, plain in report.user_properties:
            if name == PROPERTY:
                record = Record.from_json(dict(plain))  # type: ignore[call-overload]
                self.records.append(record)
                if self.on_record is not None:
                    self.on_record(record, self)

    @pytest.hookimpl(tryfirst=True)
    def pytest_unconfigure(self, config: pytest.Config) -> None:
        self.info = config.stash.get(SESSION_INFO, self.info)
        self.seconds = time.monotonic() - self.started


def _without(*plugins: str) -> list[str]:
    return [word for name in plugins for word in ("-p", f"no:{name}")]


def run_pytest(
    arguments: list[str], observer: Observer, contracts: Sequence[str] | None = None
) -> int:
    """Call pytest.main on the tests of these contracts, by default all; return its exit code."""
    observer.takes_environment()
    gc.disable()
    try:
        # Errors of pytest about a selection are reported in one line by the kit.
        with contextlib.redirect_stderr(observer.output):
            return int(
                pytest.main(
                    [
                        "-c",
                        str(ROOT / ".pytest.ini"),
                        "--rootdir",
                        str(ROOT),
                        "--capture=sys",
                        # Short tracebacks suffice, because the record of a failing test has the
                        # details.
                        "--tb=native",
                        # `expect` makes the verdicts, so `assert` need not be rewritten; that would
                        # read the source of each test. The collector need not run after each test.
                        "--assert=plain",
                        *_without("unraisableexception", "threadexception"),
                        # Tests use neither logging nor warnings.
                        *_without("logging", "warnings"),
                        # These plugins hook into each test, but no test of a contract uses them.
                        *_without("setuponly", "setupplan", "unittest", "faulthandler"),
                        *_without("subtests", "tmpdir", "legacypath", "recwarn", "pastebin"),
                        *_without("doctest", "stepwise", "junitxml"),
                        *arguments,
                        *folders(contracts),
                    ],
                    plugins=[observer],
                )
            )
    finally:
        gc.enable()
        observer.gives_environment_back()


def collect(*only: str) -> Observer:
    """Collect the tests of these requirements, or all tests, without running any."""
    observer = Observer()
    run_pytest(["--collect-only", "-q", *(f"--requirement={name}" for name in only)], observer)
    return observer
