"""Tests of the evaluator's decisions: results measured on Macs, the hierarchy of operations,
filters, and explanations."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.sbpl.seatbelt.decide import Decider, Decision, Outcome, Subject
from contracts.sbpl.seatbelt.forms import load
from contracts.sbpl.seatbelt.operations import chain, leaves
from selftest.tools import boxspec


def ruled(
    text: str, operation: str, path: str | None = "/ws/x", head: str = "(deny default)"
) -> Decision:
    profile = load(f"(version 1){head}{text}".encode())
    subject = Subject(path=None if path is None else path.encode())
    return Decider(profile).decide(operation, subject)


def both(decision: Decision) -> tuple[str, str]:
    """Return the outcome of the last matching clause and that of the most specific one."""
    return decision.last.outcome.value, decision.specific.outcome.value


# For each name: a profile, a question, the result on a Mac, and the outcome of the last matching
# clause.
MEASURED = {
    "1 a later deny of the same operation": (
        '(allow file-read* (subpath "/ws"))(deny file-read* (subpath "/ws/x"))',
        "file-read-data",
        "deny",
        "deny",
    ),
    "1 and the other way round": (
        '(deny file-read* (subpath "/ws/x"))(allow file-read* (subpath "/ws"))',
        "file-read-data",
        "allow",
        "allow",
    ),
    "2 a wide deny behind a narrow allow": (
        '(allow file-read-data (subpath "/"))(deny file-read* (literal "/ws/x"))',
        "file-read-data",
        "allow",
        "deny",
    ),
    "3 a wide allow behind a narrow deny": (
        '(deny file-write-unlink (subpath "/ws"))(allow file-write* (subpath "/ws"))',
        "file-write-unlink",
        "deny",
        "allow",
    ),
    "3 mended by naming the narrow one": (
        '(deny file-write-unlink (subpath "/ws"))(allow file-write-unlink (subpath "/ws/x"))',
        "file-write-unlink",
        "allow",
        "allow",
    ),
    "4 a narrow deny without a filter": (
        '(deny file-write-unlink)(allow file-write* (subpath "/ws"))',
        "file-write-unlink",
        "deny",
        "allow",
    ),
    "5 a filter goes before none": (
        '(deny network-outbound (subpath "/ws"))(allow network-outbound)',
        "network-outbound",
        "deny",
        "allow",
    ),
    "5 in either order": (
        '(allow network-outbound)(deny network-outbound (subpath "/ws"))',
        "network-outbound",
        "deny",
        "deny",
    ),
    "6 metadata behind a wide deny": (
        '(deny file-read* (subpath "/ws"))(allow file-read-metadata (subpath "/ws"))',
        "file-read-metadata",
        "allow",
        "allow",
    ),
    "6 and the data": (
        '(deny file-read* (subpath "/ws"))(allow file-read-metadata (subpath "/ws"))',
        "file-read-data",
        "deny",
        "deny",
    ),
    "7 setugid stays denied": (
        '(deny file-write-setugid)(allow file* (subpath "/ws"))',
        "file-write-setugid",
        "deny",
        "allow",
    ),
}


@pytest.mark.parametrize("name", MEASURED)
def test_results_on_a_mac_match_the_most_specific_clause(name: str) -> None:
    text, operation, seen, naive = MEASURED[name]
    decision = ruled(text, operation)
    assert both(decision) == (naive, seen)
    assert decision.outcome.value == (seen if seen == naive else "ambiguous")


def test_without_a_clause_it_is_denied() -> None:
    assert ruled("", "file-read-data", head="").outcome is Outcome.DENY
    assert ruled("", "file-read-data", head="(allow default)").outcome is Outcome.ALLOW
    assert ruled("(deny default)", "signal", None, head="(allow default)").outcome is Outcome.DENY


def test_a_wide_operation_includes_narrower_ones() -> None:
    assert chain("file-write-unlink") == ("file-write-unlink", "file-write*", "file*", "default")
    assert chain("process-exec-interpreter")[1:] == ("process-exec*", "process*", "default")
    for leaf in leaves("file-write*"):
        assert ruled("(allow file-write*)", leaf).allowed
        assert ruled("(allow file*)", leaf).allowed
        assert not ruled("(allow file-read*)", leaf).allowed
    assert not ruled("(allow file-write-data)", "file-write-create").allowed


FILTERS: list[tuple[str, list[str], list[str]]] = [
    ('(literal "/a/b")', ["/a/b"], ["/a", "/a/b/c", "/a/bc"]),
    ('(path "/a/b")', ["/a/b"], ["/a/b/c"]),
    ('(subpath "/a/b")', ["/a/b", "/a/b/c"], ["/a", "/a/bc"]),
    ('(subpath "/a/b/")', ["/a/b", "/a/b/c"], ["/a", "/a/bc"]),
    ('(subpath "/")', ["/", "/a"], []),
    ('(literal "/")', ["/"], ["/a"]),
    ('(prefix "/a/b")', ["/a/b", "/a/bc", "/a/b/c"], ["/a"]),
    ('(literal-prefix "/a/b")', ["/a/bc"], ["/a"]),
    ('(regex "^/a$" "^/b$")', ["/a", "/b"], ["/c"]),
    ('(require-all (subpath "/a") (subpath "/a/b"))', ["/a/b"], ["/a", "/b"]),
    ('(require-any (literal "/a") (literal "/b"))', ["/a", "/b"], ["/c"]),
    ('(require-not (subpath "/a"))', ["/b"], ["/a", "/a/b"]),
    ('(require-all (subpath "/a") (require-not (literal "/a/b")))', ["/a", "/a/c"], ["/a/b"]),
    ('(literal "/a") (literal "/b")', ["/a", "/b"], ["/c"]),
]


@pytest.mark.parametrize(("form", "yes", "no"), FILTERS, ids=[row[0] for row in FILTERS])
def test_a_filter_matches_its_paths(form: str, yes: list[str], no: list[str]) -> None:
    for action, head in (("allow", "(deny default)"), ("deny", "(allow default)")):
        text = f"({action} file-write* {form})"
        for path in (*yes, *no):
            decision = ruled(text, "file-write-data", path, head)
            wanted = (action == "allow") is (path in yes)
            assert decision.outcome is (Outcome.ALLOW if wanted else Outcome.DENY), (action, path)


def test_paths_are_bytes() -> None:
    profile = load('(version 1)(deny default)(allow file-write* (literal "/é"))'.encode())
    decide = Decider(profile).decide
    assert decide("file-write-data", Subject("/é".encode())).allowed
    assert not decide("file-write-data", Subject("/é".encode("latin-1"))).allowed
    assert not decide("file-write-data", Subject("/e\u0301".encode())).allowed


def test_an_unknown_filter_is_undecidable_where_it_would_decide() -> None:
    text = '(allow file-read* (subpath "/ws"))(deny file-read* (vnode-type SYMLINK))'
    decision = ruled(text, "file-read-data")
    assert decision.outcome is Outcome.UNDECIDABLE
    assert "(vnode-type SYMLINK)" in decision.why
    # The clause denies each kind of file, but a later clause takes precedence.
    assert ruled(text, "file-read-data", "/elsewhere").outcome is Outcome.DENY
    assert ruled(text + '(allow file-read* (literal "/ws/x"))', "file-read-data").allowed
    known = '(deny file-read* (require-all (vnode-type SYMLINK) (subpath "/b")))'
    assert ruled('(allow file-read* (subpath "/ws"))' + known, "file-read-data").allowed


def test_results_that_depend_on_counting_characters_are_undecidable() -> None:
    text = '(allow file-read* (regex "^/a[^/]c$"))'
    assert ruled(text, "file-read-data", "/abc").allowed
    assert ruled(text, "file-read-data", "/aéc").outcome is Outcome.UNDECIDABLE


def test_execution_is_decided_by_its_operation() -> None:
    assert ruled("(allow process*)", "process-exec").allowed
    assert not ruled('(allow process-exec (literal "/bin/sh"))', "process-exec").allowed
    assert ruled("(allow process*)", "process-fork", None).allowed
    assert ruled("(allow process*)", "process*", None).allowed


def test_calls_of_kernel_policies_are_distinguished() -> None:
    text = b"""(version 1)(deny default)
        (allow system-mac-syscall (require-all (mac-policy-name "Sandbox") (mac-syscall-number 67)))
        """
    decide = Decider(load(text)).decide
    asked = [(b"Sandbox", 67), (b"Sandbox", 66), (b"other", 67)]
    met = [decide("system-mac-syscall", Subject(policy=name, call=n)).allowed for name, n in asked]
    assert met == [True, False, False]
    # A system call without a name cannot be decided.
    assert decide("system-mac-syscall").outcome is Outcome.UNDECIDABLE


def test_too_expensive_decisions_are_undecidable() -> None:
    profile = load(b'(version 1)(deny default)(allow file-read* (regex "(a|b)*a(a|b)(a|b)$"))')
    profile.budget.left = 50
    decision = Decider(profile).decide("file-read-data", Subject(b"/" + b"ab" * 40))
    assert decision.outcome is Outcome.UNDECIDABLE


# The command --------------------------------------------------------------------------------

PROFILE = """\
(version 1)
(deny default)
(allow file-read*)
(allow file-write* (subpath "/ws"))
(deny file-write* (literal "/ws/.env"))
(deny file-write-unlink (literal "/ws/src"))
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "p.sb"
    made.write_text(PROFILE)
    return made


def test_explain_shows_the_clause_that_decides(file: Path) -> None:
    done = boxspec("sbpl", "explain", file, "file-write-create", "/ws/x")
    assert (done.returncode, done.stderr) == (0, "")
    first, second = done.stdout.splitlines()
    assert first == "allow file-write-create /ws/x"
    assert second.split(None, 2)[2] == 'line 4: (allow file-write* (subpath "/ws"))'


def test_explain_shows_a_denial_and_where_nothing_matched(file: Path) -> None:
    denied = boxspec("sbpl", "explain", file, "file-write-data", "/ws/.env")
    assert denied.returncode == 3
    assert 'line 5: (deny file-write* (literal "/ws/.env"))' in denied.stdout
    file.write_text("(version 1)")
    assert "no clause matches" in boxspec("sbpl", "explain", file, "signal").stdout


def test_explain_shows_both_readings_where_they_part(file: Path) -> None:
    file.write_text(PROFILE + '(allow file-write* (subpath "/ws"))\n')
    done = boxspec("sbpl", "explain", file, "file-write-unlink", "/ws/src")
    assert done.returncode == 3
    first, last, specific = done.stdout.splitlines()
    assert first.startswith("ambiguous file-write-unlink /ws/src")
    assert "line 7: " in last
    assert "line 6: " in specific


def test_explain_takes_parameters_and_imports(file: Path) -> None:
    file.write_text('(version 1)(import "x.sb")(allow file-write* (subpath (param "WS")))')
    other = file.with_name("other.sb")
    other.write_text("(version 1)(deny default)")
    words = ("--param", "WS=/ws", "--import", f"x.sb={other}")
    done = boxspec("sbpl", "explain", file, "file-write-data", "/ws/x", *words)
    assert done.returncode == 0, done.stderr


WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "an unknown operation": (
        ("file-write-everything", "/ws"),
        "is not a known operation of Seatbelt",
    ),
    "a relative path": (("file-write-data", "ws"), "is not absolute"),
    "no path": (("file-write-data",), "is about a path"),
    "a parameter without a value": (("signal", "--param", "X"), "NAME=VALUE"),
}


@pytest.mark.parametrize("name", WRONG)
def test_explain_refuses_a_wrong_question(name: str, file: Path) -> None:
    words, said = WRONG[name]
    done = boxspec("sbpl", "explain", file, *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_explain_names_the_line_that_it_cannot_read(file: Path) -> None:
    file.write_text(PROFILE + "(version 4)\n")
    done = boxspec("sbpl", "explain", file, "signal")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{file}:7: (version 4), other than (version 1), is not known here" in done.stderr
    file.write_text(PROFILE + '(allow network* (remote ip "a.example:443"))\n')
    done = boxspec("sbpl", "explain", file, "signal")
    assert f"{file}:7: sandbox-exec would refuse the profile: the host of" in done.stderr
    assert "(source: published runs: host must be * or localhost" in done.stderr
    missing = boxspec("sbpl", "explain", file.with_name("none"), "signal")
    assert "No such file" in missing.stderr
