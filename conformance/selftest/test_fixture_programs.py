"""The programs that cases start: without each of them nothing is scored."""

from __future__ import annotations

import errno
import hashlib
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from selftest.tools import ROOT, boxspec, run

PROGRAMS = ROOT / "build" / "release" / "fixtures" / "programs"
NAMES = sorted(path.stem for path in (ROOT / "fixtures" / "programs").glob("*.c"))


def exchange(path: Path, text: str, mode: int = 0o755) -> None:
    """Another file of this name; the one behind the link stays as it is."""
    path.unlink()
    path.write_text(text)
    path.chmod(mode)


def folder_in_place_of(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("size", [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 65_537])
def test_a_hash_is_that_of_the_standard_library(size: int) -> None:
    data = random.Random(size).randbytes(size)
    said = subprocess.run([PROGRAMS / "hash-stdin"], input=data, capture_output=True, check=True)
    assert said.stdout.decode() == f"{size} {hashlib.sha256(data).hexdigest()}\n"


def test_each_error_of_this_system_has_a_name() -> None:
    text = (ROOT / "fixtures" / "programs" / "lib" / "errors.c").read_text()
    names = set(re.findall(r"NAME\((E[A-Z0-9]+)\)", text))
    # Python has no name for 133, EHWPOISON.
    assert {getattr(errno, name) for name in names - {"EHWPOISON"}} == errno.errorcode.keys()


# What is wrong with the program that leaves an orphan: then none is ever left.
BROKEN: dict[str, Callable[[Path], None]] = {
    "missing": Path.unlink,
    "not executable": lambda path: exchange(path, "#!/bin/sh\n", 0o644),
    "no program": lambda path: exchange(path, "x"),
    "silent": lambda path: exchange(path, "#!/bin/sh\nexit 0\n"),
    "another program": lambda path: exchange(path, "#!/bin/sh\necho usage: gate\n"),
    "a folder": folder_in_place_of,
}


def copied(place: Path) -> Path:
    """The programs of this build; a case may exchange some of its own."""
    for source in [*PROGRAMS.iterdir(), *PROGRAMS.glob("preload/*.so")]:
        if source.is_file():
            target = place / source.relative_to(PROGRAMS)
            target.parent.mkdir(exist_ok=True)
            shutil.copy2(source, target)
    return place


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    return copied(tmp_path)


def run_with(programs: Path) -> tuple[int, str, str]:
    done = boxspec(
        *("run", "--contract", "exec", "-k", "an_orphan_that_ignores_signals"),
        env={"BOXSPEC_PROGRAMS": str(programs)},
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("how", BROKEN)
def test_without_a_program_nothing_is_scored(programs: Path, how: str) -> None:
    BROKEN[how](programs / "orphan")
    status, out, err = run_with(programs)
    assert (status, err.count("\n")) == (2, 1), out + err
    assert "['orphan']" in err
    assert "contract MUST" not in out


def test_without_a_preload_nothing_is_scored(programs: Path) -> None:
    (programs / "preload" / "steal_child.so").unlink()
    status, out, err = run_with(programs)
    assert (status, err.count("\n")) == (2, 1), out + err
    assert "steal_child.so" in err
    assert "contract MUST" not in out


def test_with_all_of_them_cases_are_scored(programs: Path) -> None:
    status, out, err = run_with(programs)
    assert status == 0, out + err


@pytest.mark.parametrize("name", NAMES)
def test_each_program_says_its_usage(name: str) -> None:
    done = run([PROGRAMS / name, "--usage"])
    assert (done.returncode, done.stdout.split()[:2]) == (0, ["usage:", name])
