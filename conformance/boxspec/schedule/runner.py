"""pytest inside this process, its own output put aside: collection and runs for the verbs."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from _pytest.terminal import TerminalReporter

from boxspec.judge.record import Record
from boxspec.judge.requirements import load
from boxspec.places import CONTRACTS, ROOT
from boxspec.schedule.choosing import says
from boxspec.schedule.ending import ENDING, PROPERTY, Ending

# The kit needs none of the plugins that happen to be installed; most of the start-up is theirs.
_NO_AUTOLOAD = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"
# What pytest takes from there is about the caller's own tests: flags that it does not know here, or
# a selection that leaves tests out and says nothing. Shims get the environment as it was.
_OF_THE_CALLER = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DEBUG", _NO_AUTOLOAD)


# So many objects more than before, and garbage is sought; a case makes thousands and drops them.
YOUNG = 20_000


def folders(wanted: Sequence[str] | None = None) -> list[str]:
    """The tests of these contracts, or of all that have tests."""
    every = dict.fromkeys(each.contract for each in load().values())
    contracts = every if wanted is None else [name for name in every if name in wanted]
    places = [CONTRACTS / name for name in contracts]
    return [str(place) for place in places if any(place.glob("test_*.py"))]


@dataclass(frozen=True)
class Done:
    """Tests that are over, of how many; how many of those do not overlap, and were broken; and the
    one that is asked once more now."""

    tests: int
    of: int
    short: int
    broken: int
    again: str


@dataclass
class Observer:
    """A pytest plugin that takes the records and tells whoever wants to know."""

    on_record: Callable[[Record, Observer], None] | None = None
    items: list[pytest.Item] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    broken: int = 0
    left_out: int = 0
    ending: Ending = field(default_factory=Ending)
    output: io.StringIO = field(default_factory=io.StringIO)
    failures: list[str] = field(default_factory=list)
    broke: BaseException | None = None
    config: pytest.Config | None = None
    started: float = field(default_factory=time.monotonic)
    seconds: float = 0.0
    environment: dict[str, str] | None = None

    def takes_environment(self) -> None:
        """What is pytest's of it, until pytest has begun."""
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
        manager = config.pluginmanager
        if manager.hasplugin("terminalreporter"):
            manager.unregister(name="terminalreporter")
            manager.register(TerminalReporter(config, self.output), "terminalreporter")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        # What is there now stays to the end: looking through it for garbage took a tenth of a run.
        gc.freeze()
        gc.set_threshold(YOUNG)
        gc.enable()
        self.items = [item for item in session.items if says(item) is not None]

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        """Contracts that the shim does not declare leave after the collection."""
        gone = {item.nodeid for item in items}
        self.left_out += sum(item.nodeid in gone for item in self.items)

    def done(self) -> Done:
        """How far the session is, from any thread."""
        names = {record.id for record in list(self.records)}
        config = self.config
        ending = self.ending if config is None else config.stash.get(ENDING, self.ending)
        names |= {str(key) for key in ending.ahead()}
        long = {item.nodeid for item in self.items if (marked := says(item)) and marked.overlap}
        of, short = len(self.items) - self.left_out, len(names - long)
        return Done(len(names), of, short, self.broken, ending.again)

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
        self.ending = config.stash.get(ENDING, self.ending)
        self.seconds = time.monotonic() - self.started


def _without(*plugins: str) -> list[str]:
    return [word for name in plugins for word in ("-p", f"no:{name}")]


def run_pytest(
    arguments: list[str], observer: Observer, contracts: Sequence[str] | None = None
) -> int:
    """pytest.main on the tests of these contracts (None: all); its exit code."""
    observer.takes_environment()
    gc.disable()
    try:
        # Its complaints about a selection become one line of ours.
        with contextlib.redirect_stderr(observer.output):
            return int(
                pytest.main(
                    [
                        "-c",
                        str(ROOT / ".pytest.ini"),
                        "--rootdir",
                        str(ROOT),
                        "--capture=sys",
                        # What a failing test tells is in its record.
                        "--tb=native",
                        # Verdicts are raised by `expect`: no assertion is to be rewritten, which
                        # reads each test's source anew, and no garbage collected after each test.
                        "--assert=plain",
                        *_without("unraisableexception", "threadexception"),
                        # Nor is anything logged or warned of that somebody reads.
                        *_without("logging", "warnings"),
                        # What these do for each test, no test of a contract asks for.
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


def collect() -> Observer:
    """All tests, none of them run."""
    observer = Observer()
    run_pytest(["--collect-only", "-q"], observer)
    return observer
