"""Tests of the choice of the folder in which cases get their files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from boxspec import places
from boxspec.errors import UsageError

MOUNTS = "tmpfs /dev/shm tmpfs rw 0 0"


@pytest.fixture(autouse=True)
def nobody_named_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("tempfile.tempdir", "/var/tmp")


def host(
    monkeypatch: pytest.MonkeyPatch, mode: int = 0o1777, flags: int = 0, free: int = 2 << 30,
    mounts: str = MOUNTS,
) -> None:  # fmt: skip
    system = SimpleNamespace(f_flag=flags, f_bavail=free // 4096, f_frsize=4096, f_files=0)
    disk = SimpleNamespace(f_flag=0, f_bavail=1 << 20, f_frsize=4096, f_files=0)
    monkeypatch.setattr(os, "statvfs", lambda place: system if place == places.MEMORY else disk)
    monkeypatch.setattr(Path, "stat", lambda _: SimpleNamespace(st_mode=mode))
    monkeypatch.setattr(Path, "read_bytes", lambda _: mounts.encode())


def test_memory_is_used_where_it_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    host(monkeypatch)
    assert places.scratch() == Path("/dev/shm")


def test_a_place_that_is_named_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    host(monkeypatch)
    monkeypatch.setenv("TMPDIR", "/var/tmp")
    assert places.scratch() == Path("/var/tmp")


@pytest.mark.parametrize(
    "kind",
    [
        {"mode": 0o1755},
        {"flags": os.ST_NOEXEC},
        {"flags": os.ST_RDONLY},
        {"free": 64 << 20},
        {"mounts": "/dev/vda / ext4 rw 0 0"},
        {"mounts": MOUNTS + "\next /dev/shm ext4 rw 0 0"},
    ],
    ids=["closed", "noexec", "read-only", "small", "no mount", "covered"],
)
def test_a_memory_file_system_without_room_is_not_used(
    kind: dict[str, int | str], monkeypatch: pytest.MonkeyPatch
) -> None:
    host(monkeypatch, **kind)  # type: ignore[arg-type]
    assert places.scratch() == Path("/var/tmp")


def test_a_place_with_little_space_is_refused_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(places, "free_bytes", lambda _: 20 << 20)
    with pytest.raises(UsageError) as why:
        places.scratch()
    assert str(why.value).startswith("/var/tmp: 20 MiB are free")
    assert "TMPDIR" in str(why.value)


@pytest.mark.parametrize(
    ("variable", "place"), [("TMPDIR", places.scratch), ("BOXSPEC_CASE_ROOT", places.case_root)]
)
def test_a_place_whose_path_is_not_utf_8_is_refused_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    variable: str,
    place: Callable[[], Path],
) -> None:
    folder = tmp_path / os.fsdecode(b"a\xff")
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    monkeypatch.setenv(variable, str(folder))
    with pytest.raises(UsageError, match=f"is not UTF-8 .*{variable}"):
        place()


def test_a_place_without_execution_is_refused_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("BOXSPEC_CASE_ROOT", str(tmp_path))
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_NOEXEC))
    for place, name in ((places.scratch, "TMPDIR"), (places.case_root, "BOXSPEC_CASE_ROOT")):
        with pytest.raises(UsageError, match=f"noexec.*{name}"):
            place()


def test_without_such_a_place_there_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "MEMORY", Path("/none"))
    assert places.scratch() == Path("/var/tmp")
