"""Tests of readers of settings: known mistakes are named, and each entry is reported."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boxspec.verify.dialects import dialects
from boxspec.verify.meaning import Entry, Where
from selftest.dialects.kinds import (
    DEAD,
    KINDS,
    UNKNOWN,
    srt,
)
from selftest.dialects.kinds_of_rules import OF_RULES
from selftest.tools import boxspec

NOWHERE = Where(Path("/nowhere/home"), Path("/nowhere/home/project"), Path("/nowhere/s.json"))


EVERY = {**KINDS, **OF_RULES}


@pytest.mark.parametrize("name", EVERY)
def test_a_public_kind_of_mistake_is_named(name: str) -> None:
    kind = EVERY[name]
    entries = dialects()[kind.tool].read(kind.text, NOWHERE)
    found = [each for each in entries if each.value == kind.value]
    assert [(each.meaning, each.line) for each in found] != []
    assert any(
        (each.meaning, each.line) == (kind.meaning, kind.line) and kind.why in each.why
        for each in found
    ), found


def test_a_rule_about_a_link_says_so(tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir()
    (tmp_path / ".ssh").symlink_to("keys")
    where = Where(tmp_path, tmp_path, tmp_path / "s.json")
    (entry,) = _of(dialects()["srt"].read(srt(denyRead=["~/.ssh"]), where), "~/.ssh")
    assert "a link to keys" in entry.why


def test_thousands_of_matches_are_named(tmp_path: Path) -> None:
    for number in range(1100):
        (tmp_path / f"{number}.key").touch()
    where = Where(tmp_path, tmp_path, tmp_path / "s.json")
    (entry,) = _of(dialects()["srt"].read(srt(denyRead=["**/*.key"]), where), "**/*.key")
    assert "too long to start" in entry.why


def test_a_relative_path_in_settings_of_the_user_lies_elsewhere(tmp_path: Path) -> None:
    where = Where(tmp_path, tmp_path / "project", tmp_path / ".claude" / "settings.json")
    text = '{"sandbox": {"enabled": true, "filesystem": {"denyRead": [".env"]}}}'
    (entry,) = _of(dialects()["claude"].read(text, where), ".env")
    assert (entry.meaning, "~/.claude/.env" in entry.why) == (DEAD, True)


def _of(entries: list[Entry], value: str) -> list[Entry]:
    return [each for each in entries if each.value == value]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
LISTS = ("denyRead", "denyWrite", "allowWrite")
PATHS = st.sampled_from(["~/.ssh", ".env", "**/*.key", "/etc", "a b", "*", "~", "./x", "//x", "["])


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(dialects())), st.text(max_size=200))
def test_no_text_makes_a_reader_fail(tool: str, text: str) -> None:
    for each in dialects()[tool].read(text, NOWHERE):
        assert each.line >= 1
        assert each.why


KEYS = ("filesystem", "network", "sandbox", "permissions", "permission", "tools", "rule")


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(dialects())), st.dictionaries(st.sampled_from(KEYS), VALUES))
def test_no_value_makes_a_reader_fail(tool: str, value: dict[str, object]) -> None:
    for each in dialects()[tool].read(json.dumps(value), NOWHERE):
        assert each.line >= 1


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["denyRead", "denyWrite", "allowWrite"]), st.lists(PATHS, max_size=4), VALUES
)
def test_no_entry_silences_another(name: str, paths: list[str], wrong: object) -> None:
    reader = dialects()["srt"].read
    alone = [each.value for each in reader(srt(**{name: paths}), NOWHERE)]
    both = reader(srt(**{name: [wrong, *paths, wrong]}, extra=[wrong]), NOWHERE)
    assert [value for value in alone if value not in [each.value for each in both]] == []
    assert any(each.meaning is UNKNOWN for each in both)


EDITS = st.lists(
    st.tuples(
        st.integers(0, 400),
        st.integers(0, 20),
        st.sampled_from([*'"{}[],:=#\\\n\0~*', "null", "7", "9" * 5000, "0x" + "f" * 5000, '""'])
        | st.sampled_from(
            ["[" * 2000, '{"a":' * 2000, "[[rule]]", "[a.b]", "--", "1e999", "${HOME}"]
        )
        | st.text(max_size=4),
    ),
    max_size=4,
)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(KINDS)), EDITS)
def test_no_edit_of_a_file_makes_a_reader_fail(
    name: str, edits: list[tuple[int, int, str]]
) -> None:
    text = KINDS[name].text
    for at, length, new in edits:
        text = text[:at] + new + text[at + length :]
    for each in dialects()[KINDS[name].tool].read(text, NOWHERE):
        assert 1 <= each.line <= len(text.splitlines()) + 1
        assert each.why


@pytest.mark.parametrize("number", ["9" * 5000, "0x" + "f" * 5000])
@pytest.mark.parametrize("tool", ["codex", "gemini"])
def test_a_number_of_thousands_of_digits_is_named(tool: str, number: str) -> None:
    text = f"[[rule]]\npriority = {number}\n" if tool == "gemini" else f"sandbox_mode = {number}\n"
    assert dialects()[tool].read(text, NOWHERE) != []


DOCUMENTS = {
    name: json.loads(kind.text)
    for name, kind in KINDS.items()
    if kind.text.startswith("{") and kind.meaning is not UNKNOWN
}


def _holders(value: object) -> list[list[object] | dict[str, object]]:
    """Return the objects and lists of a document."""
    if not isinstance(value, list | dict):
        return []
    inner = value if isinstance(value, list) else value.values()
    return [value, *(each for item in inner for each in _holders(item))]


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(sorted(DOCUMENTS)), st.integers(0, 9), st.integers(0, 9), VALUES)
def test_an_addition_silences_no_other_entry(
    name: str, number: int, at: int, added: object
) -> None:
    reader = dialects()[KINDS[name].tool].read
    changed = copy.deepcopy(DOCUMENTS[name])
    before = {(each.key, each.value) for each in reader(json.dumps(changed), NOWHERE)}
    holders = _holders(changed)
    chosen = holders[number % len(holders)]
    if isinstance(chosen, list):
        chosen.insert(at, added)
    else:
        chosen["no_such-key"] = added
    after = [(each.key, each.value) for each in reader(json.dumps(changed), NOWHERE)]
    assert before - {*after} == set()
    # The addition itself has an entry, unless it is empty or repeats an item of its list.
    assert len(after) > len(before) or isinstance(chosen, list) or added in ([], {})


LINES = (
    *("blacklist ~/.ssh", "net none", "net eth0", "nonsense", "read-only /etc", "caps.drop all"),
    *("private", "private /srv/home", "env A=b", "include b.inc", "rlimit-nofile 7"),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(LINES)))
def test_each_line_of_a_profile_has_its_entry(lines: list[str]) -> None:
    entries = dialects()["firejail"].read("\n".join(lines), NOWHERE)
    assert [each.line for each in entries] == list(range(1, len(lines) + 1))


OPTIONS = (
    *("--unshare-net", "--share-net", "--unshare-all", "--dev /dev", "--setenv A b"),
    *("--ro-bind / /", "--remount-ro /srv", "--cap-drop ALL", "--die-with-parent"),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(OPTIONS)))
def test_each_option_of_bubblewrap_has_its_entry(options: list[str]) -> None:
    entries = dialects()["bwrap"].read("\n".join(options), NOWHERE)
    assert [each.line for each in entries] == list(range(1, len(options) + 1))


def test_explain_prints_each_entry_with_its_line_and_starts_nothing(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"filesystem": {\n  "denyWrite": ["*.key", 7]\n}}\n')
    done = boxspec("verify", "--from", "srt", "s.json", "--explain", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [words[:4] for words in lines if words[0] == "s.json:2"] == [
        ["s.json:2", "dead", "filesystem.denyWrite", "7:"],
        ["s.json:2", "dead", "filesystem.denyWrite", "*.key:"],
    ]
