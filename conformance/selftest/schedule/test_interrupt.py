"""Tests of Ctrl-C during a run: its message, its results, and the time until the end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from selftest.tools import ROOT

# A main thread that does not end in time, because it ignores the interrupt.
STUCK = """
import sys, threading, time
from boxspec.schedule import interrupt
interrupt.ENDS_S = float(sys.argv[1])
with interrupt.Interrupt(lambda: print("said", flush=True), lambda: 7):
    try:
        print("ready", flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        time.sleep(60)
"""


def started(words: list[str], first: str) -> subprocess.Popen[str]:
    """Start a command, and wait until a line of its output begins with `first`."""
    process = subprocess.Popen(
        [sys.executable, "-P", *words],
        cwd=ROOT,
        env={**os.environ, "CI": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    assert any(line.startswith(first) for line in process.stdout)
    return process


def test_results_are_written_although_tests_do_not_end() -> None:
    process = started(["-c", STUCK, "0.2"], "ready")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (out, err, process.returncode) == ("said\n", "", 7)


@pytest.mark.parametrize("call", ["record", "leave"])
def test_a_call_that_never_returns_does_not_keep_the_run(call: str) -> None:
    """A lock that KeyboardInterrupt left locked blocks such a call."""
    never = f"{call}=lambda *_: threading.Event().wait()"
    process = started(["-c", STUCK.replace("lambda: 7", f"lambda: 7, {never}"), "0.2"], "ready")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (out, err, process.returncode) == ("said\n", "", 7)


def test_a_second_signal_does_not_wait() -> None:
    process = started(["-c", STUCK, "60"], "ready")
    assert process.stdout is not None
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "said\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 7


@pytest.mark.turns(10)
@pytest.mark.parametrize("signals", [1, 2])
def test_an_interrupted_run_has_the_results_of_finished_tests(signals: int, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    words = ["-m", "boxspec", "run", "--contract", "exec", "-v", "--json", str(file)]
    process = started(words, "conforms ")
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    said = process.stderr.readline()
    assert re.fullmatch(
        r"boxspec: interrupted: ending \d+ running tests?, then writing [1-9]\d* results? "
        r"\(Ctrl-C again: without waiting\)\n",
        said,
    )
    for _ in range(signals - 1):
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, out + err
    result = json.loads(file.read_text())
    assert result["outcome"]["status"] == 130
    assert result["outcome"]["words"].startswith("INTERRUPTED: ")
    verdicts = {test["verdict"] for test in result["tests"]}
    assert "conforms" in verdicts
    # A test that was ended has no result.
    assert not verdicts & {"fails", "shim-broke", "harness-error"}, verdicts
