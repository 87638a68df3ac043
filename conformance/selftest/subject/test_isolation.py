"""Tests of `--isolate`: the shim runs as another user, and its attacks on the kit have no
effect."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from boxspec.errors import ShimBroke, UsageError
from boxspec.subject.client.exchange import read_response
from boxspec.subject.isolation import isolation
from selftest.tools import REFERENCE, ROOT, boxspec, can_mount

PROGRAMS = ROOT / "build" / "release" / "fixtures" / "programs"
ROOT_USER = os.geteuid() == 0


needs_mounts = pytest.mark.skipif(not can_mount(), reason="--isolate needs root and mounts")


def shim(folder: Path, script: str) -> Path:
    """Return a shim that runs these shell lines if it is the isolated user, and then the
    reference."""
    path = folder / "shim"
    known = '[ "$(id -u)" -ge 55000 ] || exit 1'
    path.write_text(f'#!/bin/sh\n{known}\n{script}\nexec {REFERENCE} "$@"\n')
    path.chmod(0o755)
    return path


def test_without_root_the_message_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UsageError, match="only root can start the shim as another user"):
        isolation()


def test_a_file_of_another_user_is_no_response(tmp_path: Path) -> None:
    response = tmp_path / "response"
    response.write_text("{}")
    owner = response.stat().st_uid
    assert read_response(response, 100, owner) == b"{}"
    with pytest.raises(ShimBroke, match=f"is a file of user {owner}, the shim is {owner + 1}"):
        read_response(response, 100, owner + 1)


@needs_mounts
def test_the_kit_is_read_only_even_where_everybody_may_write(tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    shutil.copytree(PROGRAMS, programs)
    for path in programs.rglob("*"):
        path.chmod(0o777)
    target = shim(tmp_path, f"printf x >>{programs / 'emit'} && exit 1")
    words = ("run", "EXEC-RESULT-01", "--shim", str(target))
    env = {"BOXSPEC_PROGRAMS": str(programs), "CI": ""}
    assert boxspec(*words, "--isolate", env=env).returncode == 0


@needs_mounts
@pytest.mark.parametrize("words", [["--isolate"], []], ids=["every_case", "this_case"])
def test_where_the_shims_user_may_not_write_is_no_place_for_its_files(words: list[str]) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        place = Path(name)
        place.chmod(0o755)
        target = place / "shim"
        works = 'kept=$(mktemp) || exit 1\nrm -f "$kept"'
        # Copy the reference, because the other user may not be able to enter the checkout.
        shutil.copy(REFERENCE, place / "reference")
        target.write_text(f'#!/bin/sh\n{works}\nexec {place / "reference"} "$@"\n')
        target.chmod(0o755)
        asked = ("EXEC-SPAWN-08", "-k", "not_be_entered", "--shim", str(target))
        done = boxspec("run", *asked, *words, env={"TMPDIR": name, "CI": ""})
        assert done.returncode == 0, done.stdout + done.stderr


@needs_mounts
def test_the_runner_of_a_module_is_another_user_too(tmp_path: Path) -> None:
    words = ("run", "MODULE-RUNNER-01", "-k", "NaN")
    done = boxspec(*words, "--isolate", "--shim", str(shim(tmp_path, "")))
    assert done.returncode == 0, done.stdout + done.stderr


ONLY_THE_KITS_USER = (
    'kill -s STOP "$PPID"',
    'cat "/proc/$PPID/environ"',
    "cat /etc/shadow",
    '[ "$1" = run ] && ls "${2%/*/*/*}"',
)


@needs_mounts
def test_actions_of_the_kits_user_fail_for_the_shim(tmp_path: Path) -> None:
    lines = [f"{each} 2>/dev/null && exit {41 + n}" for n, each in enumerate(ONLY_THE_KITS_USER)]
    # kill -1 reaches all processes of the user except the caller itself. No other process of that
    # user may run.
    target = shim(tmp_path, "\n".join([*lines, "kill -s KILL -1 2>/dev/null"]))
    done = boxspec("smoke", "--isolate", "--shim", str(target))
    assert done.returncode == 0, done.stdout + done.stderr


@needs_mounts
def test_a_right_shim_conforms_as_another_user() -> None:
    asked = ("EXEC-RESULT-01", "EXEC-CHILD-08", "EXEC-SPAWN-11", "EXEC-SIGNAL-01", "SBPL-FILE-01")
    done = boxspec("run", "--isolate", "--profile", "all", *asked)
    assert done.returncode == 0, done.stdout + done.stderr
