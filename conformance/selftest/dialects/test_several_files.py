"""Tests of settings in several files of one tool."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from boxspec.verify.dialects import read
from boxspec.verify.meaning import Meaning

DEAD, ENFORCED, OTHER = Meaning.DEAD, Meaning.ENFORCED, Meaning.NOT_TESTABLE
USER, PROJECT = "home/.claude/settings.json", "project/.claude/settings.json"
LOCAL, MANAGED = "project/.claude/settings.local.json", "managed-settings.json"
HIDES = {"sandbox": {"enabled": True, "filesystem": {"denyRead": ["~/.ssh"]}}}
OFF = {"sandbox": {"enabled": False}}
DENIES = {"permissions": {"deny": ["Read(~/.ssh/**)"]}}
ALLOWS = {"permissions": {"allow": ["Read(~/.ssh/**)"]}}
SHOWS = {"sandbox": {"filesystem": {"allowRead": ["~/.ssh"]}}}
COMMENT = '{// no JSON\n"sandbox": {"enabled": false}}'


@pytest.mark.parametrize(
    ("files", "of", "value", "meaning", "why"),
    [
        # The file of the highest rank decides about a switch.
        ({USER: HIDES, LOCAL: OFF}, USER, "~/.ssh", DEAD, "enabled is not true"),
        ({USER: HIDES, LOCAL: OFF}, USER, "true", DEAD, "settings.local.json:1 has a higher rank"),
        ({USER: OFF, PROJECT: HIDES}, PROJECT, "~/.ssh", ENFORCED, ""),
        ({MANAGED: HIDES, LOCAL: OFF}, LOCAL, "false", DEAD, "managed-settings.json:1"),
        ({MANAGED: HIDES, LOCAL: OFF, USER: OFF}, MANAGED, "~/.ssh", ENFORCED, ""),
        ({USER: HIDES, MANAGED: HIDES, LOCAL: OFF}, USER, "~/.ssh", ENFORCED, ""),
        # A switch holds for the rules of every file.
        ({USER: HIDES, PROJECT: DENIES}, PROJECT, "Read(~/.ssh/**)", ENFORCED, ""),
        ({PROJECT: DENIES}, PROJECT, "Read(~/.ssh/**)", OTHER, "only the file tools"),
        # Lists of all files count.
        ({USER: DENIES, LOCAL: ALLOWS}, LOCAL, "Read(~/.ssh/**)", DEAD, "deny rules come first"),
        ({USER: HIDES, LOCAL: SHOWS}, USER, "~/.ssh", DEAD, "allowRead"),
        # A file that is not JSON does not count.
        ({USER: HIDES, LOCAL: COMMENT}, USER, "~/.ssh", ENFORCED, ""),
        ({USER: HIDES, LOCAL: COMMENT}, LOCAL, "", DEAD, "is not JSON"),
    ],
)
def test_the_meaning_depends_on_all_files(
    tmp_path: Path,
    files: dict[str, object],
    of: str,
    value: str,
    meaning: Meaning,
    why: str,
) -> None:
    (tmp_path / "home/.ssh").mkdir(parents=True)
    for name, settings in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(settings if isinstance(settings, str) else json.dumps(settings))
    paths = [tmp_path / name for name in files]
    sources = [("claude", path) for path in paths]
    found = read(sources, tmp_path / "home", tmp_path / "project")
    entries = found[paths.index(tmp_path / of)].entries
    entry = next(each for each in entries if each.value == value and each.why)
    assert entry.meaning is meaning, entry
    assert why in entry.why
