"""Tests of failures that are repeated after the shim waited long or all processes were stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest

from boxspec.judge.expect import expect
from boxspec.judge.verdict import Failure, Late
from boxspec.subject.attempt import Attempt
from boxspec.subject.delays import DELAYED, MOST, Delays
from boxspec.subject.observe.stamps import Waited
from boxspec.subject.pauses import LONG_S, TICK_S
from selftest.tools import CONFORMANCE


def fake_case(waited_ms: float, *, realtime: bool = False) -> Any:
    """Return a case with one run, as far as Delays uses it."""
    waited = Waited(int(waited_ms * 1e6), 1)
    return SimpleNamespace(
        attempt=Attempt(realtime=realtime), shim_processes=[SimpleNamespace(waited=lambda: waited)]
    )


@pytest.mark.parametrize(
    ("waited_ms", "realtime", "raised"),
    [(19, False, Failure), (21, False, Late), (21, True, Failure)],
)
def test_a_failure_of_a_delayed_run_is_repeated(
    waited_ms: float, realtime: bool, raised: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boxspec.subject.delays.LONG_MS", 20)
    case = fake_case(waited_ms, realtime=realtime)
    with pytest.raises(raised), Delays().watch(case):
        expect("it", 1, 2)


def test_only_some_failures_of_delayed_runs_are_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boxspec.subject.delays.LONG_MS", 20)
    delays = Delays()
    raised: list[type[Exception]] = []
    for _ in range(MOST[DELAYED] + 1):
        try:
            with delays.watch(fake_case(21)):
                expect("it", 1, 2)
        except (Failure, Late) as why:
            raised.append(type(why))
    assert raised == [Late] * MOST[DELAYED] + [Failure]


# Watches two tests that fail: the first one after a pause, the second one without any. The argument
# is the number of the attempt.
WATCHED = """
import sys
from types import SimpleNamespace
from boxspec.api import Failure, Late, expect
from boxspec.subject.attempt import Attempt
from boxspec.subject.delays import Delays
delays = Delays()
for paused in (True, False):
    try:
        attempt = SimpleNamespace(number=int(sys.argv[1]), realtime=False)
        with delays.watch(SimpleNamespace(attempt=attempt, shim_processes=[])):
            if paused:
                print("runs", flush=True)
                input()
            expect("it", 1, 2)
    except (Failure, Late) as why:
        print(type(why).__name__)
"""


@pytest.mark.parametrize(
    ("number", "raised"), [(1, ["Late", "Failure"]), (2, ["Failure", "Failure"])]
)
def test_a_failure_after_a_pause_is_repeated_once(number: int, raised: list[str]) -> None:
    """Stop a process that watches a test, as a frozen container would."""
    with subprocess.Popen(
        [sys.executable, "-P", "-c", WATCHED, str(number)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(CONFORMANCE)},
    ) as watched:
        assert watched.stdout is not None
        assert watched.stdout.readline() == "runs\n"
        watched.send_signal(signal.SIGSTOP)
        time.sleep(TICK_S + LONG_S + 0.2)
        watched.send_signal(signal.SIGCONT)
        assert watched.communicate("\n")[0].split() == raised
