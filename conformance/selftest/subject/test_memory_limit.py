"""Tests of the warning about a control group with little memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from boxspec.subject import memory_limit
from boxspec.subject.memory_limit import MIB, NEEDED


def group(folder: Path, name: str, limit: int | str) -> Path:
    folder.mkdir(parents=True)
    (folder / name).write_text(f"{limit}\n")
    return folder


def warning(monkeypatch: pytest.MonkeyPatch, *groups: Path) -> str | None:
    monkeypatch.setattr(memory_limit, "cgroup_folders", lambda names: groups)
    return memory_limit.warning()


def test_a_low_limit_in_either_version_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("memory.max", "memory.limit_in_bytes"):
        service = group(tmp_path / name / "service", name, 512 * MIB)
        own = group(service / "own", name, NEEDED * 2)
        text = warning(monkeypatch, own)
        assert text is not None and " 512 MiB" in text


def test_enough_memory_gives_no_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enough = group(tmp_path / "v2", "memory.max", NEEDED)
    without_limit = group(tmp_path / "none", "memory.max", "max")
    assert warning(monkeypatch, enough, without_limit, tmp_path / "missing") is None
