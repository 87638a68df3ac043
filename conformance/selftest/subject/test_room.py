"""Tests of runs with little memory or disk space."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from boxspec.judge.record import Record
from boxspec.judge.verdict import Failure, Verdict
from boxspec.schedule.body import record_exception
from boxspec.subject import room
from boxspec.subject.case import Case
from boxspec.subject.room import MEMORY, MIB


def group(folder: Path, name: str, limit: int | str) -> Path:
    folder.mkdir(parents=True)
    (folder / name).write_text(f"{limit}\n")
    return folder


def warning(monkeypatch: pytest.MonkeyPatch, *groups: Path) -> str | None:
    """Return the warning of a process in these control groups."""
    monkeypatch.setattr(room, "cgroup_folders", lambda names: groups)
    return room.warning()


def test_a_low_limit_of_memory_in_either_version_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("memory.max", "memory.limit_in_bytes"):
        service = group(tmp_path / name / "service", name, 512 * MIB)
        own = group(service / "own", name, MEMORY * 2)
        text = warning(monkeypatch, own)
        assert text is not None and " 512 MiB" in text


def test_enough_memory_gives_no_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enough = group(tmp_path / "v2", "memory.max", MEMORY)
    without_limit = group(tmp_path / "none", "memory.max", "max")
    assert warning(monkeypatch, enough, without_limit, tmp_path / "missing") is None


@pytest.mark.parametrize(
    ("blocks", "files", "free_files", "full"),
    [(255, 100, 1, True), (256, 100, 1, False), (256, 100, 0, True), (256, 0, 0, False)],
)
def test_a_disk_without_space_or_files_is_full(
    blocks: int, files: int, free_files: int, full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = SimpleNamespace(f_bavail=blocks, f_frsize=4096, f_files=files, f_favail=free_files)
    monkeypatch.setattr(os, "statvfs", lambda _: system)
    assert room.is_full(Path("/tmp")) is full


def test_a_failure_on_a_full_disk_is_not_blamed_on_the_implementation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = SimpleNamespace(session=SimpleNamespace(root=tmp_path / "run"))
    monkeypatch.setattr("boxspec.schedule.body.is_full", lambda place: place == tmp_path)
    record = Record("a test", ["EXEC-STDIN-03"])
    record_exception(record, Failure("the shim answers", "an answer", "none"), cast(Case, case))
    assert record.verdict is Verdict.NOT_MEASURED
    assert record.reason == f"{tmp_path} is full: free space, or name another folder"
