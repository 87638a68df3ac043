"""Data that the plugin attaches to the session of pytest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from boxspec.judge.record import Record

# Name of the user property that holds the record of a test.
PROPERTY = "boxspec"


@dataclass
class SessionInfo:
    """The results of a session, without its records.

    hello: the shim's answer to `hello`.
    begun: True after the trust checks, when the selection of the tests is final.
    start_cpu_s: the processor time that the shim takes to start and answer once, in seconds.
    stop: the reason why no test ran.
    repeat: the output lines of --repeat.
    flaky: the number of failures that --repeat saw.
    left: a function that returns a text about processes that the shim left running.
    folders: a function that returns the case folders that cannot be removed.
    record_ended: a function that records the tests that have ended in other threads.
    late: the tests that wait for their repeat, with the duration of their first attempt in seconds.
    repeats_s: a function that returns how many seconds all repeats take together.
    chosen, claims: see ResultTree.
    running: a function that returns how many tests run in other threads.
    cut: with -x, the names of the tests after the first failure. Their results are left out.
    abandon: a function that removes the folders of a session if there is no time to close it.
    """

    hello: dict[str, Any] = field(default_factory=dict)
    begun: bool = False
    start_cpu_s: float = 0.0
    stop: BaseException | None = None
    repeat: list[str] = field(default_factory=list)
    flaky: int = 0
    left: Callable[[], str] = str
    folders: Callable[[], list[str]] = list
    record_ended: Callable[..., None] = lambda **_: None
    late: Mapping[str, float] = field(default_factory=dict)
    repeats_s: Callable[[], float] = float
    chosen: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    claims: dict[str, dict[str, str]] = field(default_factory=dict)
    running: Callable[[], int] = int
    cut: Sequence[str] = ()
    abandon: Callable[[], None] = lambda: None


# A function that prints a line while the trust checks run.
SLOW = pytest.StashKey[Callable[[str], None]]()
# With -x, a function that returns True for the record of a failure that ends the run.
STOPS = pytest.StashKey[Callable[[Record], bool]]()
SESSION_INFO = pytest.StashKey[SessionInfo]()
