"""Tests with profiles as in daily use: the answers of `sbpl explain` and the table of `sbpl
audit`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contracts.sbpl.seatbelt.decide import Decider
from contracts.sbpl.seatbelt.explain import described
from contracts.sbpl.seatbelt.forms import load
from contracts.sbpl.seatbelt.question import opened, subject_of
from selftest.tools import ROOT, boxspec

PROFILES = ROOT / "fixtures" / "seatbelt"
AGENT = {"WORKSPACE": "/Users/u/ws", "TEMPORARY": "/private/var/folders/ab/T"}
BROWSER = {"HOME_DIRECTORY": "/Users/u", "SYSTEM_RELEASE": "12"}
OLD = {"HOME_DIRECTORY": "/Users/u/", "LOG_DENIALS": "TRUE"}
DAEMON = {"_HOME": "/Users/u"}
PACKAGES = {"_TEMPORARY": "/private/tmp/build"}
LOCAL = {**PACKAGES, "_LOCAL_NETWORK": "1"}
NETWORK = {**PACKAGES, "_NETWORK": "1", "_EXTRA": "/opt/extra"}

Row = tuple[str, dict[str, str], str, str | None, str]
ANSWERS: list[Row] = [
    ("agent", AGENT, "file-write-create", "/Users/u/ws/x", "allow"),
    ("agent", AGENT, "file-write-create", "/Users/u/wsx", "deny"),
    ("agent", AGENT, "file-write-create", "/Users/u/ws/.git/hooks/pre-commit", "deny"),
    ("agent", AGENT, "file-write-data", "/Users/u/ws/.git/config", "deny"),
    ("agent", AGENT, "file-read-data", "/Users/u/ws/.git/config", "allow"),
    ("agent", AGENT, "file-read-data", "/Users/u/.ssh/id_ed25519", "deny"),
    ("agent", AGENT, "file-write-data", "/dev/ttys003", "allow"),
    ("agent", AGENT, "file-write-data", "/dev/null", "undecidable"),
    ("agent", AGENT, "file-read-metadata", "/Users/u", "allow"),
    ("agent", AGENT, "file-read-metadata", "/System/Volumes/Data", "allow"),
    ("agent", AGENT, "file-read-metadata", "/System/Volumes/Data/private", "deny"),
    ("agent", AGENT, "mach-host-special-port-set", None, "deny"),
    ("agent", AGENT, "mach-lookup", "com.apple.system.logger", "allow"),
    ("agent", AGENT, "mach-lookup", "com.apple.cfprefsd.agent", "deny"),
    ("agent", AGENT, "mach-lookup", "com.apple.SecurityServer", "deny"),
    ("agent", AGENT, "iokit-open", "RootDomainUserClient", "allow"),
    ("agent", AGENT, "iokit-open", "IOSurfaceRootUserClient", "allow"),
    ("agent", AGENT, "iokit-open", "AppleKeyStore", "deny"),
    ("agent", AGENT, "process-info-pidinfo", "self", "allow"),
    ("agent", AGENT, "process-info-pidinfo", "others", "deny"),
    ("agent", AGENT, "signal", "same-sandbox", "allow"),
    ("agent", AGENT, "signal", None, "undecidable"),
    ("agent", AGENT, "user-preference-read", "com.apple.dock", "allow"),
    ("agent", AGENT, "user-preference-write", "com.apple.dock", "deny"),
    ("agent", AGENT, "pseudo-tty", None, "allow"),
    ("agent", AGENT, "ipc-posix-sem-create", "/psm", "allow"),
    ("agent", AGENT, "ipc-posix-shm-read-data", "apple.cfprefs.501v1", "allow"),
    ("agent", AGENT, "ipc-posix-shm-write-create", "/psm_0a", "allow"),
    ("agent", AGENT, "ipc-posix-shm-write-create", "/psm_0g", "deny"),
    ("agent", AGENT, "sysctl-read", "hw.perflevel0.name", "allow"),
    ("agent", AGENT, "sysctl-read", "kern.procargs2", "deny"),
    ("agent", AGENT, "sysctl-write", "kern.grade_cputype", "allow"),
    ("agent", AGENT, "system-mac-syscall", "Sandbox:67", "allow"),
    ("agent", AGENT, "system-mac-syscall", "Sandbox:66", "deny"),
    ("agent", AGENT, "system-fsctl", "FSIOC_CAS_BSDFLAGS", "allow"),
    ("agent", AGENT, "system-socket", "AF_INET", "deny"),
    ("agent", AGENT, "network-outbound", "localhost:3128", "allow"),
    ("agent", AGENT, "network-outbound", "127.0.0.1:3128", "allow"),
    ("agent", AGENT, "network-outbound", "[::1]:3128", "allow"),
    ("agent", AGENT, "network-outbound", "::ffff:127.0.0.1:3128", "deny"),
    ("agent", AGENT, "network-outbound", "localhost:3129", "deny"),
    ("agent", AGENT, "network-outbound", "192.0.2.1:3128", "deny"),
    ("agent", AGENT, "network-outbound", "/private/var/run/x", "deny"),
    ("agent", AGENT, "network-bind", "localhost:80", "allow"),
    ("agent", AGENT, "network-bind", "0.0.0.0:80", "deny"),
    ("agent", AGENT, "process-exec", "/bin/sh", "allow"),
    ("browser", BROWSER, "mach-lookup", "com.apple.release.eleven", "allow"),
    ("browser", BROWSER, "mach-lookup", "com.apple.release.ten", "undecidable"),
    ("browser", OLD, "mach-lookup", "com.apple.release.ten", "allow"),
    ("browser", OLD, "mach-lookup", "com.apple.diagnosticd", "allow"),
    ("browser", BROWSER, "file-read-data", "/System/Library/x", "allow"),
    ("browser", BROWSER, "file-read-data", "/Users/u/Library/Fonts/a.otf", "allow"),
    ("browser", OLD, "file-read-data", "/Users/u/Library/Fonts/a.otf", "allow"),
    ("browser", BROWSER, "file-read-data", "/Users/uxLibrary/Fonts/a.otf", "undecidable"),
    ("browser", BROWSER, "file-read-metadata", "/Users/u/Library", "allow"),
    ("browser", BROWSER, "file-write-data", "/private/tmp/browser/x", "allow"),
    ("browser", BROWSER, "file-write-data", "/private/tmp/x", "deny"),
    ("browser", BROWSER, "file-read-data", "/private/tmp/shm-1", "allow"),
    ("browser", BROWSER, "sysctl-read", "kern.eleven", "allow"),
    ("browser", BROWSER, "sysctl-read", "kern.ten", "deny"),
    ("browser", OLD, "sysctl-read", "kern.ten", "allow"),
    ("browser", BROWSER, "iokit-open-user-client", "AGXDeviceUserClient", "allow"),
    ("browser", BROWSER, "signal", "self", "allow"),
    ("browser", BROWSER, "signal", "others", "deny"),
    ("browser", BROWSER, "syscall-unix", "SYS_write", "allow"),
    ("browser", BROWSER, "syscall-unix", "24", "allow"),
    ("browser", BROWSER, "syscall-unix", "SYS_ptrace", "deny"),
    ("browser", BROWSER, "network-outbound", "192.0.2.1:443", "deny"),
    ("browser", BROWSER, "dream-catching", None, "deny"),
    ("daemon", DAEMON, "file-read-data", "/usr/lib/libc.dylib", "allow"),
    ("daemon", DAEMON, "file-read-data", "/Users/u/.ssh/id_ed25519", "deny"),
    (
        "daemon",
        DAEMON,
        "file-write-create",
        "/Users/u/Library/Caches/org.example.service/x",
        "allow",
    ),
    ("daemon", DAEMON, "file-write-create", "/Users/u/Library/Caches/org.example.servicex", "deny"),
    (
        "daemon",
        DAEMON,
        "file-read-data",
        "/Users/u/Library/Preferences/org.example.service.plist",
        "allow",
    ),
    ("daemon", DAEMON, "file-read-data", "/usr/share/x", "undecidable"),
    (
        "daemon",
        DAEMON,
        "file-write-data",
        "/Volumes/x/.TemporaryItems/folders.501/y",
        "undecidable",
    ),
    ("daemon", DAEMON, "file-write-data", "/Volumes/x/TemporaryItems", "deny"),
    ("daemon", DAEMON, "file-write-xattr", "/Users/u/x", "undecidable"),
    ("daemon", DAEMON, "file-map-executable", "/Users/u/x", "deny"),
    ("daemon", DAEMON, "file-read-metadata", "/Library", "allow"),
    ("daemon", DAEMON, "file-read-metadata", "/Users", "deny"),
    ("daemon", DAEMON, "process-info-pidinfo", "self", "allow"),
    ("daemon", DAEMON, "process-info-pidinfo", "others", "deny"),
    ("daemon", DAEMON, "process-exec-interpreter", "/usr/libexec/helper", "allow"),
    ("daemon", DAEMON, "process-exec", "/bin/sh", "deny"),
    ("daemon", DAEMON, "mach-lookup", "com.example.trust", "allow"),
    ("daemon", DAEMON, "mach-lookup", "com.example.card", "undecidable"),
    ("daemon", DAEMON, "mach-lookup", "com.apple.SecurityServer", "deny"),
    ("daemon", DAEMON, "user-preference-write", "org.example.other", "deny"),
    ("daemon", DAEMON, "user-preference-write", "org.example.service", "undecidable"),
    ("daemon", DAEMON, "iokit-open-user-client", "Keyboard", "deny"),
    ("daemon", DAEMON, "nvram-get", "ota-x", "allow"),
    ("daemon", DAEMON, "nvram-set", "ota-x", "deny"),
    ("daemon", DAEMON, "system-mac-syscall", "AMFI:95", "allow"),
    ("daemon", DAEMON, "system-mac-syscall", "Quarantine:95", "deny"),
    ("daemon", DAEMON, "system-fsctl", "26671", "allow"),
    ("daemon", DAEMON, "network-outbound", "/private/var/run/resolver", "allow"),
    ("daemon", DAEMON, "network-outbound", "/private/var/run/old1", "allow"),
    ("daemon", DAEMON, "network-outbound", "192.0.2.1:443", "deny"),
    ("daemon", DAEMON, "network-inbound", "localhost:631", "allow"),
    ("daemon", DAEMON, "syscall-unix", "SYS_open", "allow"),
    ("daemon", DAEMON, "syscall-unix", "SYS_ptrace", "undecidable"),
    ("daemon", DAEMON, "sysctl-read", "kern.example3", "allow"),
    ("daemon", DAEMON, "sysctl-read", "kern.example4", "deny"),
    ("packages", PACKAGES, "network-outbound", "192.0.2.1:443", "deny"),
    ("packages", PACKAGES, "network-outbound", "/private/var/run/syslog", "allow"),
    ("packages", PACKAGES, "network-outbound", "/private/var/packages/socket/1", "allow"),
    ("packages", PACKAGES, "network-outbound", "/private/var/run/docker.sock", "deny"),
    ("packages", LOCAL, "network-outbound", "localhost:443", "allow"),
    ("packages", LOCAL, "network-inbound", "0.0.0.0:80", "allow"),
    ("packages", NETWORK, "network-outbound", "udp:192.0.2.1:53", "allow"),
    ("packages", PACKAGES, "file-write-setugid", "/private/tmp/build/x", "ambiguous"),
    ("packages", PACKAGES, "file-write-data", "/private/tmp/build/x", "allow"),
    ("packages", PACKAGES, "file-write-data", "/opt/extra/x", "deny"),
    ("packages", NETWORK, "file-write-data", "/opt/extra/x", "allow"),
    ("packages", PACKAGES, "process-exec", "/private/var/packages/store/x", "allow"),
    ("packages", PACKAGES, "process-exec", "/bin/ls", "deny"),
    ("packages", PACKAGES, "file-read-metadata", "/private/var/packages", "allow"),
]


@pytest.mark.parametrize("row", ANSWERS, ids=[f"{r[0]} {r[2]} {r[3]}" for r in ANSWERS])
def test_a_question_about_a_profile_is_answered(row: Row) -> None:
    name, params, operation, subject, wanted = row
    profile = opened(PROFILES / f"{name}.sb", params, None, {})
    decision = Decider(profile).decide(operation, subject_of(operation, subject, {}))
    assert decision.outcome.value == wanted, decision.why


# Scheme -------------------------------------------------------------------------------------

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


# The command --------------------------------------------------------------------------------


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
