"""Tests of `sbpl explain` and `sbpl audit`: parameters, notes, and the table of an audit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contracts.sbpl.seatbelt.decide import Decider
from contracts.sbpl.seatbelt.explain import described
from contracts.sbpl.seatbelt.forms import load
from contracts.sbpl.seatbelt.question import subject_of
from selftest.tools import ROOT, boxspec

PROFILES = ROOT / "fixtures" / "seatbelt"
AGENT = {"WORKSPACE": "/Users/u/ws", "TEMPORARY": "/private/var/folders/ab/T"}


def test_a_missing_parameter_is_named_with_its_option(tmp_path: Path) -> None:
    file = tmp_path / "profile.sb"
    file.write_text(
        '(version 1)\n(deny default)\n(allow file-write*\n  (subpath (param "TARGET_DIR")))\n'
    )
    done = boxspec("sbpl", "explain", file, "file-write-create", "/x")
    assert (done.returncode, done.stdout) == (2, "")
    said = f"{file}:4: parameter TARGET_DIR is not set; pass --param TARGET_DIR=PATH"
    assert said in done.stderr
    assert "refuse" not in done.stderr


def test_parameters_are_read_from_a_file(tmp_path: Path) -> None:
    agent = PROFILES / "agent.sb"
    question = ("file-write-create", "/Users/u/ws/x")
    for text in ("# a comment\nWORKSPACE=/Users/u/ws\n\nTEMPORARY=/t\n", json.dumps(AGENT)):
        file = tmp_path / "params"
        file.write_text(text)
        done = boxspec("sbpl", "explain", agent, *question, "--param-file", file)
        assert done.returncode == 0, done.stderr
        words = ("--param-file", file, "--param", "WORKSPACE=/other")
        assert boxspec("sbpl", "explain", agent, *question, *words).returncode == 3
    file.write_text("WORKSPACE\n")
    done = boxspec("sbpl", "explain", agent, *question, "--param-file", file)
    assert done.returncode == 2
    assert f"{file}:1: 'WORKSPACE' is not a NAME=VALUE" in done.stderr


def test_the_clause_is_shortened_to_the_part_that_decides() -> None:
    words = ("--param-file", PROFILES / "agent.params")
    done = boxspec("sbpl", "explain", PROFILES / "agent.sb", "mach-lookup",
                   "com.apple.system.logger", *words)  # fmt: skip
    clause = '(allow mach-lookup (global-name "com.apple.system.logger") …)  (filter at line 23)'
    assert done.stdout.splitlines()[1].split(None, 2)[2] == f"line 22: {clause}"


def test_a_program_outside_of_the_sandbox_is_noted() -> None:
    words = ("--param", "_TEMPORARY=/private/tmp/build")
    done = boxspec("sbpl", "explain", PROFILES / "packages.sb", "process-exec",
                   "/usr/bin/sandbox-exec", *words)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "line 28: the program would run without a sandbox" in done.stdout


def test_an_extension_is_assumed_to_be_missing() -> None:
    question = ("file-read-data", "/Users/u/x", "--param-file", PROFILES / "agent.params")
    done = boxspec("sbpl", "explain", PROFILES / "agent.sb", *question)
    assert done.returncode == 3
    assert "line 64: the program is assumed to have no extension" in done.stdout
    given = ("--given", "extension=com.apple.app-sandbox.read")
    assert boxspec("sbpl", "explain", PROFILES / "agent.sb", *question, *given).returncode == 0


def test_what_others_reported_is_noted_as_not_verified(tmp_path: Path) -> None:
    file = tmp_path / "p.sb"
    file.write_text(
        "(version 1)\n(deny default)\n"
        '(allow file-write* (require-all (subpath "/ws") (subpath "/ws/a")))\n'
        '(deny file-write* (subpath "/ws/a/b"))\n'
        '(deny file-write* (literal "/ws/a/stra\u00dfe"))\n'
    )
    done = boxspec("sbpl", "explain", file, "file-write-data", "/ws/a/b/c")
    assert done.stdout.startswith("deny ")
    assert "reported, not verified here: the allow with require-all at line 3" in done.stdout
    done = boxspec("sbpl", "explain", file, "file-write-data", "/ws/a/strasse")
    assert done.stdout.startswith("allow ")
    assert "reported, not verified here: APFS" in done.stdout
    plain = boxspec("sbpl", "explain", file, "file-write-data", "/ws/a/x")
    assert "reported" not in plain.stdout


# For each behaviour that others reported: a profile, a question, and words of the note.
REPORTED = {
    "default without process-info": (
        "",
        ("process-info-pidinfo", "others"),
        "include process-info*",
    ),
    "default without mapping": ("", ("file-map-executable", "/x"), "include file-map-executable"),
    "a signal to itself": ("(deny signal)", ("signal", "self"), "a signal to itself"),
    "a bind is inbound": (
        '(allow network-inbound (local tcp "*:80"))',
        ("network-bind", "0.0.0.0:80"),
        "the clause about network-inbound at line 3 decides instead",
    ),
}


@pytest.mark.parametrize("name", REPORTED)
def test_a_report_that_would_change_the_answer_is_noted(name: str) -> None:
    text, (operation, subject), words = REPORTED[name]
    own = {
        "process-info-pidinfo": "(deny process-info*)",
        "file-map-executable": "(deny file-map-executable)",
        "signal": "(allow signal)",
        "network-bind": "(deny network-bind)",
    }[operation]
    for more, noted in (("", True), (own, False)):
        decider = Decider(load(f"(version 1)\n(deny default)\n{text}\n{more}".encode()))
        decision = decider.decide(operation, subject_of(operation, subject, {}))
        said = described(decider, decision, operation, subject)
        assert (f"reported, not verified here: {words}" in said or words in said) is noted, said


def test_the_other_end_of_a_connection_is_named_and_given(tmp_path: Path) -> None:
    file = tmp_path / "p.sb"
    file.write_text('(version 1)(deny default)(allow network-outbound (local ip "localhost:*"))')
    question = ("network-outbound", "192.0.2.1:443")
    done = boxspec("sbpl", "explain", file, *question)
    assert "--given local=HOST:PORT" in done.stdout
    given = ("--given", "local=127.0.0.1:1")
    assert boxspec("sbpl", "explain", file, *question, *given).returncode == 0


def test_control_characters_of_a_profile_do_not_reach_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / "p.sb"
    file.write_text('(version 1)(allow default)(deny file* (literal "/\x1b]0;x\x07"))(\x1b[2J)')
    for words in (("explain", file, "file-read-data", "/\x1b]0;x\x07"), ("audit", file)):
        done = boxspec("sbpl", *words)
        assert done.stderr == ""
        assert "\x1b" not in done.stdout
        assert "\\x1b[2J" in done.stdout


def test_an_audit_says_what_would_hold_without_the_unknown_form(tmp_path: Path) -> None:
    file = tmp_path / "p.sb"
    file.write_text(
        '(version 3)\n(deny default)\n(import "system.sb")\n(helper)\n(allow file-read*)\n'
        '(deny network-outbound (remote ip "*:443"))\n(allow network-outbound)\n'
    )
    rows = boxspec("sbpl", "audit", file).stdout.splitlines()

    def row(question: str) -> str:
        (found,) = [each for each in rows if f"  {question}  " in each]
        return found.partition(question)[2].strip()

    assert row("file-read-data ~/.netrc").startswith("allow [")
    assert row("file-write-create ~/.zshrc").startswith("not known here  line 3: the import of")
    assert row("file-write-create ~/.zshrc").endswith(
        "pass --import system.sb=FILE; otherwise deny"
    )
    assert row("network-outbound 192.0.2.1:443").startswith("probably deny ")
    assert rows[-1] == "note: line 1: (version 3) is read by the rules of (version 1)"


def test_an_audit_answers_the_questions_of_its_list() -> None:
    words = ("--param-file", PROFILES / "agent.params", "--workspace", "/Users/u/ws")
    done = boxspec("sbpl", "audit", PROFILES / "agent.sb", *words)
    assert (done.returncode, done.stderr) == (0, "")
    rows = done.stdout.splitlines()
    assert rows[0].endswith("home /Users/u, workspace /Users/u/ws")
    topics = {row.split("  ")[0] for row in rows[2:]}
    wanted = {"secrets", "hooks", "start files", "network", "process", "mach services", "profile"}
    assert wanted <= topics

    def answer(question: str) -> str:
        (row,) = [each for each in rows if question in each]
        return row.partition(question)[2].split()[0]

    assert answer("file-read-data ~/.ssh/id_ed25519") == "deny"
    assert answer("file-create ~/.zshrc".replace("create", "write-create")) == "deny"
    assert answer("file-write-create ~/ws/.git/hooks/pre-commit") == "deny"
    assert answer("file-write-create ~/ws/.vscode/tasks.json") == "allow"
    assert answer("network-outbound 192.0.2.1:443") == "deny"
    assert answer("process-fork") == "allow"
    assert answer("mach-lookup com.apple.SecurityServer") == "deny"


def test_an_audit_of_an_open_profile_says_that_its_file_is_writable(tmp_path: Path) -> None:
    file = tmp_path / "p.sb"
    file.write_text("(version 1)(allow default)")
    done = boxspec("sbpl", "audit", file)
    (row,) = [each for each in done.stdout.splitlines() if each.startswith("profile ")]
    assert f"file-write-data {file.resolve()}  allow" in row
