"""Tests of runs whose processes were all stopped for a while."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from boxspec.subject.pauses import LONG_S, TICK_S
from selftest.tools import CONFORMANCE

# Fails in each of its arguments, an attempt number, while the process was stopped, then again.
WATCHED = """
import sys
from types import SimpleNamespace
from boxspec.api import Failure, Late, expect
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
