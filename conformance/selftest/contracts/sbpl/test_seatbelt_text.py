"""The evaluator's reader: strings, Scheme forms, clauses, and input that it refuses to guess."""

from __future__ import annotations

import pytest

from contracts.sbpl.seatbelt.decide import Decider, Outcome, Subject
from contracts.sbpl.seatbelt.forms import CLAUSES, load
from contracts.sbpl.seatbelt.reader import NESTED, STRING_BYTES, TEXT_BYTES, Undecidable, Unreadable

HEAD = b"(version 1)\n(deny default)\n"


def allowed(text: bytes, path: bytes, **given: dict[str, bytes]) -> bool:
    ruling = Decider(load(HEAD + text, **given)).decide("file-write-data", Subject(path))
    assert ruling.outcome in (Outcome.ALLOW, Outcome.DENY), ruling.why
    return ruling.allowed


ESCAPES = {
    "quote": (rb"\"", b'"'),
    "backslash": (rb"\\", b"\\"),
    "newline": (rb"\n", b"\n"),
    "tab": (rb"\t", b"\t"),
    "return": (rb"\r", b"\r"),
    "hexadecimal": (rb"\x7e", b"~"),
    "hexadecimal, capital": (rb"\xC3\xA9", "é".encode()),
    "any other letter": (rb"\slash", b"slash"),
    "a newline by itself": (b"\n", b"\n"),
    "UTF-8": ("é😀".encode(), "é😀".encode()),
    "a semicolon": (b"a;b", b"a;b"),
    "parentheses": (b")(", b")("),
}


@pytest.mark.parametrize("name", ESCAPES)
def test_a_string_is_the_bytes_that_it_stands_for(name: str) -> None:
    written, meant = ESCAPES[name]
    text = b'(allow file-write* (literal "/a' + written + b'z"))'
    assert allowed(text, b"/a" + meant + b"z")
    assert not allowed(text, b"/a" + meant)


def test_a_backslash_that_is_not_escaped_is_lost() -> None:
    text = rb'(allow file-write* (literal "/bad\slash"))'
    assert not allowed(text, rb"/bad\slash")
    assert allowed(text, b"/badslash")


def test_a_raw_string_keeps_its_backslashes() -> None:
    assert allowed(rb'(allow file-write* (regex #"^/a\.b$"))', b"/a.b")
    assert not allowed(rb'(allow file-write* (regex #"^/a\.b$"))', b"/axb")
    # A plain string needs two backslashes for one.
    assert allowed(rb'(allow file-write* (regex "^/a\\.b$"))', b"/a.b")
    assert allowed(rb'(allow file-write* (regex "^/a\.b$"))', b"/axb")


SCHEME = {
    "a comment": (b'; (deny file*)\n(allow file-write* (subpath "/a"))', True),
    "debug": (b'(debug deny)(allow file-write* (subpath "/a"))', True),
    "with": (b'(allow file-write* (subpath "/a") (with report))', True),
    "with in front": (b'(allow (with message "x") file-write* (subpath "/a"))', True),
    "several operations": (b'(allow file-read* file-write* (subpath "/a"))', True),
    "several filters": (b'(allow file-write* (literal "/z") (subpath "/a"))', True),
    "param": (b'(allow file-write* (subpath (param "A")))', True),
    "define": (b'(define x "/a")(allow file-write* (subpath x))', True),
    "define of another": (b'(define x "/a")(define y x)(allow file-write* (subpath y))', True),
    "string-append": (b'(allow file-write* (subpath (string-append "/" "a")))', True),
    "if, met": (b'(if (param "A") (allow file-write*))', True),
    "if, not met": (b'(if (param "B") (allow file-write*))', False),
    "if, otherwise": (b'(if (param "B") (deny file*) (allow file-write*))', True),
    "if not": (b'(if (not (param "B")) (allow file-write*))', True),
    "when": (b'(when (param "B") (allow file-write*))', False),
    "begin": (b"(if #t (begin (deny signal) (allow file-write*)))", True),
    "let": (b'(let ((x "/a") (y "/b")) (allow file-write* (subpath x)))', True),
    "import": (b'(import "more.sb")', True),
}


@pytest.mark.parametrize("name", SCHEME)
def test_as_much_of_scheme_as_profiles_need(name: str) -> None:
    text, wanted = SCHEME[name]
    more = b'(version 1)(allow file-write* (subpath "/a"))'
    assert allowed(text, b"/a/b", params={"A": b"/a"}, imports={"more.sb": more}) is wanted


def test_a_name_of_let_is_local_to_it() -> None:
    with pytest.raises(Unreadable, match="unbound variable: x"):
        load(HEAD + b'(let ((x "/a")) (allow signal))(allow file-write* (subpath x))')


REFUSED = {
    "no version": b"(deny default)",
    "nothing": b"",
    "version 2": b"(version 2)",
    "an unknown operation": HEAD + b"(allow file-read-everything)",
    "an operation that is a string": HEAD + b'(allow "file-read*")',
    "an allow of nothing": HEAD + b"(allow)",
    "a param that is not set": HEAD + b'(allow file-write* (subpath (param "X")))',
    "a name that is not bound": HEAD + b"(allow file-write* (subpath x))",
    "a quote that is not escaped": HEAD + b'(allow file-write* (subpath "/a"quote"))',
    "a quote that closes the list": HEAD + b'(allow file-write* (subpath "/a"))"))',
    "a list that does not end": HEAD + b"(allow file-write*",
    "a parenthesis too many": HEAD + b"(allow file-write*))",
    "a string that does not end": HEAD + b'(allow file-write* (subpath "/a))',
    "a filter that is a string": HEAD + b'(allow file-write* "/a")',
    "a filter on a number": HEAD + b"(allow file-write* (subpath 1))",
    "require-all of nothing": HEAD + b"(allow file-write* (require-all))",
    "require-not of two": HEAD + b'(allow file* (require-not (path "/a") (path "/b")))',
    "a long string": HEAD + b'(allow file* (literal "/' + b"a" * STRING_BYTES + b'"))',
    "bytes outside of strings": HEAD + "(allow é)".encode(),
    "an inline flag": HEAD + b'(allow file* (regex "(?i)^/a$"))',
    "an anchor in the middle": HEAD + b'(allow file* (regex "/a^b"))',
}
GUESSED = {
    "an unknown form": HEAD + b"(lambda (x) x)",
    "a function": HEAD + b'(define (f x) (subpath x))',
    "a value by itself": HEAD + b'"x"',
    "an import that was not given": HEAD + b'(import "system.sb")',
    "an unknown modifier": HEAD + b"(deny default (with luck))",
    "an escape of JSON": HEAD + rb'(allow file* (literal "/\u0041"))',
    "half an escape": HEAD + rb'(allow file* (literal "/\x4"))',
    "a raw string with a quote": HEAD + rb'(allow file* (literal #"/a\"))',
    "a quoted name": HEAD + b"(allow file* 'x)",
    "an operation behind a filter": HEAD + b'(allow file-read* (path "/a") file-write*)',
    "too many lists": b"(version 1)" + b"(begin " * (NESTED + 1) + b")" * (NESTED + 1),
    "a string that doubles": b"(version 1)"
    + b'(define x "' + b"a" * 900 + b'")' + b"(define x (string-append x x))" * 99,
    "a huge text": b"(version 1)" + b" " * TEXT_BYTES,
    "too many clauses": b"(version 1)" + b"(deny signal)" * (CLAUSES + 1),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_texts_that_sandbox_exec_refuses_are_refused(name: str) -> None:
    with pytest.raises(Unreadable) as refused:
        load(REFUSED[name])
    assert refused.value.kind == "refused", refused.value


@pytest.mark.parametrize("name", GUESSED)
def test_unknown_forms_are_not_guessed(name: str) -> None:
    with pytest.raises(Undecidable):
        load(GUESSED[name])


def test_an_import_inside_itself_ends() -> None:
    text = b'(version 1)(import "a")'
    with pytest.raises(Undecidable):
        load(text, imports={"a": text})


def test_a_refusal_names_the_line() -> None:
    with pytest.raises(Unreadable) as refused:
        load(HEAD + b'(allow file-write* (literal "/a\nb"))\n(allow nothing)')
    assert refused.value.line == 5
