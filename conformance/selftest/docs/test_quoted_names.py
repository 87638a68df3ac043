"""Tests of quoted test names: if a page or a self-test quotes the name of a test, or a part of one,
such a test must exist.

Self-tests select tests by `-k`. A word that no test has would select nothing, without an error.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from selftest.tools import ROOT

# Names in examples, which no test has.
PLACEHOLDERS = {"test_TOPIC", "test_x"}


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def quoted(text: str) -> set[str]:
    return set(re.findall(r"\btest_\w+", text)) - PLACEHOLDERS


def defined() -> set[str]:
    """Return the names of all tests and of all modules with tests."""
    found = set()
    for path in tracked("*.py"):
        found |= {path.stem, *re.findall(r"\bdef (test_\w+)", path.read_text())}
        found |= set(re.findall(r"^\s*(test_\w+)\s*=", path.read_text(), re.M))
    return found


def test_each_quoted_name_of_a_test_is_a_part_of_one() -> None:
    names = "\n".join(defined())
    unknown = {
        str(path.relative_to(ROOT)): missing
        for path in tracked("conformance/*.py", "*.md", "ci/*")
        if (missing := {each for each in quoted(path.read_text()) if each not in names})
    }
    assert unknown == {}
