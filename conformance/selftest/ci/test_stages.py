"""Tests of ci/test with short stages: its two parallel lanes, its exit status, and how a signal
ends it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from boxspec import folders
from selftest.tools import ROOT, run

STAGES = run([ROOT / "ci/test", "--list"]).stdout.split()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with ci/test and the stages, each of which only prints a closing line."""
    stages = tmp_path / "ci/stages"
    stages.mkdir(parents=True)
    for name in ("test", "lib.sh"):
        shutil.copy(ROOT / "ci" / name, tmp_path / "ci")
    for name in STAGES:
        write_stage(tmp_path, name, f"echo closing {name} >&3")
    return tmp_path


def write_stage(checkout: Path, name: str, script: str) -> None:
    path = checkout / "ci/stages" / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def environment(checkout: Path) -> Mapping[str, str]:
    (checkout / "tmp").mkdir(exist_ok=True)
    return {**os.environ, "TMPDIR": str(checkout / "tmp")}


def test_each_stage_runs_once_and_shows_its_closing_line(checkout: Path) -> None:
    done = run([checkout / "ci/test"], env=environment(checkout))
    assert done.returncode == 0, done.stdout
    closing = [line.split()[1] for line in done.stdout.splitlines() if "closing" in line]
    assert sorted(closing) == sorted(STAGES)
    assert f"all {len(STAGES)} stages passed" in done.stdout
    assert list((checkout / "tmp").iterdir()) == []


@pytest.mark.parametrize("name", ["build", "lint-c", "valgrind"])
@pytest.mark.parametrize("script", ["exit 3", 'touch "$TMPDIR/left"'])
def test_a_stage_that_fails_or_leaves_a_file_fails_the_whole(
    checkout: Path, name: str, script: str
) -> None:
    write_stage(checkout, name, script)
    done = run([checkout / "ci/test"], env=environment(checkout))
    assert done.returncode == 1
    assert f"FAIL {name} " in done.stdout
    assert f"failed: {name} (1 of {len(STAGES)} stages" in done.stdout
    assert done.stdout.count("\nok ") + done.stdout.startswith("ok ") == len(STAGES) - 1


def test_an_interrupt_ends_the_stages_of_both_lanes(checkout: Path) -> None:
    pipes = [checkout / name for name in ("lint-c.pid", "faults.pid")]
    for pipe in pipes:
        os.mkfifo(pipe)
        write_stage(checkout, pipe.stem, f"echo $$ >{pipe}\nexec sleep 600")
    ci = subprocess.Popen(
        [checkout / "ci/test"], stdout=subprocess.DEVNULL, env=environment(checkout)
    )
    pids = [int(pipe.read_text()) for pipe in pipes]  # read once both stages have started
    ci.send_signal(signal.SIGINT)
    assert ci.wait(timeout=60) == 130
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []
    assert list((checkout / "build/ci").glob("failed-*")) == []
    assert list((checkout / "tmp").iterdir()) == []


def test_a_run_of_the_kit_removes_the_folder_of_a_killed_lane(checkout: Path) -> None:
    pipe, places = checkout / "started", [checkout / "tmp"]
    os.mkfifo(pipe)
    write_stage(checkout, "valgrind", f"echo $PPID >{pipe}\nexec sleep 600")
    words: list[str | Path] = [checkout / "ci/test", "valgrind"]
    ci = subprocess.Popen(words, stdout=subprocess.DEVNULL, env=environment(checkout))
    lane = int(pipe.read_text())
    try:
        (left,) = folders.left_by_runs(places)
        assert left.is_used and f"boxspec-{lane}-" in str(left.path)
    finally:
        # A lane has a process group of its own, with its stages.
        os.killpg(lane, signal.SIGKILL)
        ci.wait(timeout=60)
    assert [each.is_used for each in folders.left_by_runs(places)] == [False]


def test_the_files_of_a_failed_stage_stay(checkout: Path) -> None:
    write_stage(checkout, "valgrind", 'touch "$TMPDIR/evidence"; exit 1')
    run([checkout / "ci/test", "valgrind"], env=environment(checkout))
    folders.make(checkout / "tmp")
    assert [path.name for path in checkout.glob("tmp/*/evidence")] == ["evidence"]
