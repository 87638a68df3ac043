"""Tests of the helpers of the sbpl tests: texts, meanings, refusals, hostile names, grammar."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from typing import Any

import pytest

from boxspec.judge.verdict import Blocked, Failure, Verdict
from boxspec.subject.observed import Answer
from boxspec.subject.session import Session
from contracts.sbpl import generators, hostile
from contracts.sbpl.client import SbplCase, Setup, argv_of, wrap_message
from contracts.sbpl.grammar import strange
from contracts.sbpl.judging import refused, refuses
from contracts.sbpl.meaning import Meaning, ancestors
from contracts.sbpl.text import WRITES, Text, both
from selftest.tools import FAKE

HEAD = "(version 1)\n(deny default)\n"


def text(clauses: str) -> Text:
    return Text((HEAD + clauses).encode(), "/ws")


@pytest.fixture
def case() -> Iterator[SbplCase]:
    session = Session((str(FAKE), "compiling"), seed=7)
    session.capabilities = frozenset({"sbpl", "sbpl.wrap"})
    made = SbplCase(session, "kit")
    yield made
    made.close(keep=False)
    session.close()


# Texts --------------------------------------------------------------------------------------

PLAIN = '(allow file-write* (subpath "/ws/a"))\n'


def failing(made: Text, wanted: dict[Any, bool]) -> Failure:
    with pytest.raises(Failure) as failed:
        made.expect("writing", wanted, WRITES)
    return failed.value


def test_correctly_decided_paths_cause_no_report() -> None:
    text(PLAIN).expect("writing", both(["a", "a/b", "/ws/a/c"], [".", "b", "/usr"]), WRITES)


def test_too_wide_texts_fail_and_too_narrow_ones_are_overrefused() -> None:
    wide = failing(text(PLAIN), both(["a"], ["a/b"]))
    assert wide.verdict is Verdict.FAILS
    assert (wide.expected, wide.got) == ("deny", "allow")
    assert 'line 3: (allow file-write* (subpath "/ws/a"))' in wide.evidence["decides"]
    narrow = failing(text(PLAIN), both(["b"], ["c"]))
    assert narrow.verdict is Verdict.OVERREFUSED
    assert "1 of 2 paths: b" in narrow.evidence["wrong"]


def test_an_ambiguous_text_fails() -> None:
    ambiguous = '(deny file-write-unlink (subpath "/ws"))\n(allow file-write* (subpath "/ws"))\n'
    assert failing(text(ambiguous), {"a": True}).got.startswith("ambiguous")


# Unknown clauses, and the requirement that each one violates.
UNKNOWN = {
    '(allow file-write* (regex "^/ws/(?:a|b)/c$"))': "SBPL-FORM-04",
    '(allow file-write* (regex "^/ws/a*?$"))': "SBPL-FORM-04",
    "(allow file-write* (vnode-type TTY))": "SBPL-FORM-04",
    '(allow file-write* (subpath "a"))': "SBPL-FORM-04",
    '(allow file-write* (regex "^/ws/a{2}$"))': "SBPL-FILTER-07",
    '(allow file-write* (regex "^/ws/[[:alpha:]]/c$"))': "SBPL-FILTER-07",
    r'(allow file-write* (regex "^/ws/\\d/c$"))': "SBPL-FILTER-07",
}


@pytest.mark.parametrize("clause", UNKNOWN)
def test_where_an_unknown_form_would_decide_one_requirement_blocks(clause: str) -> None:
    made = text(clause + "\n")
    with pytest.raises(Blocked) as blocked:
        made.expect("writing", {"a/c": True})
    assert blocked.value.by == (UNKNOWN[clause],)
    assert str(blocked.value).startswith("line 3: ")
    named = strange(made.data) if UNKNOWN[clause] == "SBPL-FORM-04" else made.gaps()
    assert len(named) == 1


def test_an_unknown_form_hides_nothing_of_the_other_paths() -> None:
    made = text(
        '(allow file-write* (regex "^/ws/(?:a|b)/c$"))\n(deny file-write* (path "/ws/a/c"))\n'
    )
    made.expect("writing", both([], ["d", "a/c", "/ws/(?:a|b)/cc"]))
    wide = text(PLAIN + '(deny file-write* (regex "^/ws/a/(?:x|y)$"))\n')
    assert failing(wide, {"a/x": True, "a": False}).expected == "deny"


def test_a_text_with_an_unknown_form_of_scheme_is_blocked_where_the_form_could_decide() -> None:
    made = text('(import "system.sb")\n(allow file-write* (subpath "/ws/a"))\n')
    with pytest.raises(Blocked) as blocked:
        made.expect("writing", {"b": True})
    assert blocked.value.by == ("SBPL-FORM-04",)
    made.expect("writing", {"a": True})
    assert len(strange(made.data)) == 1


def test_a_text_that_cannot_be_read_fails_with_its_line() -> None:
    with pytest.raises(Failure) as failed:
        text('(allow file-write* (regex "(?i)^/a$"))\n')
    assert failed.value.got.startswith("line 3: ")
    assert failed.value.evidence["text"][2].startswith("3 (allow file-write*")


def test_a_setup_that_is_refused_is_overrefused() -> None:
    error = {"kind": "invalid_input", "message": "no"}
    with pytest.raises(Failure) as failed:
        Text.of(Answer({"id": "1", "error": error}), "/ws")
    assert failed.value.verdict is Verdict.OVERREFUSED


def test_bytes_of_a_text_may_come_in_base64() -> None:
    made = Text.of(Answer({"result": {"text_b64": "KHZlcnNpb24gMSkK"}}), "/ws")
    assert made.data == b"(version 1)\n"


# Grammar ------------------------------------------------------------------------------------

GOOD = (
    "(allow file-read*)",
    '(deny file-write* (literal "/a"))',
    '(allow file-write* (require-all (subpath "/a") (regex "^/a$")))',
    '(allow system-mac-syscall (require-all (mac-policy-name "x") (mac-syscall-number 1)))',
)
STRANGE = {
    "a comment": "; x",
    "an empty line": "",
    "two clauses": "(allow signal)(allow signal)",
    "a blank too many": "(allow  signal)",
    "a blank at the end": "(allow signal) ",
    "a carriage return": "(allow signal)\r",
    "half a clause": "(allow",
    "several operations": "(allow signal file-read*)",
    "an unknown operation": "(allow everything)",
    "two filters": '(allow file* (literal "/a") (literal "/b"))',
    "require-all of one": '(allow file* (require-all (literal "/a")))',
    "require-not": '(allow file* (require-not (literal "/a")))',
    "two expressions": '(allow file* (regex "^a$" "^b$"))',
    "a modifier": "(deny signal (with no-report))",
    "a parameter": '(allow file* (literal (param "A")))',
    "an import": '(import "system.sb")',
    "another default": "(allow default)",
    "a definition": '(define a "/a")',
    "a group with a mark": '(allow file* (regex "^/(?:a|b)$"))',
    "a lazy repetition": '(allow file* (regex "^/a*?$"))',
}


@pytest.mark.parametrize("clause", GOOD)
def test_a_clause_of_the_page_is_not_strange(clause: str) -> None:
    assert strange(text(clause + "\n").data) == []


@pytest.mark.parametrize("name", STRANGE)
def test_a_clause_that_is_not_on_the_page_is_strange(name: str) -> None:
    found = strange(f"{HEAD}{STRANGE[name]}\n".encode())
    assert len(found) == 1
    assert found[0].startswith("3: ")


def test_a_last_line_without_an_end_and_another_head_are_strange() -> None:
    assert strange(f"{HEAD}(allow signal)".encode()) == ["the last line does not end"]
    assert len(strange(b"(deny default)\n(version 1)\n")) == 2


# Meanings -----------------------------------------------------------------------------------


def test_a_deny_without_wildcards_does_not_cover_paths_below() -> None:
    meaning = Meaning(Setup(modify=["**"], deny_modify=["a"], root="/ws"))
    assert meaning.may_modify("/ws/a") is False
    assert meaning.may_modify("/ws/a/b") is None
    assert meaning.may_modify("/ws/ab") is True
    again = Meaning(Setup(modify=["**", "!a", "a/b"], root="/ws"))
    assert again.may_modify("/ws/a/b") is True
    assert again.may_modify("/ws/a/c") is None


def test_question_marks_and_non_ascii_paths_are_not_tested() -> None:
    meaning = Meaning(Setup(modify=["a?"], root="/ws"))
    assert meaning.may_modify("/ws/ab") is True
    assert meaning.may_modify("/ws/aé") is None


def test_outside_of_the_root_places_are_writable_and_all_is_readable() -> None:
    setup = Setup(env={"HOME": "/h", "CODEX_HOME": "/c", "CLAUDE_CONFIG_DIR": ""}, root="/ws")
    meaning = Meaning(setup.but(deny_read=["**"]))
    yes = ["/dev", "/private/tmp/x", "/h/.orbit", "/c/x", "/h/.claude", "/h/.gemini"]
    assert [path for path in yes if not meaning.may_modify(path)] == []
    no = ["/h", "/h/.codex", "/tmp2", "/devx", "/ws/x", "/ws"]
    assert [path for path in no if meaning.may_modify(path)] == []
    assert meaning.may_read("/h/x") is True
    assert meaning.may_read("/ws/x") is False


def test_side_roots_are_those_of_codex() -> None:
    setup = Setup(side_roots=["/s"], provider="codex")
    assert Meaning(setup).may_modify("/s/x") is True
    assert Meaning(setup.but(provider="claude")).may_modify("/s/x") is False


def test_unreadable_paths_and_their_folders_cannot_be_unlinked() -> None:
    meaning = Meaning(Setup(modify=["**"], deny_read=["a/b/*.k"], root="/ws"))
    paths = ["/ws/a", "/ws/a/b", "/ws/a/b/x.k", "/ws/a/c", "/ws"]
    assert [meaning.may_unlink(path) for path in paths] == [False, False, False, True, True]
    assert ancestors("a/b/c") == ["a", "a/b"]
    assert ancestors("a/b/**") == ["a", "a/b"]
    assert ancestors("**/a") == []


def test_under_fold_spellings_mean_the_same() -> None:
    meaning = Meaning(Setup(modify=["**"], deny_modify=["K\u212aé"], case="fold", root="/Ws"))
    assert meaning.may_modify("/Ws/kkE\u0301") is False
    assert meaning.may_modify("/ws/x") is False


# Refusals and names -------------------------------------------------------------------------


def answer(**error: str) -> Answer:
    return Answer({"id": "1", "error": error} if error else {"id": "1", "result": {}})


def test_a_refusal_has_a_kind_and_names_the_entry() -> None:
    refused("x", answer(kind="invalid_input", message="the root is bad"), "root", "cwd")
    for wrong, verdict in (
        (answer(), Verdict.FAILS),
        (answer(kind="io", message="root"), Verdict.WRONG_REASON),
        (answer(kind="invalid_input", message="bad"), Verdict.WRONG_REASON),
    ):
        with pytest.raises(Failure) as failed:
            refused("x", wrong, "root", "cwd")
        assert failed.value.verdict is verdict


def test_a_refusal_without_a_working_counterpart_is_unproven(
    case: SbplCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    no = answer(kind="invalid_input", message="no")
    asked = iter([no, Answer({"id": "1", "result": {"text": HEAD}}), no, no])
    monkeypatch.setattr(case.sbpl, "compile", lambda _: next(asked))
    refuses(case, "x", Setup(), Setup())
    with pytest.raises(Failure) as failed:
        refuses(case, "x", Setup(), Setup())
    assert failed.value.verdict is Verdict.UNPROVEN


def test_an_opened_form_and_a_changed_string_are_seen() -> None:
    harmless = text(f'(allow file-write* (subpath "/{hostile.HARMLESS}/x"))\n')
    name = '")(allow default)("'
    right = text(r'(allow file-write* (subpath "/\")(allow default)(\"/x"))' + "\n")
    hostile.same_shape("x", right, name, harmless)
    for wrong in (
        '(allow file-write* (subpath "/"))(allow default)\n',
        '(allow file-write* (subpath "/y/x"))\n',
        '(allow file-write* (literal "/y/x"))\n',
        r'(allow file-read* (subpath "/\")(allow default)(\"/x"))' + "\n",
        r'(deny file-write* (subpath "/\")(allow default)(\"/x"))' + "\n",
    ):
        with pytest.raises(Failure):
            hostile.same_shape("x", text(wrong), name, harmless)


def test_the_requested_number_of_hostile_names_starts_with_whole_ones() -> None:
    names = hostile.names(random.Random(1), 500)
    assert len(names) == 500
    assert names[: len(hostile.ENDINGS)] == list(hostile.ENDINGS)
    assert [name for name in names if any(ord(letter) < 32 for letter in name)] == []
    assert names == hostile.names(random.Random(1), 500)


def test_boxspec_times_multiplies_the_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert generators.times(7) == 7 * int(os.environ.get("BOXSPEC_TIMES", "1"))
    monkeypatch.setenv("BOXSPEC_TIMES", "3")
    assert generators.times(7) == 21


def test_generated_setups_are_those_of_policies_that_load(case: SbplCase) -> None:
    """Generated setups come from policies that load: no profile repeats a global deny, and each
    exception lies inside a deny."""
    chance = random.Random(3)
    excepted = 0
    for _ in range(200):
        given = generators.anything(chance)
        denied = {deny for deny in (*given.deny_modify, *given.deny_read) if deny[0] != "!"}
        assert denied.isdisjoint(rule.removeprefix("!") for rule in given.modify)
        for at, deny in enumerate(given.deny_modify):
            if deny.startswith("!"):
                excepted += 1
                before = [each.removesuffix("/**") for each in given.deny_modify[:at]]
                assert any(deny[1:].startswith(f"{place}/") for place in before)
    assert excepted > 20


# Asking -------------------------------------------------------------------------------------


def test_setups_that_are_not_utf8_become_requests_with_base64_fields() -> None:
    plain = Setup(modify=["a"], env={"HOME": "/h"}, side_roots=["/s"], provider="codex")
    assert plain.message() == {
        "op": "sbpl.compile",
        "rules": {"read": ["**"], "modify": ["a"]},
        "root": "/Users/u/ws",
        "env": {"HOME": "/h"},
        "side_roots": ["/s"],
        "provider": "codex",
    }
    odd = Setup(root=b"/\xff", env={"HOME": b"/\xff"}, side_roots=[b"/\xff"]).message()
    assert odd["root_b64"] == "L/8="
    assert odd["env_b64"] == {"HOME": "L/8="}
    assert odd["side_roots_b64"] == ["L/8="]


def test_a_wrap_names_a_file_or_brings_a_text() -> None:
    assert wrap_message(["x"])["file"] == "/private/tmp/p.sb"
    made = wrap_message([b"\xff"], text="t", dir=b"/\xff", provider=None)
    assert made == {"op": "sbpl.wrap", "argv_b64": ["/w=="], "text": "t", "dir_b64": "L/8="}
    assert argv_of(Answer({"result": {"argv_b64": ["/w=="]}})) == [b"\xff"]


def test_answers_come_in_the_words_of_a_test(case: SbplCase) -> None:
    made = case.sbpl.compiled(Setup(modify=["src/**"]))
    made.expect("writing", both(["src/x"], ["x"]), WRITES)
    assert case.sbpl.wrapped(["x"]) == [b"/usr/bin/sandbox-exec", b"-f", b"/private/tmp/p.sb", b"x"]
