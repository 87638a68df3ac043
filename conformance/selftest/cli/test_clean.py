"""Tests of kept folders: those of failed tests are kept on the disk, listed and removed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from boxspec import folders, places
from boxspec.cli import clean
from selftest.tools import ROOT, run

KEEPS_HOME = f"{ROOT}/conformance/shims/faults/shim.py --fault exec-env.keeps-home"


def test_the_folder_of_a_failed_test_is_on_the_disk(tmp_path: Path) -> None:
    if not places._fits(places.MEMORY):
        pytest.skip("folders of cases are not in memory here")
    file = tmp_path / "result.json"
    words = ("--contract", "exec", "--topic", "EXEC-ENV", "-x")
    kit = ("env", "-u", "TMPDIR", sys.executable, "-P", "-m", "boxspec")
    done = run([*kit, "run", "--shim", KEEPS_HOME, *words, "--json", file])
    assert done.returncode == 1, done.stdout + done.stderr
    (folder,) = [
        each["folder"] for each in json.loads(file.read_text())["tests"] if each.get("folder")
    ]
    kept = Path(folder)
    assert kept.parent.parent == places.kept_root()
    try:
        assert (kept / "test").is_file()
        assert list(kept.glob("run-*/request.json"))
        assert kept.parent in [left.path for left in folders.left_by_runs([places.kept_root()])]
    finally:
        shutil.rmtree(kept.parent)


@pytest.fixture
def left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Make four folders: a kept one, one of a killed run, one that is in use, and one of another
    program."""
    monkeypatch.setattr(clean, "left_roots", lambda: [tmp_path, tmp_path / "none"])
    ended = subprocess.Popen(["true"])
    ended.wait()
    _, _, namespace = folders.owner().split("-")
    owner = f"{ended.pid}-1-{namespace}"
    made = {name: tmp_path / f"boxspec-{owner}-{name}" for name in ("kept", "killed")}
    made["used"] = folders.make(tmp_path)
    made["other"] = tmp_path / "boxspec-notes"
    for name in ("kept", "killed", "other"):
        made[name].mkdir()
        (made[name] / "file").write_bytes(bytes(2**20))
    folders.keep(made["kept"])
    return made


@pytest.mark.parametrize(("hours", "stays"), [(0, True), (23, True), (25, False)])
def test_the_folder_of_a_run_in_another_container_stays_for_a_day(
    tmp_path: Path, hours: int, stays: bool
) -> None:
    """Containers that share a folder have pids of their own: pid 1 is another process in each."""
    theirs = tmp_path / "boxspec-1-1-7-theirs"
    theirs.mkdir()
    changed = time.time() - hours * 3600
    os.utime(theirs, (changed, changed))
    folders.make(tmp_path)
    assert theirs.exists() == stays


def test_clean_lists_and_removes_nothing(
    left: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert clean.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines[:2]] == [str(left["kept"]), str(left["killed"])]
    assert lines[2:] == [
        "2 folders, 2.0 MiB, found; boxspec clean --force removes them",
        "1 more in use by running processes",
    ]
    assert all(path.exists() for path in left.values())


def test_clean_lists_the_largest_folders(
    left: dict[str, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (left["killed"] / "more").write_bytes(bytes(2**20))
    monkeypatch.setattr(clean, "MOST", 1)
    assert clean.main([]) == 0
    first, rest, *_ = capsys.readouterr().out.splitlines()
    assert first.split()[-1] == str(left["killed"])
    assert rest.split() == ["1.0", "MiB", "in", "1", "smaller", "folder"]


def test_clean_with_force_removes_what_no_process_uses(
    left: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert clean.main(["--force"]) == 0
    assert "2 folders, 2.0 MiB, removed" in capsys.readouterr().out
    assert {name for name, path in left.items() if path.exists()} == {"used", "other"}


def test_a_folder_with_a_closed_directory_is_deleted(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from boxspec import folders"
    code += "; (Path(sys.argv[1]) / 'a/closed/below').mkdir(parents=True)"
    code += "; (Path(sys.argv[1]) / 'a/closed').chmod(0)"
    code += "; print(folders.delete(Path(sys.argv[1])))"
    # Root without capabilities obeys modes, as any other user does.
    plain = ["setpriv", "--inh-caps", "-all", "--bounding-set", "-all"]
    words: list[str | Path] = [sys.executable, "-c", code, tmp_path / "folder"]
    done = run([*(plain if os.geteuid() == 0 else []), *words])
    assert (done.stdout, (tmp_path / "folder").exists()) == ("True\n", False), done.stderr


def test_what_cannot_be_copied_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "below").mkdir(parents=True)
    (folder / "below" / "file").write_text("text")
    (folder / "link").symlink_to("nowhere")
    os.mkfifo(folder / "fifo")
    folders.move(folder, tmp_path / "kept")
    assert (tmp_path / "kept" / "below" / "file").read_text() == "text"
    assert (tmp_path / "kept" / "link").is_symlink()
    assert sorted(os.listdir(tmp_path / "kept")) == ["below", "link"]
    assert not folder.exists()


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(-1, "0 seconds"), (59, "59 seconds"), (60, "1 minute"), (7200, "2 hours"), (1e6, "11 days")],
)
def test_the_age_of_a_folder_has_one_unit(seconds: float, shown: str) -> None:
    assert clean.age(seconds) == shown
