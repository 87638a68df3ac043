"""Tests of `run -x` and `--requirement`: which tests are left out, and which ones are ended."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from boxspec.api import programs as P
from boxspec.errors import ShimBroke
from boxspec.judge.requirements import load
from boxspec.judge.verdict import Failure
from boxspec.subject.session import Session
from boxspec.subject.trust import trust
from contracts.exec.client import ExecCase
from selftest.tools import PYTHON_IMPLEMENTATION, ROOT, boxspec

KEEPS_HOME = f"{ROOT}/conformance/shims/faults/shim.py --fault exec-env.keeps-home"


def done_tests(folder: Path, *words: str) -> list[dict[str, Any]]:
    """Run, and return the tests in the order in which they ended."""
    file = folder / "result.json"
    done = boxspec("run", "--contract", "exec", *words, "--json", file)
    assert done.returncode in (0, 1, 3), done.stdout + done.stderr
    tests: list[dict[str, Any]] = json.loads(file.read_text())["tests"]
    return tests


@pytest.mark.turns(10)
def test_with_x_a_run_ends_with_the_first_failure(tmp_path: Path) -> None:
    words = ("--shim", KEEPS_HOME, "--topic", "EXEC-ENV")
    order = {name: place for place, name in enumerate(load())}

    def failing(tests: list[dict[str, Any]]) -> list[int]:
        failed = [test for test in tests if test["verdict"] == "fails"]
        return [min(order[name] for name in test["requirements"]) for test in failed]

    every = failing(done_tests(tmp_path, *words))
    until = done_tests(tmp_path, *words, "-x")
    assert len(every) > 1
    assert failing(until) == [min(every)]
    assert until[-1]["verdict"] == "fails"


@pytest.mark.turns(10)
def test_with_x_a_failure_of_any_level_is_exit_1() -> None:
    """Without -x this run would be incomplete, because it decides no MUST of the contract."""
    done = boxspec(
        *("run", "--shim", KEEPS_HOME, "--topic", "EXEC-ENV", "--profile", "hardened", "-x"),
        *("--contract", "exec"),
    )
    assert done.returncode == 1, done.stdout
    assert re.search(r"stopped at the first failure: EXEC-ENV-\d+ ", done.stdout, re.M)


@pytest.mark.turns(10)
def test_with_x_all_tests_are_run_when_none_fails(tmp_path: Path) -> None:
    words = ("--shim", str(PYTHON_IMPLEMENTATION), "EXEC-RESULT-05")
    every = {test["id"] for test in done_tests(tmp_path, *words)}
    assert {test["id"] for test in done_tests(tmp_path, *words, "-x")} == every != set()


@pytest.mark.turns(10)
def test_only_the_tests_of_a_requirement_run(tmp_path: Path) -> None:
    words = ("EXEC-ENV-02", "exec-text-01")
    tests = done_tests(tmp_path, "--shim", str(PYTHON_IMPLEMENTATION), *words)
    decided = [set(test["requirements"]) & {"EXEC-ENV-02", "EXEC-TEXT-01"} for test in tests]
    assert all(decided)
    assert set.union(*decided) == {"EXEC-ENV-02", "EXEC-TEXT-01"}


def test_each_test_is_in_a_file_that_names_its_topic() -> None:
    """If a topic or a requirement is selected, other files are not imported."""
    done = boxspec("list", "--json")
    assert done.returncode == 0, done.stderr
    strange = {
        (test, each["id"])
        for each in json.loads(done.stdout)["requirements"]
        for test in each["tests"]
        if each["id"].rpartition("-")[0] not in (ROOT / test.partition("::")[0]).read_text()
    }
    assert strange == set()


def test_a_shim_that_starts_after_the_interrupt_is_ended_too() -> None:
    session = Session((sys.executable, "-I", "-S", str(PYTHON_IMPLEMENTATION)))
    try:
        trust(session, contracts=["exec"])
        session.interrupt()
        case = ExecCase(session, "late")
        with pytest.raises(ShimBroke):
            case.exec.run(program="sleep", args=["60"], within_s=50)
        case.close(keep=False)
    finally:
        session.close()


def test_a_gate_whose_reader_was_ended_is_not_waited_for() -> None:
    session = Session((sys.executable, "-I", "-S", str(PYTHON_IMPLEMENTATION)))
    try:
        trust(session, contracts=["exec"])
        case = ExecCase(session, "gate")
        fifo = case.fifo("open")
        with case.exec.start(program=P.gate, args=[case.events().path, str(fifo)], within_s=50):
            case.events().wait("ready")
        started = time.monotonic()
        with pytest.raises(Failure, match="all processes had ended"):
            case.open_gate(fifo, within_s=60)
        assert time.monotonic() - started < 20
        case.close(keep=False)
    finally:
        session.close()
