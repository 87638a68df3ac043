"""Tests of `boxspec fuzz` on the command line: it finds, reports, stops, and leaves no files or
processes."""

from __future__ import annotations

import ctypes
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from boxspec.fuzz import afl, builds, targets
from selftest.tools import ROOT, boxspec, left_below, run

pytestmark = pytest.mark.turns(6)

LIE = {"BOXSPEC_FUZZ_LIE": "0:match"}
FUZZ = [sys.executable, "-P", "-m", "boxspec", "fuzz"]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "work"


# Runs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["libfuzzer", "afl"])
def test_a_run_without_a_finding_prints_one_line(engine: str, work: Path) -> None:
    done = boxspec("fuzz", "path_norm", "--engine", engine, "--time", "2s", "--work", work)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    assert re.search(rf"^path_norm · {engine} · 2\.\d s · .* runs, .* 0 findings$", done.stdout)
    assert left_below(work) == []


def test_a_run_that_is_too_slow_for_its_floor_fails(work: Path) -> None:
    words = ["fuzz", "path_norm", "--time", "2s", "--work", str(work), "--floor"]
    done = boxspec(*words, "1000000000")
    assert done.returncode == 1, done.stderr
    first, second = done.stdout.splitlines()
    assert re.search(r", [\d.]+ [kM]/CPU s · .* · \d+ of \d+ edges · 0 findings$", first), first
    assert re.fullmatch(
        r"too slow: \d+ executions per CPU second, expected at least 1000000000", second
    )
    assert boxspec(*words, "1").returncode == 0
    refused = boxspec(*words, "1", "--results", work / "results")
    assert refused.returncode == 2 and "one run of one target" in refused.stderr


@pytest.mark.parametrize("engine", ["libfuzzer", "afl"])
def test_a_falsified_answer_is_reported_once(engine: str, work: Path) -> None:
    flags = ["--engine", engine, "--time", "4s", "--work", str(work), "--jobs", "2"]
    done = boxspec("fuzz", "glob_diff", *flags, env={"BOXSPEC_FUZZ_LIE": "6:match"})
    assert done.returncode == 1, done.stdout + done.stderr
    fields = re.findall(r"^  (\w+)", done.stdout, re.M)
    assert fields == ["means", "case", "input", "seen", "repro", "kept"]
    assert done.stdout.splitlines()[-1].endswith("· 1 finding")
    command = re.search(r"^  repro     (.*)$", done.stdout, re.M)
    assert command is not None
    again = run(["bash", "-c", command[1]])
    assert again.returncode != 0
    assert "boxspec-fuzz: glob_diff: match: " in again.stderr
    assert left_below(work) == []


def test_afl_has_the_mutators_that_libfuzzer_has(work: Path) -> None:
    """Both engines use the mutator of this tree: libFuzzer finds it in the target, AFL++ loads the
    library that the list of targets names."""
    linked = {
        target.name
        for target in targets.every().values()
        if " T LLVMFuzzerCustomMutator\n" in run(["nm", builds.binary(builds.JUDGE, target)]).stdout
    }
    assert {each.name for each in targets.every().values() if each.mutator} == linked
    words = ["--engine", "afl", "--time", "4s", "--work", str(work)]
    assert boxspec("fuzz", "glob_diff", *words).returncode == 0
    said = (work / "glob_diff" / "afl-0.log").read_text()
    assert re.search(r"Custom mutator '.*/glob-mutator\.so' installed successfully", said), said


@pytest.mark.parametrize("size", [127, 128, 300])
def test_the_mutator_of_afl_keeps_to_the_length_of_the_target(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = targets.every()["glob_diff"]
    builds.build([target], builds.PRESETS["afl"])
    for name, value in afl.settings(target).items():
        monkeypatch.setenv(name, value)
    library = ctypes.CDLL(str(builds.mutator(target)))
    library.afl_custom_init.restype = ctypes.c_void_p
    library.afl_custom_fuzz.restype = ctypes.c_size_t
    state = ctypes.c_void_p(library.afl_custom_init(None, 1))
    out = ctypes.c_void_p()
    # Two globs of few segments, and the megabyte of room that afl-fuzz offers.
    words = (b"\x02\x03\x06\x04" * 75)[:size], ctypes.c_size_t(size), ctypes.byref(out)
    more = b"\x09\x06\x05" * 40, ctypes.c_size_t(120), ctypes.c_size_t(1 << 20)
    lengths = {library.afl_custom_fuzz(state, *words, *more) for _ in range(1000)}
    library.afl_custom_deinit(state)
    assert max(lengths) == target.max_len


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("engine", ["libfuzzer", "afl"])
def test_a_signal_ends_a_run_in_order(engine: str, number: signal.Signals, work: Path) -> None:
    words = [*FUZZ, "path_norm", "--engine", engine, "--time", "1h", "--jobs", "2"]
    with subprocess.Popen(
        [*words, "--work", str(work)], stdout=subprocess.PIPE, text=True, process_group=0
    ) as process:
        until = time.monotonic() + 60
        while len(left_below(work)) < 2 and time.monotonic() < until:
            time.sleep(0.1)
        # The engine has started but may not be ready yet; it must also obey a signal at that
        # moment.
        process.send_signal(number)
        said, _ = process.communicate(timeout=30)
    assert process.returncode == 0, said
    assert said.splitlines()[-1].endswith("0 findings")
    assert left_below(work) == []


def test_a_person_at_a_terminal_sees_how_far_it_is(work: Path) -> None:
    ours, theirs = pty.openpty()
    words = [*FUZZ, "path_norm", "--time", "2s", "--work", str(work)]
    with subprocess.Popen(words, stdout=theirs, stdin=subprocess.DEVNULL) as process:
        os.close(theirs)
        said = b""
        while piece := _read(ours):
            said += piece
    os.close(ours)
    assert process.returncode == 0
    assert re.search(rb"\r\x1b\[Kpath_norm \xc2\xb7 0 findings \xc2\xb7 1 of 2 s", said), said


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, 65536)
    except OSError:  # the other end of a terminal is closed
        return b""


# Several machines ---------------------------------------------------------------------------


def test_output_folders_of_two_machines_exchange_their_finds(tmp_path: Path) -> None:
    """Two machines have one half each, and each one imports the other's half."""
    target = ROOT / "build" / "fuzz-afl" / "fuzz" / "glob_raw"
    env = {**os.environ, **afl.SETTINGS}
    for name, seed in (("a", b"**/x\xffa/b/x"), ("b", b"?")):
        (tmp_path / name / "in").mkdir(parents=True)
        (tmp_path / name / "in" / "seed").write_bytes(seed)
    outs = [tmp_path / name / "out" for name in ("a", "b")]

    def fuzz(out: Path) -> None:
        folders = ("-i", out.parent / "in", "-o", out)
        flags = ("-M", f"main-{out.parent.name}", "-V", "3", "-G", "64")
        done = run(["afl-fuzz", *folders, *flags, "--", target], env=env, cwd=tmp_path)
        assert done.returncode == 0, done.stdout[-2000:]

    for out in outs:
        fuzz(out)
    exchanged = run([ROOT / "fuzz" / "exchange", *outs])
    assert exchanged.returncode == 0, exchanged.stderr
    assert {path.name for path in outs[1].iterdir()} == {"main-a", "main-b"}
    assert not (outs[1] / "main-a" / "fuzzer_stats").exists()
    imported: list[Path] = []
    for _ in range(5):
        # On a busy machine three seconds may not be enough for the engine to import inputs of
        # others.
        if not imported:
            fuzz(outs[1])
            imported = list((outs[1] / "main-b" / "queue").glob("id:*,sync:main-a*"))
    assert imported != []
