"""Tests of the planted faults: their patches apply and compile, and the runner tries them."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from boxspec.fuzz import planted, targets
from boxspec.fuzz.campaign import read_results, summary
from boxspec.fuzz.trials import Result, Trial
from boxspec.places import ROOT
from selftest.tools import Done, run

FAULTS = sorted(planted.every())
RUN = ROOT / "fuzz" / "planted" / "run"
# A fault that is found in less than a second.
EASY = "glob-star-crosses-separator"


def test_each_patch_applies(tmp_path: Path) -> None:
    """A patch has comments and code of the reference around its lines, which may have changed."""
    for name in FAULTS:
        planted.copy_patched(planted.named(name), tmp_path / name)


@pytest.mark.turns(10)
@pytest.mark.parametrize("name", FAULTS)
def test_a_patched_source_compiles(name: str, tmp_path: Path) -> None:
    fault = planted.named(name)
    for source in planted.copy_patched(fault, tmp_path / "copy"):
        warnings = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
        marks = ["-include", str(planted.FOLDER / "planted.h")]
        folders = [f"-I{ROOT / 'reference'}", f"-I{ROOT / 'reference' / 'include'}"]
        done = run(["cc", "-std=c17", "-fsyntax-only", *warnings, *folders, *marks, source])
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", FAULTS)
def test_a_patch_has_both_marks_and_a_target(name: str) -> None:
    fault = planted.named(name)
    added = "".join(line for line in fault.patch.read_text().splitlines(True) if line[0] == "+")
    assert "BS_PLANTED_REACHED()" in added
    assert "BS_PLANTED_TRIGGERED(" in added
    assert all(each.startswith("reference/") and each.endswith(".c") for each in fault.files)
    assert set(fault.targets) <= set(targets.every())


def test_the_page_lists_the_patches_as_their_heads_do() -> None:
    page = (planted.FOLDER / "README.md").read_text()
    rows = re.findall(r"^\| `([\w-]+)` \| (.*) \| (`.*`) \|$", page, re.M)
    told = [(name, what, tuple(by.replace("`", "").split())) for name, what, by in rows]
    assert told == [(each.name, each.what, each.targets) for each in planted.every().values()]


def test_faults_are_planted_in_each_part_of_the_code() -> None:
    rooms = [name.partition("-")[0] for name in FAULTS]
    assert len(rooms) >= 40
    assert {"glob", "json", "yaml", "eval", "merge", "path"} <= set(rooms)


# The runner ---------------------------------------------------------------------------------


def attempt(results: Path, *words: str) -> Done:
    flags = ["--only", EASY, "--seeds", "1", "--results", str(results)]
    return run([RUN, *flags, *words])


@pytest.mark.parametrize("engine", ["libfuzzer", "afl"])
def test_a_planted_fault_is_found_and_not_tried_again(engine: str, tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    first = attempt(results, "--engine", engine, "--seconds", "20")
    assert first.returncode == 0, first.stderr
    (result,) = read_results(results)
    assert result.found, first.stdout
    assert result.key == "match"
    assert result.reached > 0
    assert result.triggered > 0
    again = attempt(results, "--engine", engine, "--seconds", "20")
    assert again.stdout.splitlines() == first.stdout.splitlines()[-1:]
    assert len(read_results(results)) == 1


def test_the_control_reaches_the_fault_without_a_report(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    done = attempt(results, "--control", "--seconds", "6")
    assert done.returncode == 0, done.stderr
    (result,) = read_results(results)
    assert not result.found
    assert result.triggered > 0


def left_below(folder: Path) -> list[str]:
    """Return the command lines of a trial's processes, which contain its folder."""
    lines = run(["ps", "-eo", "args"]).stdout.splitlines()
    return [line for line in lines if line.startswith(str(folder))]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_no_process_and_no_result(
    number: signal.Signals, tmp_path: Path
) -> None:
    """The signal must also work if SIGINT was ignored at the start, as in a shell's background
    job."""
    results = tmp_path / "results.jsonl"
    flags = ["--only", EASY, "--seeds", "1", "--control", "--seconds", "600"]
    with subprocess.Popen(
        [RUN, *flags, "--results", results],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    ) as process:
        until = time.monotonic() + 60
        while not left_below(tmp_path) and time.monotonic() < until:
            time.sleep(0.2)
        process.send_signal(number)
        _, said = process.communicate(timeout=30)
    assert "interrupted; run the same command to continue" in said
    assert left_below(tmp_path) == []
    assert read_results(results) == []


# The sum ------------------------------------------------------------------------------------


def result(fault: str, seed: int, found: bool, cpu_s: float, control: bool = False) -> Result:
    trial = Trial(fault, "glob_diff", "libfuzzer", control, seed, 60)
    return Result(trial, found, "match" if found else "", cpu_s, 1, 1, int(found))


def test_a_fault_counts_as_found_when_the_median_seed_finds_it() -> None:
    often = [result("often", seed, seed != 3, 2.0 * seed) for seed in range(1, 4)]
    rarely = [result("rarely", seed, seed == 3, 60) for seed in range(1, 4)]
    control = [result("often", 1, False, 60, control=True)]
    assert summary([*often, *rarely, *control]) == [
        "libfuzzer: found 1 of 2, median 4.0 CPU s · reached 2 · triggered 2",
        "  missed: rarely",
        "libfuzzer, only crashes: found 0 of 1 · reached 1 · triggered 0",
    ]


def test_a_line_that_was_cut_off_is_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    whole = json.dumps(result("a", 1, True, 1).to_json())
    path.write_text(f"{whole}\n{whole[:40]}")
    assert [each.trial.fault for each in read_results(path)] == ["a"]
