"""Tests of `boxspec explore` with sandboxes that confine and sandboxes that do not, and of the
files of a run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from boxspec.explore.program import program
from boxspec.faults.fault import SHIM, interpreter
from boxspec.places import ROOT

COMMAND = [str(ROOT / "ci" / "boxspec"), "explore"]
BWRAP = "bwrap --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --unshare-all --die-with-parent"
OPEN_HOME = [*BWRAP.split(), "--bind", "{home}", "{home}"]
pytestmark = [
    pytest.mark.turns(6),
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap"),
]


def explored(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "BOXSPEC_CASE_ROOT": str(folder), "COLUMNS": "500"}
    return subprocess.run(
        [*COMMAND, *words], env=env, capture_output=True, text=True, check=False, cwd=folder
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for scenes, which is empty after each run."""
    made = tmp_path / "scenes"
    made.mkdir()
    return made


def left(folder: Path) -> list[str]:
    """Return the files that a run has left, without its empty registers."""
    return [str(path) for path in folder.rglob("*") if path.is_file()]


def test_a_sandbox_that_holds_has_no_finding(folder: Path) -> None:
    done = explored(folder, "-n", "300", "--backend", "bubblewrap+seccomp")
    assert done.returncode == 0, done.stdout + done.stderr
    distinct = len({program(1, number) for number in range(300)})
    assert distinct < 300
    assert f"300 programs, {distinct} of them distinct, with" in done.stdout
    assert left(folder) == []


def test_a_finding_of_a_weak_sandbox_is_repeated_and_promoted(folder: Path, tmp_path: Path) -> None:
    shim = shlex.join(
        [interpreter(), "-I", "-S", str(SHIM), "--fault", "backend-ipc.keyrings-are-forgotten"]
    )
    promoted = tmp_path / "found"
    words = ["-n", "60", "-x", "--ignore", "kernel", "--promote", str(promoted), "--shim", shim]
    done = explored(folder, *words)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "a key of the user was read" in done.stdout
    assert f"{promoted}/a-key-of-the-user-was-read.c: has the effect inside" in done.stdout
    repeated = re.search(r"repro +\S+ explore (.*)", done.stdout)
    assert repeated is not None
    again = explored(folder, *shlex.split(repeated[1]))
    assert again.returncode == 1
    assert "a key of the user was read" in again.stdout
    assert left(folder) == []


@pytest.mark.parametrize("rule", ["call-bpf", "right-MAKE_DIR"])
def test_a_sandbox_without_one_rule_is_found(folder: Path, rule: str) -> None:
    env = {**os.environ, "BOXSPEC_CASE_ROOT": str(folder)}
    words = [COMMAND[0], "dev", "weak", "--only", rule]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 1 weak sandboxes found" in done.stdout


def test_any_effect_outside_a_command_is_a_finding(folder: Path) -> None:
    done = explored(folder, "-n", "200", "-x", "--ignore", "read", "--", *OPEN_HOME)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "expected  no effect outside the sandbox" in done.stdout
    assert left(folder) == []


def test_no_program_runs_in_a_command_that_confines_nothing(folder: Path) -> None:
    done = explored(folder, "-n", "10", "--", "env")
    assert done.returncode == 3
    assert "has no mark of a sandbox" in done.stdout
    assert left(folder) == []


def test_an_interrupted_run_leaves_nothing(folder: Path) -> None:
    env = {**os.environ, "BOXSPEC_CASE_ROOT": str(folder)}
    words = [*COMMAND, "-n", "1000000", "--backend", "bubblewrap+seccomp"]
    process = subprocess.Popen(
        words, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    try:
        # One file is the register; the others belong to the first scene.
        while len(left(folder)) < 2 and process.poll() is None:
            pass
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode != 0
    assert left(folder) == []
