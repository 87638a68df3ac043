"""The fixture programs as an installed kit compiles them are those that CMake builds."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from boxspec import compiling, places, programs
from boxspec.errors import UsageError
from boxspec.programs import DEFAULT, SOURCES, Programs


def executables(folder: Path) -> list[str]:
    """The names of programs and preloads; CMake keeps more in its folder."""
    found = [path for path in folder.iterdir() if path.is_file() and os.access(path, os.X_OK)]
    preloads = [f"preload/{path.name}" for path in (folder / "preload").glob("*.so")]
    return sorted([*(path.name for path in found), *preloads])


def test_all_programs_are_compiled_once_and_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = compiling.kept(SOURCES, tmp_path / "cache")
    assert executables(folder) == executables(DEFAULT)
    again = {path: path.stat().st_ino for path in folder.rglob("*")}
    assert compiling.kept(SOURCES, tmp_path / "cache") == folder
    assert {path: path.stat().st_ino for path in folder.rglob("*")} == again
    assert os.listdir(tmp_path / "cache") == [folder.name]
    monkeypatch.setenv("BOXSPEC_PROGRAMS", str(folder))
    Programs().check()
    done = subprocess.run([folder / "exit-with", "7"], check=False)
    assert done.returncode == 7


def test_without_a_compiler_the_remedy_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(programs, "INSTALLED", True)
    monkeypatch.setattr(programs, "DEFAULT", tmp_path)
    monkeypatch.delenv("BOXSPEC_PROGRAMS", raising=False)
    with pytest.raises(UsageError, match=r"there is no cc \(install a C compiler"):
        programs.folder()


def test_a_compiler_that_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "false")
    with pytest.raises(compiling.NotCompiledError, match="false fails"):
        compiling.kept(SOURCES, tmp_path / "cache")
    assert os.listdir(tmp_path / "cache") == []


def test_an_installed_kit_keeps_things_below_the_cache_of_its_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(places, "INSTALLED", True)
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/tmp/c")
    assert places.cache() == Path("/var/tmp/c/boxspec")
    # A relative one is not to be taken, says the XDG base directory specification.
    monkeypatch.setenv("XDG_CACHE_HOME", "c")
    monkeypatch.setenv("HOME", "/home/u")
    assert places.cache() == Path("/home/u/.cache/boxspec")
