"""Replay of an input with `boxspec fuzz --replay`, and its promotion to a vector."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from selftest.tools import FAKE, ROOT, Done, boxspec, named_output, run

# A glob, the byte 0xff and a path, as glob_raw reads them. Falsified answers make it a finding.
CASE = b"a*c\xffabc"
LIE = {"BOXSPEC_FUZZ_LIE": "0:match"}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "work"


def replay(work: Path, *words: str | Path, lie: bool = True) -> Done:
    work.mkdir(exist_ok=True)
    (work / "case").write_bytes(CASE)
    what = ("fuzz", "glob_raw", "--work", work, "--replay", work / "case")
    return boxspec(*what, *words, env=LIE if lie else {})


def test_a_replay_judges_an_input_again(work: Path) -> None:
    # The input is replayed unchanged. A reduction would end at the empty input, for which the
    # answer is falsified too.
    lied = replay(work, "--as-it-is")
    assert lied.returncode == 1
    assert 'pattern  "a*c"' in lied.stdout
    honest = replay(work, lie=False)
    assert (honest.returncode, honest.stdout) == (0, "1 input replayed, 0 different findings\n")


def test_the_finding_on_the_page_is_a_real_one() -> None:
    page = ROOT / "fuzz" / "README.md"
    command = re.search(r"^(printf .* --as-it-is)  # exits 1$", page.read_text(), re.M)
    assert command is not None
    done = run(["bash", "-c", command[1]])
    assert done.stdout.replace(str(ROOT), "/home/you/boxspec") == named_output(page)


def test_a_promoted_finding_becomes_a_vector_of_runs(work: Path, tmp_path: Path) -> None:
    into = tmp_path / "into"
    done = replay(work, "--as-it-is", "--promote", "--into", into, "--why", "A star lost its c.")
    assert done.returncode == 1
    (kept,) = (into / "fuzz" / "regressions" / "glob_raw").iterdir()
    assert kept.read_bytes() == CASE
    (path,) = (into / "fixtures" / "vectors").iterdir()
    (vector,) = json.loads(path.read_text())["vectors"]
    assert vector["requirement"] == "POLICY-GLOB-03"
    assert (vector["why"], vector["match"]) == ("A star lost its c.", True)
    env = {"BOXSPEC_VECTORS": str(path.parent)}
    words = ["run", "--contract", "policy", "-k", "test_glob.py"]
    assert boxspec(*words, env=env).returncode in (0, 3)
    judged = boxspec(*words, "--shim", f"{FAKE} literal", "--profile", "all", "-v", env=env)
    assert judged.returncode == 1, judged.stdout
    assert f"{vector['id']}: match" in judged.stdout
    assert "A star lost its c." in judged.stdout


def test_the_same_finding_is_promoted_once(work: Path, tmp_path: Path) -> None:
    for _ in range(2):
        done = replay(work, "--as-it-is", "--promote", "--into", tmp_path / "into")
    assert "is equal to this one" in done.stdout


@pytest.fixture
def full(work: Path) -> Path:
    """Return a root in which neither findings nor vectors can be written, as if the disk were
    full."""
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


def test_vectors_that_cannot_be_written_leave_the_old_ones(work: Path, full: Path) -> None:
    (work / "glob_raw" / "findings" / "match-a41b8f58").unlink()
    known = full / "fixtures" / "vectors" / "found-glob.json"
    known.write_text('{"vectors": []}')
    done = replay(work, "--as-it-is", "--promote", "--into", full)
    assert done.returncode == 2
    assert f"--into {full}: cannot be written: No space left on device (" in done.stderr
    assert known.read_text() == '{"vectors": []}'
    assert [*known.parent.iterdir()] == [known]
