"""Tests of the evaluator's reader: strings, Scheme forms, clauses, and input that it refuses
because the meaning is unclear."""

from __future__ import annotations

import random
import time

import pytest

from contracts.sbpl.generators import times
from contracts.sbpl.seatbelt.decide import Decider, Outcome, Subject
from contracts.sbpl.seatbelt.explain import described
from contracts.sbpl.seatbelt.forms import CLAUSES, load
from contracts.sbpl.seatbelt.reader import (
    NESTED,
    STRING_BYTES,
    TEXT_BYTES,
    Refused,
    Undecidable,
    Unreadable,
    Unset,
)

HEAD = b"(version 1)\n(deny default)\n"


def allowed(text: bytes, path: bytes, **given: dict[str, bytes]) -> bool:
    decision = Decider(load(HEAD + text, **given)).decide("file-write-data", Subject(path))
    assert decision.outcome in (Outcome.ALLOW, Outcome.DENY), decision.why
    return decision.allowed


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
    # In a plain string, unlike in a #"" string, two backslashes stand for one.
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
    profile = load(HEAD + b'(let ((x "/a")) (allow signal))(allow file-write* (subpath x))')
    decision = Decider(profile).decide("file-write-data", Subject(b"/a"))
    assert decision.outcome is Outcome.UNDECIDABLE
    assert decision.why == "line 3: the name x is not known here"


# Texts that sandbox-exec was seen to refuse, or that its Scheme cannot read.
REFUSED = {
    "no version": b"(deny default)",
    "nothing": b"",
    "a quote that is not escaped": HEAD + b'(allow file-write* (subpath "/a"quote"))',
    "a quote that closes the list": HEAD + b'(allow file-write* (subpath "/a"))"))',
    "a list that does not end": HEAD + b"(allow file-write*",
    "a parenthesis too many": HEAD + b"(allow file-write*))",
    "a string that does not end": HEAD + b'(allow file-write* (subpath "/a))',
    "a long string": HEAD + b'(allow file* (literal "/' + b"a" * STRING_BYTES + b'"))',
    "an inline flag": HEAD + b'(allow file* (regex "(?i)^/a$"))',
    "an anchor in the middle": HEAD + b'(allow file* (regex "/a^b"))',
    "a host": HEAD + b'(allow network-outbound (remote ip "192.0.2.1:443"))',
    "an error of its own": HEAD + b'(if (not (param "X")) (error "X is missing"))',
}
UNDECIDABLE = {
    "version 4": b"(version 4)",
    "a raw string that ends in two ways": HEAD + b'(allow file* (literal #"/a\\";"\n))',
    "a comment in a comment": HEAD + b"#| #| |# (allow default) |#",
    "a comment that does not end": HEAD + b"#| (allow default)",
    "a huge text": b"(version 1)" + b" " * TEXT_BYTES,
    "too many clauses": b"(version 1)" + b"(deny signal)" * (CLAUSES + 1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_text_has_a_source(name: str) -> None:
    with pytest.raises(Refused) as refused:
        load(REFUSED[name])
    assert refused.value.source


@pytest.mark.parametrize("name", UNDECIDABLE)
def test_a_text_without_a_meaning_here_is_undecidable(name: str) -> None:
    with pytest.raises(Undecidable):
        load(UNDECIDABLE[name])


# For each unknown form: an operation that it may concern, and the words that describe it.
CONCERNS = {
    "an unknown operation": ("(allow file-read-stars*)", None, ""),
    "a wide unknown operation": ("(allow mach-host-special*)", "mach-host-special-port-set", ""),
    "an operation that is a string": ('(allow "file-read*")', "signal", "the clause"),
    "an allow of nothing": ("(allow)", "signal", "the clause (allow)"),
    "a name that is not bound": ("(allow file-write* (subpath x))", "file-write-data", "name x"),
    "a filter that is a string": ('(allow file-write* "/a")', "file-write-data", "the clause"),
    "a filter on a number": ("(allow file-write* (subpath 1))", "file-write-data", "subpath of"),
    "require-all of nothing": ("(allow file-write* (require-all))", "file-write-data", ""),
    "require-not of two": (
        '(allow file-write* (require-not (path "/c") (path "/b")))',
        "file-write-data",
        "require-not of",
    ),
    "a word that is not ASCII": ("(allow é)", "signal", "é in"),
    "an unknown function": ("(frobnicate)", "signal", "the name frobnicate"),
    "an unknown function with an operation": ("(frob file-read*)", "file-read-data", "frob"),
    "a value by itself": ('"x"', None, ""),
    "an import that was not given": ('(import "system.sb")', "signal", "--import system.sb=FILE"),
    "an unknown modifier": ("(allow file-write* (with luck))", "file-write-data", "luck"),
    "an escape of JSON": (r'(allow file-write* (literal "/\u0041"))', "file-write-data", r"\u"),
    "half an escape": (r'(allow file-write* (literal "/\x4"))', "file-write-data", r"\x"),
    "a quoted name": ("(allow file-write* 'x)", "file-write-data", "the clause"),
    "an operation behind a filter": (
        '(allow file-read* (path "/b") file-write*)',
        "file-read-data",
        "file-write* in",
    ),
    "a string that doubles": (
        '(define x "' + "a" * 900 + '")' + "(define x (string-append x x))" * 99
        + "(allow file-write* (subpath x))",
        "file-write-data",
        "string-append",
    ),
    "a call without an end": ("(define (f) (f)) (f)", "signal", "too many steps"),
    "calls inside each other": (
        "(define (f n) (+ 1 (f n))) (f 1)",
        "signal",
        "calls inside each other",
    ),
    "a loop of lists": (
        "(define (f x) (f (list x x))) (allow file-write* (subpath (f 1)))",
        "file-write-data",
        "too many steps",
    ),
    "a filter that grows": (
        '(define (f n x) (if (= n 0) x (f (- n 1) (require-any x x))))'
        '(allow file-write* (f 5000 (subpath "/b")))',
        "file-write-data",
        "a filter of more than",
    ),
    "an unknown condition": (
        '(if (frob) (allow file-write* (subpath "/a")))',
        "file-write-data",
        "the name frob",
    ),
    "a macro": ("(macro (f x) x) (allow file-write* (f 1))", "file-write-data", "the macro f"),
    "a character": (r"(allow file-write* (literal #\a))", "file-write-data", "literal of"),
    "too many lists": (
        "(begin " * (NESTED + 1) + "(allow file-write*)" + ")" * (NESTED + 1),
        "signal",
        "lists inside each other",
    ),
    "a filter of too many lists": (
        "(allow file-write* " + "(require-any " * NESTED + '(literal "/a")' + ")" * (NESTED + 1),
        "file-write-data",
        "lists inside each other",
    ),
    "a quote in a raw string": (
        r"""(allow file-write* (literal #"/a\"b"))""",
        "file-write-data",
        "a backslash before a quote",
    ),
    "a group of calls": (
        "(allow file-write* (syscall-group-open))",
        "file-write-data",
        "--given syscall-group=VALUE",
    ),
    "an entitlement": (
        '(with-filter (require-entitlement "x") (allow file-write*))',
        "file-write-data",
        "--given entitlement=VALUE",
    ),
    "a mode": ("(allow file-write* (file-mode #o4))", "file-write-data", "--given file-mode=VALUE"),
    "a path below the mount": (
        '(allow file-write* (mount-relative-literal "/a"))',
        "file-write-data",
        "mount-relative",
    ),
}  # fmt: skip
ASKED = ("file-write-data", "file-read-data", "mach-host-special-port-set", "signal")


@pytest.mark.parametrize("name", CONCERNS)
def test_an_unknown_form_hides_only_the_operations_that_it_concerns(name: str) -> None:
    text, operation, words = CONCERNS[name]
    wide = operation == "signal"  # The form may be about every operation.
    decider = Decider(load(HEAD + text.encode()))
    for asked in ASKED:
        subject = Subject(b"/a") if asked.startswith("file-") else Subject()
        decision = decider.decide(asked, subject)
        if asked == operation or wide:
            assert decision.outcome is Outcome.UNDECIDABLE, asked
            assert words in decision.why
        else:
            assert decision.outcome is Outcome.DENY, (asked, decision.why)


def test_a_later_clause_decides_in_spite_of_an_unknown_form() -> None:
    for text, _, _ in CONCERNS.values():
        late = f'{text}(allow file-write* (subpath "/a"))(deny file-read* (subpath "/a"))'
        assert allowed(late.encode(), b"/a/x"), text


def test_no_nesting_of_calls_exceeds_the_stack_of_python() -> None:
    nested = "(f " * (NESTED - 3) + "1" + ")" * (NESTED - 3)
    same = "(define (f x) (let ((y (begin (if #t x x)))) (cond ((not #f) y))))"
    assert load(HEAD + f"{same}(allow signal {nested})".encode())
    deep = "(define (count n) (if (= n 0) 0 (+ 1 (count (- n 1)))))(define (f x) (count 10000))"
    decision = Decider(load(HEAD + f"{deep}(allow signal (f 1))".encode())).decide("signal")
    assert decision.outcome is Outcome.UNDECIDABLE


PIECES = r"""( ( ( ( ) ) ) ) ' ` , ,@ . #t #f 0 1 -1 2.5 #o17 "" "/a" "a" #"^/a$" #\a #( x y f
    define define-once lambda set! if when unless cond else => case and or not let let* letrec begin
    quote quasiquote unquote unquote-splicing defined? do map for-each apply filter list car cdr
    cons append length reverse string-append substring string->number regex-quote + - * / = < > eq?
    equal? null? number->string param import error with with-filter with-operations with-modifier
    macro allow deny version debug trace default file-read* file-write-data file-foo* signal
    network-outbound literal subpath regex prefix path-ancestors require-any require-all require-not
    vnode-type REGULAR-FILE target self remote local ip tcp unix-socket "localhost:*" "*:80"
    extension global-name xattr message report no-sandbox send-signal syscall-number"""


def test_no_text_makes_the_evaluator_fail() -> None:
    """Every text is either evaluated or reported as unreadable with a line. No other exception may
    escape."""
    chance = random.Random(29)
    for _ in range(times(300)):
        words = chance.choices(PIECES.split(), k=chance.randint(5, 60))
        opened = 0
        balanced = []
        for word in words:
            opened += {"(": 1, ")": -1}.get(word, 0)
            if opened >= 0:
                balanced.append(word)
            opened = max(opened, 0)
        text = HEAD + " ".join((*balanced, ")" * opened)).encode()
        try:
            decider = Decider(load(text, {"x": b"/a"}, {"a": b"(version 1)(deny signal)"}))
        except Unreadable as why:
            assert why.line >= 1
            continue
        for asked in (*ASKED, "network-outbound", "default", "file-foo-bar"):
            decision = decider.decide(asked, Subject(b"/a"))
            assert described(decider, decision, asked, None)


@pytest.mark.parametrize(
    "text",
    [
        "(define (f n) (if (frob) (f n) (f n)))(f 1)",
        "(define (f l) (f (append l l)))(f (list 1 2 3))",
        '(define (f s) (f (string-append s s)))(f "aaaaaaaa")',
        "(define (f n) (f (* n n)))(f 9)",
        "(let loop ((l '())) (loop (cons l l)))",
        "(define (f) (map (lambda (x) (f)) (list 1 2 3)))(f)",
        "(define (f x) (allow signal) (f x))(f 1)",
        "(do ((i 0 (+ i 1))) (#f) (allow signal))",
    ],
)
def test_no_profile_takes_longer_than_a_moment(text: str) -> None:
    began = time.process_time()
    for _ in range(3):
        load(HEAD + 3 * text.encode())
    assert time.process_time() - began < 10


def test_an_import_inside_itself_ends() -> None:
    text = b'(version 1)(import "a")'
    decision = Decider(load(text, imports={"a": text})).decide("signal")
    assert decision.outcome is Outcome.UNDECIDABLE
    assert "imports inside each other" in decision.why


def test_an_imported_file_is_named() -> None:
    more = b"(version 1)\n(deny signal)\n(allow signal (frob))"
    profile = load(HEAD + b'(import "/System/Library/more.sb")', imports={"more.sb": more})
    decision = Decider(profile).decide("signal")
    assert decision.why == "line 3 of more.sb: the name frob is not known here"
    with pytest.raises(Refused) as refused:
        load(HEAD + b'(import "more.sb")', imports={"more.sb": b"(version 1)("})
    assert (refused.value.file, refused.value.line) == ("more.sb", 1)


def test_a_refusal_names_the_line() -> None:
    with pytest.raises(Unreadable) as refused:
        load(HEAD + b'(allow file-write* (literal "/a\nb"))\n(allow signal (remote ip "a:1"))')
    assert refused.value.line == 5


def test_parameters_that_are_not_set_are_named_together() -> None:
    text = (
        HEAD
        + b"""(if (param "D") (allow signal (param "D")))
        (define a (param "A"))
        (allow file-read* (subpath a))
        (allow file-write* (literal (string-append (param "B") "/x")) (subpath (param "A")))
        (if (frob) (allow file-read* (subpath (param "C"))))"""
    )
    with pytest.raises(Unset) as unset:
        load(text)
    assert (unset.value.names, unset.value.line) == (("A", "B"), 4)
    load(text, params={"A": b"/a", "B": b"/b"})
