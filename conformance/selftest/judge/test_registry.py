"""Tests of the list of requirements: public sources have addresses, and released versions never
change."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from boxspec.errors import UsageError
from boxspec.judge import requirements, spec_versions
from boxspec.judge.requirements import load
from boxspec.judge.sources import known, meanings, unexplained
from boxspec.pages.requirements import line
from selftest.tools import CONFORMANCE, CONTRACTS, boxspec
from selftest.tree_copy import TreeCopy

# Public sources: standards, manual pages, vulnerabilities, issues of a tracker.
PUBLIC = re.compile(r"RFC \d+|YAML \d[\d.]*|C(?:VE|WE)-[\d-]+|[\w.]+\(\d\)|\b[a-z]+#\d+")

# The content of released versions must not change; a new digest means a changed version.
DIGESTS = {
    "1.0": {
        "backend": "2f35ef97c6072786",
        "exec": "2588864f6dd076f9",
        "module": "6ff340085c87ae22",
        "policy": "6d9a9e93f5110553",
        "process": "df89f9676264138f",
        "sbpl": "f0ecce0f67bb35b5",
    }
}


def test_each_public_source_has_its_address() -> None:
    for name, each in load().items():
        public = set(PUBLIC.findall(each.source))
        without = {found for found in public if not any(found in link for link in each.links)}
        assert not without, f"{name}: no address for {sorted(without)}: head of requirements.yaml"


def test_each_source_says_what_it_is() -> None:
    for name, each in load().items():
        assert not unexplained(each), f"{name}: contracts/sources.yaml has no line for its source"
    named = {name for each in load().values() for name in meanings(each)}
    assert set(known()) == named


def test_explain_says_what_a_source_without_an_address_is() -> None:
    shown = boxspec("explain", "POLICY-MERGE-05").stdout
    assert 'ADR-004: decision record of the orbit project: "Deny rules inject' in shown
    assert "decisions: decisions of this kit" in shown


def test_explain_list_and_page_show_the_addresses() -> None:
    url = "https://www.rfc-editor.org/rfc/rfc8259"
    assert f"RFC 8259: {url}" in boxspec("explain", "POLICY-FILE-10").stdout
    assert f"[RFC 8259]({url})" in line(load()["POLICY-FILE-10"])
    listed = json.loads(boxspec("list", "--contract", "policy", "--json").stdout)
    (found,) = (each for each in listed["requirements"] if each["id"] == "POLICY-FILE-10")
    assert (found["links"], found["since"]) == ({"RFC 8259": url}, "1.0")


@pytest.fixture
def head(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the path of requirements.yaml in a new folder of contracts.

    The folder has one contract; the test writes the file.
    """
    monkeypatch.setattr(requirements, "CONTRACTS", tmp_path)
    requirements.load.cache_clear()
    (tmp_path / "echo").mkdir()
    yield tmp_path / "echo" / "requirements.yaml"
    requirements.load.cache_clear()


ENTRY = """
requirements:
- {id: ECHO-SAY-01, level: MUST, profile: contract, clause: It echoes., source: 'CVE-2024-21626',
   since: '1.0', testable: true}
"""


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("CVE-2024-2162: https://example.org/", "CVE-2024-2162 is the source of no requirement"),
        ("CVE-2024-21626: http://example.org/", "'http://example.org/' is not an address"),
        ("CVE-2024-21626: [1]", "[1] is not an address"),
    ],
)
def test_a_wrong_table_of_addresses_is_reported(head: Path, table: str, problem: str) -> None:
    head.write_text(f"sources:\n  {table}\n{ENTRY}")
    with pytest.raises(UsageError, match=re.escape(problem)):
        requirements.load()


def test_the_set_of_a_version_never_changes() -> None:
    found = {
        version: {
            name: hashlib.sha256((folder / f"spec-{version}.yaml").read_bytes()).hexdigest()[:16]
            for name, folder in CONTRACTS.items()
            if (folder / f"spec-{version}.yaml").exists()
        }
        for version in spec_versions.versions()
    }
    assert found == DIGESTS, "a version keeps its requirements; new ones have another `since`"


def test_the_set_of_a_version_has_its_scored_requirements() -> None:
    scored = {name for name, each in load().items() if each.testable and each.since == "1.0"}
    assert scored == set(spec_versions.frozen("1.0"))
    later = {name for name, each in load().items() if each.since != "1.0"}
    assert not later & set(spec_versions.frozen("1.0"))


LEVEL = re.compile(r"\b(MUST|SHOULD|MAY|SHALL|REQUIRED|RECOMMENDED|OPTIONAL)\b")


def test_each_clause_has_one_level_word_which_is_its_level() -> None:
    words = {name: LEVEL.findall(each.clause) for name, each in load().items()}
    levels = {name: [each.level] for name, each in load().items()}
    assert words == levels


def test_requirements_that_are_not_scored_give_the_reason() -> None:
    away = [name for name, each in load().items() if not each.testable]
    assert away and not set(away) & set(spec_versions.frozen("1.0"))
    assert all(re.match(r"\w.{20,}", str(load()[name].untestable)) for name in away)
    said = boxspec("explain", away[0]).stdout
    assert re.search(r"^  not testable  \w.{20,}", said, re.M), said


@pytest.mark.turns(10)
def test_a_later_requirement_is_outside_of_an_older_version(tmp_path: Path) -> None:
    copy = TreeCopy(tmp_path / "copy")
    known = copy.conformance / "contracts" / "module" / "requirements.yaml"
    known.write_text(
        known.read_text() + "- id: MODULE-ID-99\n  level: MUST\n  profile: contract\n"
        "  clause: It is new.\n  source: 'this test'\n  since: '1.1'\n  testable: true\n"
    )

    def asked(*words: str) -> tuple[int, list[str]]:
        path = tmp_path / "result.json"
        flags = ("--contract", "module", "--topic", "MODULE-ID", "--json", str(path))
        done = copy.boxspec("run", "--shim", copy.python_implementation, *flags, *words)
        assert path.exists(), done.stdout + done.stderr
        result = json.loads(path.read_text())
        assert result["selection"]["spec"] == (words[1] if words else None)
        return result["summary"]["contract"]["must"]["of"], [
            e["id"] for e in result["requirements"]
        ]

    older, ids = asked("--spec", "1.0")
    assert "MODULE-ID-99" not in ids
    now, ids = asked()
    assert "MODULE-ID-99" in ids and now == older + 1
    refused = copy.boxspec("run", "--spec", "1.0", "MODULE-ID-99")
    assert refused.returncode == 2
    assert "does not have MODULE-ID-99: it is new in 1.1" in refused.stderr
    listed = copy.boxspec("list", "--topic", "MODULE-ID").stdout
    assert re.search(r"^MODULE-ID-99 .*, since 1\.1 .*It is new\.$", listed, re.M), listed
    # The level of a requirement must not change within a version.
    known.write_text(known.read_text().replace("  level: MUST\n", "  level: SHOULD\n", 1))
    changed = copy.boxspec("run", "--contract", "module", "--spec", "1.0")
    assert changed.returncode == 2 and "requirements.yaml differs" in changed.stderr


def test_a_version_that_is_not_there_is_wrong_use() -> None:
    done = boxspec("run", "--spec", "0.9")
    assert done.returncode == 2 and "--spec 0.9: no such version" in done.stderr
    assert (CONFORMANCE / "contracts" / "exec" / "spec-1.0.yaml").is_file()
