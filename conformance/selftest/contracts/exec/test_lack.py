"""Tests of a shim whose runtime needs many processes: if it cannot start with few, tests that limit
the number are not measured."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from selftest.tools import ROOT, boxspec

SLOW_IMPLEMENTATION = ROOT / "conformance" / "selftest" / "shims" / "slow_implementation.py"
STEPS = "test_running_out_of_processes_leaves_nothing_at_every_step"
REFUSED = "test_a_refused_process_is_a_spawn_error_and_signals_no_process"

pytestmark = [
    pytest.mark.skipif(
        os.geteuid() != 0, reason="only root can set a process limit for another user"
    ),
    pytest.mark.turns(10),
]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        # The runtime of Node hangs at its start if it may have only two to five processes.
        ("starve=3", {STEPS: "conforms", REFUSED: "not-measured"}),
        # A shim that starts, and then hangs when it has to start a program, fails.
        ("lack=3", {STEPS: "fails", REFUSED: "fails"}),
    ],
    ids=["at its start", "in a run"],
)
def test_a_hang_where_processes_run_out(how: str, expected: dict[str, str], tmp_path: Path) -> None:
    shim = f"{Path(sys.executable).resolve()} -I -S {SLOW_IMPLEMENTATION} {how} --"
    done = boxspec(
        *("run", "--contract", "exec", "--profile", "all", "--shim", shim),
        *("-k", f"{STEPS} or {REFUSED}", "--json", tmp_path / "result.json"),
    )
    tree = json.loads((tmp_path / "result.json").read_text())
    found = {each["id"].rpartition("::")[2]: each["verdict"] for each in tree["tests"]}
    assert found == expected, done.stdout + done.stderr
