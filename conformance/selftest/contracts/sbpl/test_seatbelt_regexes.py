"""Tests of the evaluator's regular expressions: the dialect, counting in bytes and in characters,
and bounded time."""

from __future__ import annotations

import random
import re
import time
from contextlib import suppress

import pytest

from contracts.sbpl.seatbelt.reader import Refused, Undecidable
from contracts.sbpl.seatbelt.regexes import BudgetExceeded, Regex, StepBudget


def matches(pattern: str, text: str) -> bool | None:
    return Regex(pattern.encode(), 1, StepBudget()).matches(text.encode())


TABLE: list[tuple[str, list[str], list[str]]] = [
    ("^/a(/.*)?$", ["/a", "/a/", "/a/b/c"], ["/ab", "/", "x/a"]),
    ("^/(.*/)?x$", ["/x", "/a/x", "/a/b/x"], ["/ax", "/x/a"]),
    ("^/[^/]*\\.env$", ["/.env", "/a.env"], ["/aenv", "/a/.env", "/a.envy"]),
    ("^/[^/]+/x$", ["/a/x"], ["//x", "/a/b/x"]),
    ("^/a[ -.0-~]c$", ["/abc", "/a c", "/a~c"], ["/a/c", "/ac"]),
    ("^/[aA][bB]$", ["/ab", "/AB", "/aB"], ["/b", "/abc"]),
    ("^/(é|É)$", ["/é", "/É"], ["/e"]),
    ("^/a+b?$", ["/a", "/aab"], ["/b", "/abb"]),
    ("^/(a|bc)*$", ["/", "/abca"], ["/b"]),
    ("a", ["/a", "/ba/c"], ["/b"]),
    ("^/a", ["/a", "/ab/c"], ["/ba"]),
    ("a$", ["/a", "/ba"], ["/ab"]),
    ("^/a$|b$", ["/a", "/xb"], ["/ax", "/bx"]),
    ("^/\\[a\\]\\{b\\}\\(c\\)\\*\\+\\?\\|\\^\\$\\.\\\\$", ["/[a]{b}(c)*+?|^$.\\"], ["/a"]),
    ("^/[a^]$", ["/a", "/^"], ["/b"]),
    ("^/a\\ \\-b$", ["/a -b"], ["/a\\ -b"]),
    ("^/[^a-c]$", ["/d"], ["/a", "/b", "/c"]),
    ("^/[-a]$", ["/-", "/a"], ["/b"]),
    ("^/[a-c_-]$", ["/-", "/b", "/_"], ["/d"]),
    ("^/[^-a]$", ["/b"], ["/-", "/a"]),
    ("^/x(/|$)", ["/x", "/x/", "/x/y"], ["/xy", "/"]),
    ("/x($|/)", ["/x", "/a/x/y"], ["/xy"]),
    ("^/(a|b$)", ["/a", "/ab", "/b"], ["/bc"]),
    ("^/a((/b|$)|-c)", ["/a", "/a/b", "/a/bc", "/a-c"], ["/ab", "/a/"]),
    ("^/x(/|$)$", ["/x", "/x/"], ["/x/y"]),
]


@pytest.mark.parametrize(("pattern", "yes", "no"), TABLE, ids=[row[0] for row in TABLE])
def test_the_dialect(pattern: str, yes: list[str], no: list[str]) -> None:
    assert [text for text in yes if matches(pattern, text) is not True] == []
    assert [text for text in no if matches(pattern, text) is not False] == []


BEYOND = ["", "()", "a||b", "|a", "a|", "a**", "a*?", "a+?", "a{2}", "{", "}", "]", "a\\d", "\\w",
          "\\1", "a\\", "\\é", "[[:alpha:]]", "[a\\]]", "[]", "[]a]", "[a-b-c]", "[a[]",
          "*", "+a", "(^a)", "(" * 40 + "a" + ")" * 40]  # fmt: skip
BEYOND += ["(", "(a", "a)", "[a", "[b-a]", "a$b", "(a$)b", "(?i)a", "(?i:a)", "(?s-i)a", "(?:a",
           "(?:[)", "(?:\\)"]  # fmt: skip
# Expressions that sandbox-exec was observed to refuse.
WRONG = ["a^b", "(a^b)", "(?i)^/a"]


@pytest.mark.parametrize("pattern", BEYOND)
def test_expressions_beyond_the_dialect_are_undecidable(pattern: str) -> None:
    with suppress(Undecidable):
        assert matches(pattern, "a") is None


def test_an_unknown_form_hides_only_the_paths_that_match_up_to_it() -> None:
    for form in ("\\w+", "[a\\.]b", "x{2}/y", "[[:alpha:]]*", "x*?y", "(a|)b$", "(?i)a$"):
        regex = Regex(f"^/a/[0-9]/{form}".encode(), 1, StepBudget())
        assert regex.unknown
        assert regex.matches(b"/a/1/x") is None, form
        assert regex.matches(b"/a/b/x") is False, form
    # The count may be 0 for the character before it, so a match does not need that character.
    assert matches("^/ab{0}$", "/a") is None
    with pytest.raises(Undecidable):
        matches("^/a/\\w|b", "/x")


@pytest.mark.parametrize("pattern", WRONG)
def test_an_invalid_expression_is_refused(pattern: str) -> None:
    with pytest.raises(Refused):
        matches(pattern, "a")


def test_a_group_with_a_mark_may_match_anything() -> None:
    for group in ("(?:a|b)", "(?=a(b)c)", "(?!a\\))", "(?<=a)", "(?P<name>a)", "(?:[)])"):
        assert matches(f"^/x/{group}*/y$", "/x/z/y") is None
        assert matches(f"^/x/{group}*/y$", "/x/z") is False


def test_nothing_between_two_anchors_is_no_path() -> None:
    assert [matches("^$", text) for text in ("", "/", "/a")] == [True, False, False]


def test_results_that_differ_for_bytes_and_characters_are_unknown() -> None:
    assert matches("^/a[^/]c$", "/aéc") is None
    assert matches("^/a[^/][^/]c$", "/aéc") is None
    assert matches("^/[éÉ]$", "/É") is None
    assert matches("^/é?$", "/") is None
    # The result is the same, whether characters are counted or bytes.
    assert matches("^/a[^/]*c$", "/aéc") is True
    assert matches("^/a[ -.0-~]c$", "/aéc") is False
    assert matches("^/a([ -.0-~]|[^ -~][^ -~]?[^ -~]?[^ -~]?)c$", "/aéc") is True
    assert matches("^/a([ -.0-~]|[^ -~][^ -~]?[^ -~]?[^ -~]?)c$", "/a😀c") is True


def test_a_dot_that_meets_a_newline_is_unknown() -> None:
    assert matches("^/a.b$", "/a\nb") is None
    assert matches("^/a.b$", "/axb") is True
    assert matches("^/a[^/]b$", "/a\nb") is True
    assert matches("^/.*\\.env$", "/a\nb") is False


def random_expression(chance: random.Random, depth: int = 0) -> str:
    """Return a random expression that has the same meaning in Python."""
    parts = []
    for _ in range(chance.randint(1, 4)):
        kind = chance.randrange(7 if depth < 3 else 5)
        if kind < 3:
            part = chance.choice(["a", "b", "/", "\\.", "."])
        elif kind < 5:
            part = chance.choice(["[ab]", "[^/]", "[^ab]", "[a-c/]"])
        else:
            inside = "|".join(
                random_expression(chance, depth + 1) for _ in range(chance.randint(1, 3))
            )
            part = f"({inside})"
        parts.append(part + chance.choice(["", "", "*", "+", "?"]))
    return "".join(parts)


def test_random_expressions_match_as_those_of_python_do() -> None:
    chance = random.Random(11)
    for _ in range(600):
        begins, ends = chance.choice(["^", ""]), chance.choice(["$", ""])
        pattern = begins + random_expression(chance) + ends
        python = re.compile(pattern.replace("$", "\\Z"), re.S)
        regex = Regex(pattern.encode(), 1, StepBudget())
        for _ in range(8):
            text = "".join(chance.choices("ab/.", k=chance.randint(0, 7)))
            assert regex.matches(text.encode()) is bool(python.search(text)), (pattern, text)


HOSTILE = {
    "stars in stars": "^(((((((((a*)*)*)*)*)*)*)*)*)*$",
    "the same two ways": "^" + "(a|a)*" * 60 + "$",
    "all may be absent": "^" + "(.*a)?" * 140 + "$",
    "an a far from the end": "(a|b)*a" + "(a|b)" * 100 + "$",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_expression_explodes(name: str) -> None:
    began = time.process_time()
    chance = random.Random(5)
    regex = Regex(HOSTILE[name].encode(), 1, StepBudget())
    try:
        for _ in range(20):
            regex.matches("".join(chance.choices("ab", k=1000)).encode() + b"c")
    except BudgetExceeded:
        pass
    assert time.process_time() - began < 6


def test_expensive_expressions_use_up_the_budget() -> None:
    regex = Regex(HOSTILE["an a far from the end"].encode(), 1, StepBudget(10_000))
    with pytest.raises(BudgetExceeded):
        regex.matches(b"ab" * 500)
