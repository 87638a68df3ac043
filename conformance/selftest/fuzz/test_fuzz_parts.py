"""Parts of the verb `fuzz` that need no build: reports, sizes, answers, the templates."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from boxspec.cli.fuzz import seconds
from boxspec.errors import UsageError
from boxspec.fuzz import about, builds, crash_report, replay, status, targets, work_folder
from boxspec.fuzz.engine import Crash
from boxspec.fuzz.finding_block import finding_block
from boxspec.fuzz.findings import Finding, Findings
from selftest.tools import ROOT, boxspec, run

FIRED = """INFO: Seed: 1
boxspec-fuzz: glob_diff: match: the glob does not match, and it should
  op       glob.match
  pattern  "a"
  file     somewhere
==1== ERROR: libFuzzer: deadly signal
    #0 0x5555 in __sanitizer_print_stack_trace (/x/glob_diff+0x1)
"""
OVERREAD = """==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602 at pc 0x5
READ of size 1 at 0x602 thread T0
    #0 0x5a in __interceptor_memcmp (/x/glob_raw+0x1)
    #1 0x5b in accepted /home/you/boxspec/reference/base/utf8.c:43:9
    #2 0x5c in bs_utf8_valid_prefix /home/you/boxspec/reference/base/utf8.c:70:20
    #3 0x5d in LLVMFuzzerTestOneInput /home/you/boxspec/fuzz/targets/glob_raw.c:40:5
"""
LEAK = """==7==ERROR: LeakSanitizer: detected memory leaks
    #0 0x5b in accepted /home/you/boxspec/reference/base/utf8.c:43:9
"""
ABORTED = """==7== ERROR: libFuzzer: deadly signal
    #0 0x5b in put /home/you/boxspec/reference/base/buf.c:43:9
"""
UNDEFINED = "/x/reference/policy/yaml.c:157:9: runtime error: index 64 out of bounds\n"
SLOW = "==9== ERROR: libFuzzer: timeout after 10 seconds\n"


@pytest.mark.parametrize(
    ("said", "key"),
    [
        (FIRED, "match"),
        (FIRED.replace("the glob", "twice: the glob"), "match twice"),
        (OVERREAD, "heap-buffer-overflow accepted bs_utf8_valid_prefix"),
        (LEAK, "leak accepted"),
        (UNDEFINED, "undefined yaml.c:157"),
        (SLOW, "timeout"),
        ("INFO: nothing happened\n", None),
    ],
)
def test_findings_differ_by_oracle_and_place(said: str, key: str | None) -> None:
    told = crash_report.read(said)
    assert (told.key if told else None) == key


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (FIRED, "match: the glob does not match, and it should"),
        (FIRED.replace("the glob", "twice: the glob"), "match twice: the glob does not match, "),
        (OVERREAD, "heap-buffer-overflow accepted bs_utf8_valid_prefix: AddressSanitizer: on addr"),
        (LEAK, "leak accepted: LeakSanitizer: detected memory leaks"),
        (UNDEFINED, "undefined yaml.c:157: index 64 out of bounds"),
        (SLOW, "timeout: after 10 seconds"),
        (ABORTED, "deadly-signal put: killed by a signal"),
    ],
)
def test_each_kind_of_finding_is_reported_once(said: str, line: str, tmp_path: Path) -> None:
    known = findings(tmp_path, said, 77)
    known.add(crash(tmp_path))
    (found,) = known.by_key.values()
    assert finding_block(found, "true")[0].startswith(f"glob_raw: {line}")


def test_a_difference_shows_both_answers(tmp_path: Path) -> None:
    theirs, ours = (f'{{"id": "1", "result": {each}}}' for each in ("[1]", "[2]"))
    message = f"request 1: {theirs}, and the reference: {ours}"
    input_ = tmp_path / "input"
    input_.write_bytes(b"x")
    report = crash_report.Report("differs glob-match-match", message, "differs", ["op  glob.match"])
    found = Finding(targets.named("shim_diff"), report, input_, 1)
    lines = finding_block(found, "true")
    assert lines[0] == "shim_diff: differs glob-match-match: two different answers"
    assert lines[-6:-4] == ['  expected  {"result": [2]}', '  actual    {"result": [1]}']


def test_only_the_request_with_the_difference_names_a_requirement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An input may also have a policy. Its vectors are not asked about the glob."""
    glob = {"op": "glob.match", "request": {"pattern": "a", "paths": ["a"]}}
    policy = {"op": "path.normalize", "request": {"paths": ["a"]}}
    monkeypatch.setattr(replay, "cases", lambda *_: [policy, glob])
    monkeypatch.setattr(builds, "binary", lambda *_: Path(__file__))
    message = 'request 1: {"result": {"items": [{}]}}, and the reference: {}'
    report = crash_report.Report("differs glob", message, "differs", ["op       glob.match"])
    found = Finding(targets.named("shim_diff"), report, tmp_path, 1)
    assert about.requirement(found) == "POLICY-GLOB-01"


def test_only_the_case_of_the_oracle_is_kept() -> None:
    told = crash_report.read(FIRED)
    assert told is not None
    assert told.case == ["op       glob.match", 'pattern  "a"']
    assert told.oracle == "match"


def test_an_input_is_made_as_small_and_plain_as_it_gets() -> None:
    def same(data: bytes) -> bool:
        return b"a" in data and data.count(b"\xff") == 1

    assert sorted(replay.minimise(b"xxaxx\xffyyya", same, b"0", lambda: True)) == sorted(b"a\xff")
    assert replay.minimise(b"abc", lambda data: len(data) == 3, b"0", lambda: True) == b"000"


def test_without_time_left_an_input_is_not_minimised() -> None:
    asked = []

    def same(data: bytes) -> bool:
        asked.append(data)
        return True

    assert replay.minimise(b"abc", same, b"0", lambda: False) == b"abc"
    assert asked == []


@pytest.mark.parametrize(("word", "time"), [("90", 90), ("90s", 90), ("1.5m", 90), ("2h", 7200)])
def test_times_have_units(word: str, time: float) -> None:
    assert seconds(word) == time


@pytest.mark.parametrize("word", ["0", "soon", "-1s", "5d", ""])
def test_an_invalid_duration_is_refused(word: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        seconds(word)


def test_large_numbers_are_short() -> None:
    assert [status.count(n) for n in (0, 950, 12345, 4.5e6)] == ["0", "950", "12.3 k", "4.5 M"]


# Findings -----------------------------------------------------------------------------------


def findings(folder: Path, said: str, status: int, *ignored: str) -> Findings:
    """Return findings that a script judges with this output and exit status."""
    judge = folder / "judge"
    judge.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{said}END\nexit {status}\n")
    judge.chmod(0o755)
    return Findings(targets.named("glob_raw"), judge, folder, {}, ignored)


def crash(folder: Path, **how: Any) -> Crash:
    (folder / "input").write_bytes(b"x")
    return Crash(folder / "input", **how)


def test_two_reports_of_one_oracle_are_one_finding(tmp_path: Path) -> None:
    known = findings(tmp_path, FIRED, 77)
    assert [known.add(crash(tmp_path)) for _ in range(3)] == [True, False, False]
    assert known.by_key["match"].times == 3
    assert known.add(crash(tmp_path, output=FIRED)) is False
    assert known.by_key["match"].times == 4


def test_a_class_that_is_ignored_is_not_reported(tmp_path: Path) -> None:
    known = findings(tmp_path, FIRED, 77, "match")
    assert not known.add(crash(tmp_path))
    assert not known.add(crash(tmp_path, output=FIRED))
    assert known.by_key == {}
    assert findings(tmp_path, FIRED, 77, "other").add(crash(tmp_path))


def test_marks_set_aside_only_the_findings_that_have_them_all(tmp_path: Path) -> None:
    said = "boxspec-fuzz: shim_diff: differs: glob-match-match: request 3 +star+blank: {}\n"
    key = "differs glob-match-match"
    for ignored in (key, f"{key}+star", f"{key}+blank+star"):
        assert not findings(tmp_path, said, 77, ignored).add(crash(tmp_path)), ignored
    for ignored in (f"{key}+stars", f"{key}+star+not", "differs glob-match+star"):
        known = findings(tmp_path, said, 77, ignored)
        assert known.add(crash(tmp_path)), ignored
        (found,) = known.by_key.values()
        assert f"  aside     --ignore '{key}+star+blank'" in "\n".join(finding_block(found, "x"))


def test_a_finding_that_does_not_reproduce_is_marked(tmp_path: Path) -> None:
    known = findings(tmp_path, "", 0)
    assert known.add(crash(tmp_path, output=FIRED))
    assert not known.by_key["match"].reproduces
    assert "not in the replay" in "\n".join(finding_block(known.by_key["match"], "true"))


def test_a_crash_that_only_the_engine_saw_is_a_finding_and_a_slow_input_is_none(
    tmp_path: Path,
) -> None:
    known = findings(tmp_path, "", 0)
    assert known.add(crash(tmp_path, sure=False)) is False
    assert known.add(crash(tmp_path)) is True
    assert list(known.by_key) == ["engine"]


# Targets ------------------------------------------------------------------------------------


def test_each_target_has_a_source_and_each_source_is_listed() -> None:
    sources = {path.stem for path in (targets.FUZZ / "targets").glob("*.c")}
    assert set(targets.every()) == sources


@pytest.mark.parametrize("name", sorted(targets.every()))
def test_no_input_of_a_corpus_is_longer_than_its_target_takes(name: str) -> None:
    # Engines cut or skip longer inputs, so a longer one in the corpus would be useless.
    most = targets.every()[name].max_len
    sizes = {path.name: path.stat().st_size for path in (ROOT / "fuzz" / "corpus" / name).iterdir()}
    assert {each: size for each, size in sizes.items() if size > most} == {}


def test_dictionaries_that_are_named_are_there() -> None:
    entries = json.loads(targets.LIST.read_text())
    named = {entry["dictionary"] for entry in entries.values() if entry["dictionary"]}
    assert {name for name in named if not (targets.FUZZ / "dictionaries" / name).is_file()} == set()


def test_the_list_explains_each_oracle() -> None:
    listed = boxspec("fuzz", "--list")
    assert listed.returncode == 0
    for target in targets.every().values():
        assert f"{target.name}: {target.checks}" in listed.stdout
        for says in target.oracles.values():
            assert says in listed.stdout


def test_the_list_is_of_those_that_are_named() -> None:
    listed = boxspec("fuzz", "--list", "path_norm")
    assert listed.stdout == targets.list_targets([targets.named("path_norm")]) + "\n"
    assert re.findall(r"^\w+", listed.stdout, re.M) == ["path_norm"]
    assert boxspec("fuzz", "--list", "no_such").returncode == 2


def test_a_target_that_is_spelt_almost_right_is_named() -> None:
    done = boxspec("fuzz", "glob_rwa")
    assert "glob_rwa: no such target (near it: glob_raw" in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--why", "So."], "--why: has no effect without --promote (add --promote)"),
        (["--into", "build/x"], "--into: has no effect without --promote"),
        (["--requirement", "POLICY-GLOB-11"], "--requirement: has no effect without --promote"),
        (["--replay", "README.md", "--fresh"], "--fresh: would delete the inputs to replay"),
        (
            ["--replay", "README.md", "--results", "build/x"],
            "--results: cannot be combined with --replay",
        ),
    ],
)
def test_conflicting_options_are_refused_before_a_run(words: list[str], told: str) -> None:
    done = boxspec("fuzz", "glob_raw", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


@pytest.mark.parametrize(
    "words",
    [["no_such"], [], ["glob_diff", "--time", "soon"], ["glob_diff", "--shim", "true"], ["-x"]],
)
def test_wrong_use_is_one_line_and_exit_2(words: list[str]) -> None:
    done = boxspec("fuzz", *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr


def test_an_impossible_replay_is_refused_before_a_build(tmp_path: Path) -> None:
    for path, problem in ((tmp_path, "is a folder"), (tmp_path / "none", "no such file")):
        done = boxspec("fuzz", "glob_diff", "--replay", str(path))
        assert (done.returncode, done.stdout) == (2, "")
        assert f"--replay {path}: {problem} (name one or more files" in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--requirement", "NONE-1"], "--requirement NONE-1: no such requirement (boxspec list"),
        (
            ["--into", "/proc/none"],
            "--into /proc/none: cannot be created: No such file or directory (",
        ),
        (["--into", "/proc"], "--into /proc: cannot be created: No such file or directory ("),
    ],
)
def test_an_impossible_promotion_is_refused_before_a_run(words: list[str], told: str) -> None:
    done = boxspec("fuzz", "glob_diff", "--time", "1s", "--promote", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


# The folder of a run ------------------------------------------------------------------------


def test_a_folder_that_cannot_be_made_is_named_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = boxspec("fuzz", "glob_diff", "--time", "1s", "--work", str(tmp_path / "file"))
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{tmp_path}/file/glob_diff: cannot be written: Not a directory (--work" in done.stderr


def test_a_folder_belongs_to_one_run_of_an_engine_at_a_time(tmp_path: Path) -> None:
    folder = tmp_path / "glob_diff"
    with work_folder.claimed(folder, "afl"), work_folder.claimed(folder, "libfuzzer"):
        done = boxspec("fuzz", "glob_diff", "--time", "1s", "--work", str(tmp_path))
        assert (done.returncode, done.stdout) == (2, "")
        assert "another run uses it (wait until it ends, or --work" in done.stderr
    with work_folder.claimed(folder, "libfuzzer"):
        pass


def test_a_tool_that_has_gone_is_missed_although_setup_was_done(tmp_path: Path) -> None:
    for path in Path("/usr/bin").iterdir():
        if not path.name.startswith(("afl", "apt")):
            (tmp_path / path.name).symlink_to(path)
    done = run([ROOT / "ci" / "setup", "--fuzz"], env={"PATH": str(tmp_path)})
    assert done.returncode == 2
    assert "install the equivalents of: afl++" in done.stderr


def test_a_full_disk_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert work_folder.no_room(tmp_path) is None
    monkeypatch.setattr(work_folder, "ROOM_BYTES", 1 << 62)
    folder = tmp_path / "x"
    with pytest.raises(UsageError) as full, work_folder.claimed(folder, "afl"):
        pass
    assert f"{folder}: disk is full (free space, or --work DIR" in str(full.value)
    assert str(work_folder.no_room(folder)) == str(full.value)


# Templates ----------------------------------------------------------------------------------

TEMPLATES = sorted((ROOT / "ci" / "templates" / "clusterfuzzlite").glob("*.yml"))


def steps(path: Path) -> list[dict[str, Any]]:
    (job,) = yaml.safe_load(path.read_text())["jobs"].values()
    return list(job["steps"])


def test_there_is_a_workflow_for_each_mode_of_the_service() -> None:
    modes = {steps(path)[1]["with"]["mode"] for path in TEMPLATES}
    assert modes == {"code-change", "batch", "prune", "coverage"}


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_a_workflow_runs_the_program_that_it_built(path: Path) -> None:
    build, run = steps(path)
    assert build["uses"].startswith("google/clusterfuzzlite/actions/build_fuzzers@")
    assert run["uses"].startswith("google/clusterfuzzlite/actions/run_fuzzers@")
    assert build["with"]["sanitizer"] == run["with"]["sanitizer"]
    language = yaml.safe_load((ROOT / ".clusterfuzzlite" / "project.yaml").read_text())["language"]
    assert build["with"]["language"] == language == "c"
