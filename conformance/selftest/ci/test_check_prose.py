"""Tests of the check of prose: it finds unclear words in comments, docstrings, pages and texts of
YAML."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from boxspec.places import ROOT

CHECK = [sys.executable, str(ROOT / "ci" / "check_prose.py")]
UNCLEAR = "Nobody beside it was told. "
COMMIT = "git init -q && git add -A && git -c user.name=a -c user.email=a@b.c commit -qm a"


def checked(folder: Path) -> tuple[int, str]:
    subprocess.run(COMMIT, shell=True, cwd=folder, check=True)
    done = subprocess.run(CHECK, cwd=folder, stdout=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.md", UNCLEAR),
        ("code.c", f"/* {UNCLEAR} */"),
        ("code.py", f'"""{UNCLEAR}"""'),
        ("code.sh", f"# {UNCLEAR}"),
        ("list.yaml", f"- why: '{UNCLEAR}'"),
    ],
)
def test_unclear_words_fail_in_each_kind_of_file(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    code, printed = checked(tmp_path)
    assert code == 1
    assert f"{name}: 600.0 unclear words per 1,000\n  {UNCLEAR.strip()}" in printed


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.md", "Call `nobody()`.\n\n```\nbeside(told)\n```\n"),
        ("code.c", 'const char *text = "Nobody was told";'),
        ("code.py", "beside = ['nobody', 'told']"),
    ],
)
def test_code_and_quoted_names_are_not_counted(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    code, printed = checked(tmp_path)
    assert (code, printed) == (0, "prose: 0.0 unclear words per 1,000 (at most 8; files: 1)\n")
