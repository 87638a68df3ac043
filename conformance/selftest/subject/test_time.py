"""Tests of shims that react late, which must fail, and of punctual ones, which must not, on fast
and busy machines alike."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from boxspec.subject.observe import procs
from selftest.subject.time_counts import ROWS, told
from selftest.tools import PYTHON_IMPLEMENTATION, RESULT_SCHEMA, ROOT, Done, boxspec

SLOW_IMPLEMENTATION = ROOT / "conformance" / "selftest" / "shims" / "slow_implementation.py"
INTERPRETER = f"{Path(sys.executable).resolve()} -I -S"
ROOT_USER = os.geteuid() == 0

# In the first test both time stamps come from the child. In the second one the later time is the
# shim's end.
DEADLINE = "test_a_deadline_is_noticed_within_a_tick"
END = "test_the_end_of_a_child_is_noticed_within_a_tick"


class Run:
    def __init__(self, how: str, tests: str, *words: str, folder: Path) -> None:
        self.file = folder / "result.json"
        shim = (
            f"{INTERPRETER} {SLOW_IMPLEMENTATION} {how} --"
            if how
            else f"{INTERPRETER} {PYTHON_IMPLEMENTATION}"
        )
        began = time.monotonic()
        self.done: Done = boxspec(
            *("run", "--shim", shim, "--contract", "exec", "-k", tests, "--json", self.file),
            *words,
        )
        self.seconds = time.monotonic() - began
        self.said = self.done.stdout + self.done.stderr
        self.tree: dict[str, Any] = json.loads(self.file.read_text()) if self.file.exists() else {}

    def verdicts(self, tests: str) -> set[str]:
        assert self.tree, self.said
        return {each["verdict"] for each in self.tree["tests"] if f"::{tests}" in each["id"]}


# As root the second attempt runs with real-time priority, so it gives a verdict even on a busy
# machine.
CONVICTED = {"fails"} if ROOT_USER else {"fails", "not-measured"}


@pytest.mark.parametrize(
    ("how", "test"),
    [("deadline=150", f"{DEADLINE} and 50"), ("end=150", f"{END} and 110")],
    ids=["a deadline", "an end"],
)
def test_a_shim_that_is_150_ms_late_fails(how: str, test: str, tmp_path: Path) -> None:
    run = Run(how, test, folder=tmp_path)
    assert run.verdicts(test.partition(" ")[0]) <= CONVICTED, run.said
    assert run.done.returncode != 0


def test_a_shim_that_is_300_ms_late_never_conforms(tmp_path: Path) -> None:
    run = Run("deadline=300", DEADLINE, "--busy", "8", folder=tmp_path)
    assert run.verdicts(DEADLINE) <= {"fails", "not-measured"}, run.said


@pytest.mark.turns(10)
@pytest.mark.parametrize(
    "how", ["", "start=2000", "burn=2"], ids=["plain", "a slow start", "busy itself"]
)
def test_a_punctual_shim_does_not_fail_on_a_busy_machine(how: str, tmp_path: Path) -> None:
    run = Run(how, f"{DEADLINE} or {END}", "--busy", "8", folder=tmp_path)
    assert "fails" not in run.verdicts(""), run.said
    assert run.done.returncode in (0, 3)


@pytest.mark.parametrize("verdict", ["conforms", "not-measured", "fails", "no result"])
def test_a_count_does_not_hold_with_a_forbidden_verdict(verdict: str) -> None:
    said = {row.name: told(row, [{"verdicts": [verdict, "fails"]}])[1] for row in ROWS[:2]}
    assert list(said.values()) == [verdict == "fails", verdict in ("fails", "not-measured")]
    assert not told(ROWS[3], [{"verdicts": [verdict, "fails"]}])[1]


def test_the_figures_of_each_bound_are_in_the_result(tmp_path: Path) -> None:
    run = Run("", f"{DEADLINE} or {END}", folder=tmp_path)
    Draft202012Validator(json.loads(RESULT_SCHEMA.read_text())).validate(run.tree)
    assert [each["id"] for each in run.tree["tests"] if not each["timing"]] == []
    # A first attempt may be late before it measures a bound. So not each late test has two figures.
    twice = [each for each in run.tree["tests"] if len(each["timing"]) > 1]
    late = run.tree["summary"]["late"]
    assert late >= len(twice)
    assert ("repeated" in run.done.stdout) == bool(late)


@pytest.mark.turns(10)
def test_a_hang_fails_at_the_first_or_second_attempt(tmp_path: Path) -> None:
    run = Run("hang", "test_an_exit_is_noticed_where", folder=tmp_path)
    (test,) = run.tree["tests"]
    assert test["verdict"] in CONVICTED, run.said
    assert "did not return within" in test["reason"]
    assert len(test["timing"]) <= 2
    assert run.tree["summary"]["late"] == (0 if test["verdict"] == "fails" else 1)


def left_asleep() -> list[int]:
    """Return the processes that the slow implementation started because of its argument `leave`."""
    found = (procs.proc(int(each)) for each in os.listdir("/proc") if each.isdigit())
    return [each.pid for each in found if each and each.cmdline == [b"/bin/sleep", b"86321"]]


KILLED = "the warden was killed"
MEDDLED = {"stop": "the warden was stopped", "kill": KILLED, "leave": KILLED}


@pytest.mark.turns(10)
def test_another_declared_tick_does_not_change_the_bounds(tmp_path: Path) -> None:
    tests = f"test_grace_is_5000_ms_and_tick_100_ms or {DEADLINE}"
    run = Run("tick=30000 deadline=5000", tests, folder=tmp_path)
    assert run.verdicts("test_grace") == {"fails"}
    assert run.verdicts(DEADLINE) == {"not-measured"}
    assert "states tick_ms 30000" in json.dumps(run.tree)


@pytest.mark.parametrize("how", MEDDLED)
def test_a_shim_that_attacks_its_warden_is_reported_quickly(how: str, tmp_path: Path) -> None:
    run = Run(how, "test_the_end and 40", folder=tmp_path)
    assert run.done.returncode == 2, run.said
    assert MEDDLED[how] in run.said
    assert run.seconds < 40
    assert left_asleep() == []


@pytest.mark.skipif(not ROOT_USER, reason="others cannot open a pipe of the warden")
def test_a_forged_report_of_the_warden_is_refused(tmp_path: Path) -> None:
    run = Run("end=300 forge", f"{END} and 40", folder=tmp_path)
    assert run.verdicts(END) == {"fails"}, run.said
    assert "a report that the warden did not write" in json.dumps(run.tree)
