"""`boxspec fuzz` as people use it: it finds, tells, stops, leaves nothing behind, promotes."""

from __future__ import annotations

import ctypes
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from boxspec.fuzz import afl, seeds, targets, trees
from boxspec.target.observe import procs
from selftest.tools import FAKE, ROOT, Done, boxspec, named_block, named_output, run

# A glob, a byte of ones and a path, as glob_raw reads them. Lied about, it is a finding.
CASE = b"a*c\xffabc"
LIE = {"BOXSPEC_FUZZ_LIE": "0:match"}
FUZZ = [sys.executable, "-P", "-m", "boxspec", "fuzz"]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "work"


def left_below(folder: Path) -> list[str]:
    """The processes that were started for a run: engines live in its folder."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                where = str(Path(f"/proc/{name}/cwd").readlink())
            except OSError:
                continue
            if where.startswith(str(folder)):
                found.append(procs.proc(int(name)).describe())  # type: ignore[union-attr]
    return found


def replay(work: Path, *words: str | Path, lie: bool = True) -> Done:
    work.mkdir(exist_ok=True)
    (work / "case").write_bytes(CASE)
    what = ("fuzz", "glob_raw", "--work", work, "--replay", work / "case")
    return boxspec(*what, *words, env=LIE if lie else {})


# Runs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["libfuzzer", "afl"])
def test_a_run_without_a_finding_says_one_line(engine: str, work: Path) -> None:
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
    assert re.fullmatch(r"too slow: \d+ executions a CPU second, 1000000000 are the floor", second)
    assert boxspec(*words, "1").returncode == 0
    refused = boxspec(*words, "1", "--results", work / "results")
    assert refused.returncode == 2 and "one run of one target" in refused.stderr


@pytest.mark.parametrize("engine", ["libfuzzer", "afl"])
def test_a_lie_is_found_and_told_in_a_block_once(engine: str, work: Path) -> None:
    flags = ["--engine", engine, "--time", "4s", "--work", str(work), "--jobs", "2"]
    done = boxspec("fuzz", "glob_diff", *flags, env={"BOXSPEC_FUZZ_LIE": "6:match"})
    assert done.returncode == 1, done.stdout + done.stderr
    fields = re.findall(r"^  (\w+) ", done.stdout, re.M)
    assert fields == ["means", "case", "input", "seen", "repro", "kept"]
    assert done.stdout.splitlines()[-1].endswith("· 1 finding")
    command = re.search(r"^  repro     (.*)$", done.stdout, re.M)
    assert command is not None
    again = run(["bash", "-c", command[1]])
    assert again.returncode != 0
    assert "boxspec-fuzz: glob_diff: match: " in again.stderr
    assert left_below(work) == []


def test_afl_has_the_mutators_that_libfuzzer_has(work: Path) -> None:
    """libFuzzer finds its own in the target, for AFL++ the list of targets names a library."""
    linked = {
        target.name
        for target in targets.every().values()
        if " T LLVMFuzzerCustomMutator\n" in run(["nm", trees.binary(trees.JUDGE, target)]).stdout
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
    trees.build([target], trees.PRESETS["afl"])
    for name, value in afl.settings(target).items():
        monkeypatch.setenv(name, value)
    library = ctypes.CDLL(str(trees.mutator(target)))
    library.afl_custom_init.restype = ctypes.c_void_p
    library.afl_custom_fuzz.restype = ctypes.c_size_t
    state = ctypes.c_void_p(library.afl_custom_init(None, 1))
    out = ctypes.c_void_p()
    # Two globs of a few segments, and afl-fuzz's own limit.
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
        # Engines that are there are at work a moment later; a signal before that counts as well.
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
    assert re.search(rb"\r\x1b\[Kpath_norm \xc2\xb7 libfuzzer \xc2\xb7 1 of 2 s", said), said


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, 65536)
    except OSError:  # the other end of a terminal is closed
        return b""


def test_a_shim_that_dies_is_a_finding_and_not_the_end(work: Path) -> None:
    words = ["shim_diff", "--shim", f"{FAKE} hello-then-dies", "--time", "6s", "--work", str(work)]
    done = boxspec("fuzz", *words, "--as-it-is")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "\nshim_diff: shim-died: " in done.stdout
    assert re.search(r" · [6-9]\.\d s · .* 1 finding$", done.stdout.splitlines()[-1])
    assert f"BOXSPEC_FUZZ_SHIM='{FAKE} hello-then-dies'" in done.stdout
    assert left_below(work) == []


# Answers a hello, and anything else as it is told to.
ODD = """\
#!/usr/bin/env python3
import json, os, sys, time

for line in sys.stdin:
    message = json.loads(line)
    answer = {"id": message["id"], "unsupported": {"capability": message["op"], "why": "odd"}}
    if message["op"] == "hello":
        answer = {"id": message["id"], "result": {"nonce": message["nonce"], "pid": os.getpid()}}
    elif sys.argv[1] == "hangs":
        time.sleep(600)
    elif sys.argv[1] == "leaves":
        if os.fork() == 0:
            os.setsid()
            time.sleep(600)
        os._exit(1)
    elif sys.argv[1] == "short":
        continue
    elif sys.argv[1] == "long":
        print(json.dumps(answer))
    elif sys.argv[1] == "huge":
        print("x" * 100_000_000, end="", flush=True)
    elif sys.argv[1] == "prose":
        answer = "I am no JSON"
    elif sys.argv[1] == "other":
        answer["id"] += "0"
    print(answer if isinstance(answer, str) else json.dumps(answer), flush=True)
"""


@pytest.mark.parametrize(
    ("how", "key"),
    [
        ("hangs", "shim-hung"),
        ("leaves", "shim-hung"),
        ("short", "shim-short"),
        ("long", "shim-long"),
        ("huge", "shim-long"),
        ("prose", "differs [a-z-]+-an-object"),
        ("other", "differs [a-z-]+-id"),
    ],
)
def test_an_odd_shim_is_a_finding_and_nothing_is_left(how: str, key: str, work: Path) -> None:
    shim = work.parent / "odd"
    shim.write_text(ODD)
    shim.chmod(0o755)
    # A hundred megabytes take their time beside other work, and so does a hang.
    seconds = {"huge": "12s", "hangs": "8s", "leaves": "8s"}.get(how, "4s")
    words = ["--shim", f"{shim} {how}", "--time", seconds, "--work", str(work), "--as-it-is"]
    # Only a hang is waited for so long.
    env = {"BOXSPEC_FUZZ_SHIM_TIMEOUT_MS": "300" if key == "shim-hung" else "5000"}
    done = boxspec("fuzz", "shim_diff", *words, env=env)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(f"^shim_diff: {key}: ", done.stdout, re.M), done.stdout
    assert "request" in done.stdout and "ended early" not in done.stdout
    assert left_below(work) == []


def test_what_a_shim_differs_in_is_told_by_kinds_and_by_short_cases(
    work: Path, tmp_path: Path
) -> None:
    shim = tmp_path / "glob-shim"
    shim.write_text(named_block(ROOT / "fuzz" / "README.md", "glob-shim"))
    shim.chmod(0o755)
    words = ["--shim", str(shim), "--time", "10s", "--work", str(work)]
    done = boxspec("fuzz", "shim_diff", *words)
    assert done.returncode == 1, done.stdout + done.stderr
    kinds = re.findall(r"^shim_diff: differs ([a-z-]+): ", done.stdout, re.M)
    assert {"glob-match-match", "glob-match-error", "path-normalize-error"} <= set(kinds)
    assert len(kinds) == len(set(kinds))
    block = done.stdout.partition("shim_diff: differs glob-match-match: ")[2]
    asked = re.search(r"^    pattern +(\S.*)$", block, re.M)
    assert asked is not None and len(asked[1]) < 16, block


# Dies of what its first word says, and supports nothing.
DIES_OF = """\
#!/usr/bin/env python3
import json, os, re, sys

for line in sys.stdin:
    message = json.loads(line)
    text = message.get("text", "")
    if re.search({"levels": r"\\[{50000}", "letters": r"([a-zA-Z])\\1{280}"}[sys.argv[1]], text):
        os._exit(3)
    answer = {"id": message["id"], "unsupported": {"capability": message["op"], "why": "odd"}}
    if message["op"] == "hello":
        answer = {"id": message["id"], "result": {"nonce": message["nonce"], "pid": os.getpid()}}
    print(json.dumps(answer), flush=True)
"""


def test_a_parser_that_falls_over_length_is_found(work: Path) -> None:
    made = seeds.makers()["shim_diff"]()
    seeds.write(made, work / "alone", seeds.LONGEST_ALONE)
    deep = next(each for each in (work / "alone").iterdir() if b"[" * 50_000 in each.read_bytes())
    # A batch of all that becomes of a file.
    (work / "batch").write_bytes(b'\0\xf8"abcdefghijklmnopqrstuvwxyz"')
    shim = work.parent / "dies"
    shim.write_text(DIES_OF)
    shim.chmod(0o755)
    for what, path in (("levels", deep), ("letters", work / "batch")):
        words: list[str | Path] = ["--shim", f"{shim} {what}", "--work", work]
        done = boxspec("fuzz", "shim_diff", *words, "--as-it-is", "--replay", path)
        assert done.returncode == 1, done.stdout + done.stderr
        assert done.stdout.startswith("shim_diff: shim-died: ")
        # A file of a hundred thousand brackets is not what a person wants to see.
        assert max(map(len, done.stdout.splitlines())) < 5000


def test_a_sanitizers_report_that_takes_its_time_is_no_hang(work: Path) -> None:
    shim = work.parent / "late"
    slow = 'sys.stderr.write("==1==ERROR: AddressSanitizer: heap-buffer-overflow\\n"); '
    slow += 'sys.stderr.flush(); __import__("time").sleep(600)'
    shim.write_text(DIES_OF.replace("os._exit(3)", slow))
    shim.chmod(0o755)
    work.mkdir()
    (work / "batch").write_bytes(b'\0\xf8"abcdefghijklmnopqrstuvwxyz"')
    words: list[str | Path] = ["--shim", f"{shim} letters", "--work", work, "--as-it-is"]
    env = {"BOXSPEC_FUZZ_SHIM_TIMEOUT_MS": "1000"}
    done = boxspec("fuzz", "shim_diff", *words, "--replay", work / "batch", env=env)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.startswith("shim_diff: shim-died heap-buffer-overflow: "), done.stdout


# The reference, which writes some of its answers in another way that is as good.
WRITES_OTHERWISE = """\
#!/usr/bin/env python3
import json, re, subprocess, sys

RULES = {"matched_rule", "read", "modify", "except", "rule"}


def stars(value):
    if isinstance(value, str):
        return re.sub(r"[*]{2,}", "****", value)
    if isinstance(value, dict):
        return {key: stars(each) for key, each in value.items()}
    return [stars(each) for each in value]


def other(value):
    if isinstance(value, list):
        return [other(each) for each in value]
    if not isinstance(value, dict):
        return value
    made = {key: stars(each) if key in RULES else other(each) for key, each in value.items()}
    for problem in made.get("problems") or ():
        if "second time" in problem["message"]:
            # What is wrong inside of the repeated value, too.
            inside = {**problem, "pointer": problem["pointer"] + "/x", "message": "more"}
            made["problems"] = [*made["problems"], inside]
    return made


asked = subprocess.Popen([sys.argv[1], "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for line in sys.stdin.buffer:
    asked.stdin.write(line)
    asked.stdin.flush()
    answer = json.loads(asked.stdout.readline())
    if json.loads(line)["op"] == "hello":
        sys.stdout.write(json.dumps(answer) + "\\n")
    else:
        sys.stdout.write(json.dumps(other(answer)) + "\\n")
    sys.stdout.flush()
"""


def test_what_the_contract_leaves_open_is_no_difference(work: Path) -> None:
    shim = work.parent / "otherwise"
    shim.write_text(WRITES_OTHERWISE)
    shim.chmod(0o755)
    reference = ROOT / "build" / "release" / "reference" / "boxspec-ref"
    words = ["--shim", f"{shim} {reference}", "--time", "16s", "--work", str(work), "--as-it-is"]
    done = boxspec("fuzz", "shim_diff", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    # Rules in answers are asked about when the files of the vectors are through.
    assert re.search(r" · [1-9][\d.]* k? ?runs, ", done.stdout), done.stdout


def test_afl_looks_past_what_a_shim_differs_in_over_every_seed(tmp_path: Path) -> None:
    shim = tmp_path / "odd"
    shim.write_text(ODD)
    shim.chmod(0o755)
    binary = trees.binary("fuzz-afl", targets.named("shim_diff"))
    first = sorted((ROOT / "fuzz" / "corpus" / "shim_diff").iterdir())[:4]
    env = {**os.environ, "BOXSPEC_FUZZ_SHIM": f"{shim} other"}
    assert afl.crashing(binary, first, env) != []
    found = afl.differing(binary, first, env)
    assert any(re.fullmatch("differs [a-z-]+-id", key) for key in found), found
    assert afl.crashing(binary, first, {**env, "BOXSPEC_FUZZ_KNOWN": ",".join(found)}) == []


def test_a_shim_that_is_too_slow_for_the_time_is_not_called_clean(work: Path) -> None:
    shim = work.parent / "odd"
    shim.write_text(ODD)
    shim.chmod(0o755)
    words = ["--shim", f"{shim} hangs", "--time", "1s", "--work", str(work)]
    done = boxspec("fuzz", "shim_diff", *words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "has not answered" in done.stderr and "--time" in done.stderr


def test_a_shim_that_does_not_start_is_wrong_use(work: Path) -> None:
    words = ["shim_diff", "--shim", f"{FAKE} crash", "--time", "20s", "--work", str(work)]
    done = boxspec("fuzz", *words)
    assert done.returncode == 2, done.stdout
    assert "the shim does not start" in done.stderr
    assert "the shim does not start" not in done.stdout


# Replays and vectors ------------------------------------------------------------------------


def test_a_replay_looks_at_an_input_again(work: Path) -> None:
    # As it is: the smallest input that is lied about is the empty one.
    lied = replay(work, "--as-it-is")
    assert lied.returncode == 1
    assert 'pattern  "a*c"' in lied.stdout
    honest = replay(work, lie=False)
    assert (honest.returncode, honest.stdout) == (0, "1 replayed, 0 different findings\n")


def test_the_finding_on_the_page_is_a_real_one() -> None:
    page = ROOT / "fuzz" / "README.md"
    command = re.search(r"^(printf .* --as-it-is)  # exits 1$", page.read_text(), re.M)
    assert command is not None
    done = run(["bash", "-c", command[1]])
    assert done.stdout.replace(str(ROOT), "/home/you/boxspec") == named_output(page)


def test_what_is_promoted_is_a_vector_that_a_run_asks(work: Path, tmp_path: Path) -> None:
    into = tmp_path / "into"
    done = replay(work, "--as-it-is", "--promote", "--into", into, "--why", "A star lost its c.")
    assert done.returncode == 1
    (kept,) = (into / "fuzz" / "regressions" / "glob_raw").iterdir()
    assert kept.read_bytes() == CASE
    (path,) = (into / "fixtures" / "vectors").iterdir()
    (vector,) = json.loads(path.read_text())["vectors"]
    assert vector["requirement"] == "POLICY-GLOB-11"
    assert (vector["why"], vector["match"]) == ("A star lost its c.", True)
    env = {"BOXSPEC_VECTORS": str(path.parent)}
    words = ["run", "--contract", "policy", "-k", "test_glob"]
    assert boxspec(*words, env=env).returncode in (0, 3)
    judged = boxspec(*words, "--shim", f"{FAKE} literal", "--profile", "all", env=env)
    assert judged.returncode == 1, judged.stdout
    assert f"{vector['id']}: match" in judged.stdout
    assert "A star lost its c." in judged.stdout


def test_the_same_finding_is_promoted_once(work: Path, tmp_path: Path) -> None:
    for _ in range(2):
        done = replay(work, "--as-it-is", "--promote", "--into", tmp_path / "into")
    assert "is this one already" in done.stdout


@pytest.fixture
def full(work: Path) -> Path:
    """A root below which neither a finding nor a vector can be written: the disk is full."""
    into = work.parent / "into"
    for path in (
        work / "glob_raw" / "findings" / "match-a41b8f58",
        into / "fixtures" / "vectors" / "found-glob.new",
    ):
        path.parent.mkdir(parents=True)
        path.symlink_to("/dev/full")
    return into


def test_a_finding_that_cannot_be_kept_names_the_folder(work: Path, full: Path) -> None:
    done = replay(work, "--as-it-is")
    assert done.returncode == 2
    assert f"{work}: No space left on device (--work DIR names" in done.stderr


def test_vectors_that_cannot_be_written_are_told_and_the_old_ones_stay(
    work: Path, full: Path
) -> None:
    (work / "glob_raw" / "findings" / "match-a41b8f58").unlink()
    known = full / "fixtures" / "vectors" / "found-glob.json"
    known.write_text('{"vectors": []}')
    done = replay(work, "--as-it-is", "--promote", "--into", full)
    assert done.returncode == 2
    assert f"--into {full}: cannot be written: No space left on device (" in done.stderr
    assert known.read_text() == '{"vectors": []}'
    assert [*known.parent.iterdir()] == [known]


# Several machines ---------------------------------------------------------------------------


def test_output_folders_of_two_machines_exchange_their_finds(tmp_path: Path) -> None:
    """Two machines that know one half each: what one has is taken over by the other."""
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
        # On a busy machine three seconds may not reach the moment when others are looked at.
        if not imported:
            fuzz(outs[1])
            imported = list((outs[1] / "main-b" / "queue").glob("id:*,sync:main-a*"))
    assert imported != []
