"""Tests of the files of the system that `boxspec verify` opens."""

from __future__ import annotations

from pathlib import Path

import pytest

from boxspec.verify import system_files
from boxspec.verify.system_files import system_files as found


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(system_files, "SYSTEM", ())
    monkeypatch.setattr(system_files, "FOLDERS", (str(tmp_path),))
    return tmp_path


def test_the_first_file_that_no_process_executes_is_found(folder: Path) -> None:
    (folder / "a").write_text("")
    (folder / "a").chmod(0o755)
    (folder / "b").symlink_to("c")
    (folder / "d" / "e").mkdir(parents=True)
    (folder / "d" / "e" / "f").write_text("")
    assert found(Path("/none")) == [folder / "d" / "e" / "f"]


def test_the_home_directory_of_the_caller_is_left_out(folder: Path) -> None:
    (folder / "user").mkdir()
    (folder / "user" / "file").write_text("")
    assert found(folder / "user") == []


def test_the_search_ends(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_files, "MOST", 3)
    for name in "abcd":
        (folder / name).mkdir()
    (folder / "d" / "file").write_text("")
    assert found(Path("/none")) == []
