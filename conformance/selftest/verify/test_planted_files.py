"""Tests that each kind of planted file makes its mark when a program executes or loads it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from boxspec.subject.planted import write_planted
from boxspec.verify.confinement import UNKNOWN, of_mark, of_process

NODE = ["node", "-e", "require('some-package')"]
GIT = ["git", "status"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("lib/libc.so.6", ["git", "--version"]),
        ("lib/libz.so.1", ["git", "--version"]),
        ("node_modules/some-package", NODE),
        ("node_modules/some-package/index.js", NODE),
        ("bin/git", GIT),
        ("lib/json.py", ["python3", "-c", "import json"]),
        ("hook", ["sh", "hook"]),
        ("hook", ["python3", "hook"]),
        ("a.pl", ["perl", "a.pl"]),
        ("Makefile", ["make", "-n"]),
    ],
)
def test_the_mark_is_made(tmp_path: Path, name: str, words: list[str]) -> None:
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed")
    mark = tmp_path / "mark"
    write_planted(tmp_path / name, mark)
    env = {"LD_LIBRARY_PATH": "lib", "PYTHONPATH": "lib", "PATH": f"bin:{os.environ['PATH']}"}
    subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, check=False)
    assert of_process("self") in of_mark(mark)


def test_git_runs_a_program_of_its_settings(tmp_path: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    mark, config = tmp_path / "mark", tmp_path / ".git" / "config"
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    old = config.read_text()
    write_planted(config, mark, old)
    done = subprocess.run(GIT, cwd=tmp_path, capture_output=True, check=False)
    assert of_process("self") in of_mark(mark)
    assert done.returncode == 0 and config.read_text().startswith(old)


def test_the_mark_shows_that_a_process_is_confined(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    write_planted(tmp_path / "hook", mark)
    subprocess.run(["setpriv", "--no-new-privs", "sh", tmp_path / "hook"], check=True)
    (found,) = of_mark(mark)
    assert found not in (UNKNOWN, of_process("self"))
    assert found - of_process("self") == {"NoNewPrivs:1"}


def test_a_mark_without_facts_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "mark").write_text("")
    assert of_mark(tmp_path / "mark") == [UNKNOWN]


def test_namespaces_of_two_starts_are_the_same_facts(tmp_path: Path) -> None:
    mark, hook = tmp_path / "mark", tmp_path / "hook"
    write_planted(hook, mark)
    words = ["unshare", "--user", "--mount", "sh", "-c", f"sh {hook}; echo ran; cat"]
    # The first namespaces still exist when the second ones are made, so their numbers differ.
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout
        ran = first.stdout.readline()
        subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        first.communicate()
    if not ran:
        pytest.skip("unshare makes no user namespace here")
    facts, others = of_mark(mark)
    assert facts == others
    assert facts not in (UNKNOWN, of_process("self"))
