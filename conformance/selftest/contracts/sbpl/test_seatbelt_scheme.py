"""Tests of the evaluator: Scheme forms, clauses of functions, and filters with given facts."""

from __future__ import annotations

import pytest

from contracts.sbpl.seatbelt.decide import Decider
from contracts.sbpl.seatbelt.explain import described
from contracts.sbpl.seatbelt.forms import load
from contracts.sbpl.seatbelt.question import subject_of

VALUES = {
    "(+ 1 2 (* 2 3) (- 9 4 1) (- 2) (/ 8 2))": "15",
    "(if (< 1 2 3) 1 0)": "1",
    "(if (>= 2 3) 1 0)": "0",
    "(quotient 7 2)": "3",
    "(modulo -7 2)": "1",
    "(max 1 3 2)": "3",
    "(length '(1 2 (3)))": "3",
    "(car (cdr '(1 2 3)))": "2",
    "(caddr (list 1 2 3))": "3",
    "(apply + 1 (map (lambda (x) (* x x)) '(1 2 3)))": "15",
    "(apply max (append '(1) '(5 2)))": "5",
    "(length (reverse (cons 1 '(2))))": "2",
    "(let loop ((n 5) (sum 0)) (if (= n 0) sum (loop (- n 1) (+ sum n))))": "15",
    "(let* ((x 1) (y (+ x 1))) (* y 10))": "20",
    "(letrec ((f (lambda (n) (if (zero? n) 1 (* n (f (- n 1))))))) (f 5))": "120",
    "(begin (define (f . all) (length all)) (f 1 2 3))": "3",
    "(begin (define (f x . all) (length all)) (f 1 2 3))": "2",
    "(begin (define x 1) (set! x (+ x 1)) x)": "2",
    "(cond (#f 1) ((= 1 1) 2) (else 3))": "2",
    '(cond ((assoc "b" \'(("a" 1) ("b" 2))) => cadr) (else 0))': "2",
    "(case 'b ((a) 1) ((b c) 2) (else 3))": "2",
    "(and 1 2 3)": "3",
    "(or #f 2 3)": "2",
    "(if (and) 1 0)": "1",
    "(if (or) 1 0)": "0",
    '(if (equal? \'(1 ("a" b)) (list 1 (list "a" \'b))) 1 0)': "1",
    "(if (eq? 'a 'b) 1 0)": "0",
    '(string->number "42")': "42",
    '(string->number "ff" 16)': "255",
    '(if (string->number "x") 1 0)': "0",
    '(string-length "abc")': "3",
    '(string->number (substring "x17y" 1 3))': "17",
    '(if (string=? (string-append "a" "b") "ab") 1 0)': "1",
    '(if (member "b" \'("a" "b")) 1 0)': "1",
    "(if (null? '()) 1 0)": "1",
    "(if (defined? 'file-read*) 1 0)": "1",
    "(if (defined? 'my-own-name) 1 0)": "0",
    '(if (string? (param "NONE")) 1 0)': "0",
    '(if (eq? (param "NONE") #f) 1 0)': "1",
    "(unless #f 4)": "4",
    "(length `(1 ,(+ 1 1) ,@(list 3 4)))": "4",
    "#o17": "15",
    "#xff": "255",
    "(length (filter (lambda (x) (> x 1)) '(1 2 3)))": "2",
    "(begin (define-once z 1) (define-once z 2) z)": "1",
    "(do ((n 0 (+ n 1)) (sum 0 (+ sum n))) ((= n 4) sum))": "6",
    "(do ((n 0) (m 7 n)) ((= m 0) n) (set! n 0))": "0",
    "(if (defined? `file-read*) 1 0)": "1",
    '(char->integer (string-ref "abc" 1))': "98",
    "(if (char=? #\\/ (integer->char 47)) 1 0)": "1",
    "(if (eqv? #\\space #\\x20) 1 0)": "1",
    '(string-length (list->string (cdr (string->list "abc"))))': "2",
    '(if (equal? (string-upcase "aé/") "Aé/") 1 0)': "1",
    '(_IO "h" 47)': "26671",
    "(+ 1 #| 10 |# 1)": "2",
    # Recursion that is not a tail call.
    "(let count ((n 150)) (if (= n 0) 0 (+ 1 (count (- n 1)))))": "150",
    "(let sum ((l (let up ((n 0) (l '())) (if (= n 900) l (up (+ n 1) (cons n l))))) (s 0))"
    " (if (null? l) s (sum (cdr l) (+ s 1))))": "900",
}


@pytest.mark.parametrize("form", VALUES)
def test_scheme_is_evaluated(form: str) -> None:
    path = f'(string-append "/" (number->string {form}))'
    text = f"(version 1)(deny default)(allow file-read* (literal {path}))"
    decide = Decider(load(text.encode())).decide
    asked = decide("file-read-data", subject_of("file-read-data", f"/{VALUES[form]}", {}))
    assert asked.allowed, asked.why


def test_clauses_of_functions_and_of_filters_around_them() -> None:
    text = b"""(version 1)(deny default)
        (with-filter (subpath "/a") (allow file-read*) (allow file-write* (literal "/b")))
        (with-operations (list file-ioctl) (allow file-read-data (literal "/c")))
        (with-modifier (with report) (allow signal))
        (define home-subpath (lambda (rest) (subpath (string-append "/home" rest))))
        (allow file-read* (require-not (home-subpath "/x")) (with no-report))"""
    decide = Decider(load(text)).decide

    def allows(operation: str, path: str | None) -> bool:
        return decide(operation, subject_of(operation, path, {})).allowed

    assert allows("file-read-data", "/a/x")
    assert not allows("file-write-data", "/b")
    assert allows("file-ioctl", "/c")
    assert not allows("file-ioctl", "/d")
    assert decide("signal").allowed
    assert not allows("file-read-data", "/home/x/y")


def test_a_long_list_of_paths_is_evaluated() -> None:
    names = [f'"/a{number}"' for number in range(25_000)]
    apart = " ".join(f"(literal {name})" for name in names)
    nested = "(define (any l) (if (null? (cdr l)) (literal (car l)) (require-any (literal (car l))"
    nested += f" (any (cdr l))))) (allow file-read* (any '({' '.join(names[:90])})))"
    for text, last in (
        (f"(allow file-read* (literal {' '.join(names)}))", "/a24999"),
        (f"(allow file-read* {apart})", "/a24999"),
        (nested, "/a89"),
    ):
        decide = Decider(load(f"(version 1)(deny default){text}".encode())).decide
        for path, wanted in ((last, True), ("/a25000", False)):
            decision = decide("file-read-data", subject_of("file-read-data", path, {}))
            assert (decision.allowed, decision.why) == (wanted, "")


# For each filter: a question with the facts that it needs, and the answer.
GIVEN = [
    ("(tty)", "vnode-type=TTY", "allow"),
    ("(tty)", "vnode-type=FIFO", "deny"),
    ("(debug-mode)", "system-attribute=sandbox-debug-mode", "allow"),
    ("(process-is-plugin)", "process-attribute=is-plugin", "allow"),
    ("(file-mode #o0004)", "file-mode=0644", "allow"),
    ("(file-mode #o0004)", "file-mode=0640", "deny"),
    ("(file-mode #o0044)", "file-mode=0640", "undecidable"),
    ("(file-mode 0)", "file-mode=0640", "undecidable"),
    ("(extension)", "extension=com.apple.app-sandbox.read-write", "allow"),
    ("(granted-extensions)", "extension=other", "deny"),
    ("(container)", "extension=other", "undecidable"),
    ("(container)", "extension=", "deny"),
    ('(require-entitlement "x")', "entitlement=x", "allow"),
    ('(require-entitlement "x" (entitlement-value #t))', "entitlement=x", "undecidable"),
    ('(require-entitlement "x" (entitlement-value #t))', "entitlement=y", "deny"),
    ('(mount-relative-subpath "/x")', "mount-relative-path=/x/y", "allow"),
    ('(mount-relative-subpath "/x")', "mount-relative-path=/xy", "deny"),
    ('(mount-relative-prefix "/x")', "mount-relative-path=/xy", "allow"),
    ('(mount-relative-regex #"^/x(/|$)")', "mount-relative-path=/xy", "deny"),
    ('(mount-relative-literal "/other")', "extension=", "deny"),
    ('(mount-relative-literal "/b")', "extension=", "undecidable"),
    ("(device-major 4)", "vnode-type=REGULAR-FILE", "deny"),
    ("(device-major 4)", "vnode-type=CHARACTER-DEVICE", "undecidable"),
    ('(xattr "x")', "extension=", "deny"),
    ('(extension-class "x")', "extension=", "deny"),
    ("(uid 0)", "uid=0", "allow"),
]


@pytest.mark.parametrize(("form", "fact", "wanted"), GIVEN, ids=[f"{r[0]} {r[1]}" for r in GIVEN])
def test_a_filter_looks_at_a_given_fact(form: str, fact: str, wanted: str) -> None:
    decider = Decider(load(f"(version 1)(deny default)(allow file-read* {form})".encode()))
    name, _, value = fact.partition("=")
    subject = subject_of("file-read-data", "/a/b", {name: value})
    decision = decider.decide("file-read-data", subject)
    assert decision.outcome.value == wanted, decision.why
    assert described(decider, decision, "file-read-data", "/a/b")
