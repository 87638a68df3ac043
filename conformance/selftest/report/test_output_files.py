"""Tests of output files: full disks, equal names, standard output."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from boxspec.errors import UsageError
from boxspec.report.output_file import OutputFile, expect_distinct, replace_file
from selftest.tools import FAKE, FEW_TEXTS, boxspec, run

pytestmark = pytest.mark.turns(6)

SHIM = ("--shim", f"{FAKE} honest", "-k", FEW_TEXTS)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 4 KiB; skip without the permission to mount."""
    folder = tmp_path / "small"
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=4k", "none", str(folder)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("needs the permission to mount")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("old", [None, "old"])
def test_a_full_disk_leaves_the_old_file_or_none(old: str | None, small_disk: Path) -> None:
    file = small_disk / "result.json"
    if old:
        file.write_text(old)
    done = boxspec("run", *SHIM, "--json", file)
    assert done.returncode == 2
    assert f"--json {file}: cannot be written: No space left on device" in done.stderr
    assert os.listdir(small_disk) == ([file.name] if old else [])
    assert not old or file.read_text() == old


def test_a_file_keeps_its_mode_and_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    OutputFile("--json", str(tmp_path / "link")).write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o640
    replace_file(tmp_path / "made", "text")
    plain = tmp_path / "plain"
    plain.touch()
    assert (tmp_path / "made").stat().st_mode == plain.stat().st_mode
    assert sorted(os.listdir(tmp_path)) == ["link", "made", "plain", "real"]


def test_a_check_leaves_no_file_and_changes_none(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    for name in ("old", "new"):
        OutputFile("--json", str(tmp_path / name))
    assert os.listdir(tmp_path) == ["old"]
    assert (tmp_path / "old").read_text() == "old"


def test_two_outputs_with_one_path_are_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("a.json")
    for first, second in (("a.json", "./a.json"), ("a.json", "link"), ("-", "-")):
        done = boxspec("run", *SHIM, "--json", first, "--md", second, cwd=tmp_path)
        assert done.returncode == 2
        names = f"--json {first} and --md {second}: name the same file"
        assert done.stderr == f"boxspec: {names} (give each output its own name)\n"
        assert done.stdout == ""
    assert os.listdir(tmp_path) == ["link"]


def test_a_device_may_be_named_twice() -> None:
    expect_distinct([OutputFile(flag, "/dev/null") for flag in ("--json", "--md")])


def test_a_baseline_is_no_output_of_its_own_run(tmp_path: Path) -> None:
    done = boxspec("baseline", *SHIM, "--write", "a", "--json", "a", cwd=tmp_path)
    assert done.returncode == 2
    assert "--write a and --json a: name the same file" in done.stderr


def test_stdout_gets_only_the_output(tmp_path: Path) -> None:
    done = boxspec("run", *SHIM, "--json", "-", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["outcome"]["status"] == 0
    assert "PASS" in done.stderr
    assert os.listdir(tmp_path) == []
    (tmp_path / "r.json").write_text(done.stdout)
    for verb in (["report", "r.json", "--md", "-"], ["diff", "r.json", "r.json", "--md", "-"]):
        made = boxspec(*verb, cwd=tmp_path)
        assert made.returncode == 0, made.stderr
        assert made.stdout.startswith("#")


def test_dev_stdout_stays_the_open_file(tmp_path: Path) -> None:
    words = ["boxspec", "run", *SHIM, "--tap", "/dev/stdout"]
    command = f"{shlex.join(words)} >out".replace("boxspec", "$PYTHON -P -m boxspec", 1)
    done = run(["sh", "-c", command], cwd=tmp_path, env={"PYTHON": sys.executable})
    assert done.returncode == 0, done.stderr
    assert "TAP version 14" in (tmp_path / "out").read_text()


def test_an_output_that_is_no_single_file_is_not_written_to_stdout() -> None:
    with pytest.raises(UsageError, match=r"^--html -: cannot be standard output"):
        OutputFile("--html", "-", stdout=False)
    done = boxspec("run", *SHIM, "--html", "-")
    assert done.returncode == 2
    assert "--html -" in done.stderr
