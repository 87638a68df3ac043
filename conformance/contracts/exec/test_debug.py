"""EXEC-DEBUG: the copy of the output on the caller's stderr, in which secrets are replaced."""

from __future__ import annotations

import os
from typing import Any, Unpack

import pytest

from boxspec.api import contains, expect, requires, satisfies
from boxspec.api import programs as P
from contracts.exec.answers import ObservedRun
from contracts.exec.client import ExecCase, RunOptions
from contracts.exec.moments import attempted
from contracts.exec.spawn_io import without_an_end

HERE = "exec.debug"
REDACTED = b"[REDACTED_ENV]"
SECRET = b"hunter2-hunter2"


def emit(
    case: ExecCase,
    *pieces: str | bytes,
    secrets: dict[str, str] | None = None,
    **more: Unpack[RunOptions],
) -> ObservedRun:
    """Run a child that writes these bytes, with debug.

    The caller's environment contains `secrets`.
    """
    words = [piece.hex() if isinstance(piece, bytes) else piece for piece in pieces]
    emits: RunOptions = {"program": P.emit, "args": words, "debug": True, "shim_env": secrets or {}}
    return case.exec.run(**(emits | more))


def expect_redacted(seen: ObservedRun, wanted: bytes, *secrets: str | bytes) -> None:
    """Expect `wanted` in the copy, and no secret anywhere on the caller's stderr.

    The implementation may also leak a secret outside of the copy, for example if it logs the
    environment.
    """
    raw = [secret.encode() if isinstance(secret, str) else secret for secret in secrets]

    def holds(copied: bytes) -> bool:
        return wanted in copied and not any(secret in copied for secret in raw)

    words = f"something that contains {wanted!r}, and no value in place of a mark"
    expect("the caller's stderr", seen.shim_stderr, satisfies(words, holds))


@pytest.mark.parametrize("stream", ["out", "err"])
@requires("EXEC-DEBUG-01", capability=HERE)
def test_captured_bytes_are_copied_to_the_callers_stderr(case: ExecCase, stream: str) -> None:
    seen = emit(case, f"--{stream}", b"copied\nlines\n")
    expect("the caller's stderr", seen.shim_stderr, contains(b"copied\nlines\n"))


@requires("EXEC-DEBUG-01", capability=HERE)
def test_copied_output_is_captured_too(case: ExecCase) -> None:
    seen = emit(case, "--out", b"one\n", "--err", b"two\n")
    expect("stdout and stderr of the result", (seen.stdout, seen.stderr), (b"one\n", b"two\n"))


@requires("EXEC-DEBUG-01", capability=HERE)
def test_without_debug_nothing_is_copied(case: ExecCase) -> None:
    seen = case.exec.run(program=P.emit, args=["--out", b"one".hex(), "--err", b"two".hex()])
    copied = [word for word in (b"one", b"two") if word in seen.shim_stderr]
    expect(
        "the captured output, and the part of it that is on the caller's stderr",
        (seen.stdout, seen.stderr, copied),
        (b"one", b"two", []),
    )


@pytest.mark.parametrize("stream", ["out", "err"])
@requires("EXEC-DEBUG-02", capability=HERE)
def test_a_secret_of_the_caller_is_replaced_in_the_copy(case: ExecCase, stream: str) -> None:
    seen = emit(case, f"--{stream}", b"<" + SECRET + b">", secrets={"MY_TOKEN": SECRET.decode()})
    expect_redacted(seen, b"<" + REDACTED + b">", SECRET)


@pytest.mark.parametrize("stream", ["out", "err"])
@requires("EXEC-DEBUG-02", capability=HERE)
def test_a_secret_of_clear_and_set_is_replaced_in_the_copy(case: ExecCase, stream: str) -> None:
    env = {"clear_and_set": [["DB_PASSWORD", SECRET.decode()]]}
    words = [f"--{stream}", (b"<" + SECRET + b">").hex()]
    seen = case.exec.run(program=P.emit, args=words, debug=True, env=env)
    expect_redacted(seen, b"<" + REDACTED + b">", SECRET)


SECRETS = {f"S{number}_TOKEN": f"{number}hunter-{number}" for number in range(12)}


@pytest.mark.parametrize("of", ["the caller", "clear_and_set"])
@requires("EXEC-DEBUG-02", capability=HERE)
def test_each_of_many_secrets_is_replaced_in_the_copy(case: ExecCase, of: str) -> None:
    # The secrets stand between ordinary values. So an implementation fails if it checks only the
    # first or the last value.
    plain = {f"P{number}": f"plain{number}" for number in range(3)}
    env = {**plain, **SECRETS, "LAST": "plain9"}
    written = b"".join(f"<{value}>".encode() for value in env.values())
    given: dict[str, Any] = {"secrets": env}
    if of == "clear_and_set":
        given = {"env": {"clear_and_set": [list(pair) for pair in env.items()]}}
    seen = emit(case, "--out", written, **given)
    wanted = b"<plain0><plain1><plain2>" + (b"<" + REDACTED + b">") * len(SECRETS) + b"<plain9>"
    expect_redacted(seen, wanted, *SECRETS.values())


# Values that a tool might interpret, for example as a pattern or a format, and a value that exceeds
# small buffers.
SPECIAL = {
    "several lines": "-----BEGIN KEY-----\nab+cd/ef==\n-----END KEY-----",
    "lines of another system": "first-line\r\nsecond-line",
    "a pattern": "p.s*w[o]rd(1)+$^|x?{2}",
    "references": r"C:\new\1\g<0>&$1",
    "a format": "100%s%n%d{0}",
    "blanks within": "correct horse  battery\tstaple",
    "beyond ASCII": "pässwörd-日本-😀",
    "five thousand bytes": "".join(f"{number:04}-" for number in range(1000)),
}


@pytest.mark.parametrize("what", SPECIAL)
@requires("EXEC-DEBUG-02", capability=HERE)
def test_a_secret_of_any_characters_is_replaced(case: ExecCase, what: str) -> None:
    value = SPECIAL[what]
    words = ["--out", f"<{value}>".encode().hex()]
    env = {"clear_and_set": [["MY_TOKEN", value]]}
    seen = case.exec.run(program=P.emit, args=words, debug=True, env=env)
    expect_redacted(seen, b"<" + REDACTED + b">", value)


@requires("EXEC-DEBUG-02", capability=HERE)
def test_secrets_are_replaced_despite_variables_that_are_not_utf8(case: ExecCase) -> None:
    odd = {"RAW": os.fsdecode(b"caf\xe9 \xff"), os.fsdecode(b"ODD\xff"): "x"}
    secrets = {**odd, "MY_TOKEN": SECRET.decode(), "RAW_KEY": os.fsdecode(b"\xff\xfesecret\x80")}
    seen = emit(case, "--out", b"<" + SECRET + b">", "--err", b"err", secrets=secrets)
    redacted = b"<" + REDACTED + b">" in seen.shim_stderr and SECRET not in seen.shim_stderr
    got = (seen.stdout, seen.stderr, redacted)
    expect(
        "both streams, and whether the debug output is redacted",
        got,
        (b"<" + SECRET + b">", b"err", True),
    )


@requires("EXEC-DEBUG-02", capability=HERE)
def test_a_secret_of_the_caller_is_replaced_where_the_child_does_not_have_it(
    case: ExecCase,
) -> None:
    # The secret is not in the child's environment, but the child may know it, for example from a
    # file.
    env = {"clear_and_set": [["PLAIN", "x"]]}
    written = b"<" + SECRET + b">"
    seen = emit(case, "--out", written, secrets={"MY_TOKEN": SECRET.decode()}, env=env)
    expect_redacted(seen, b"<" + REDACTED + b">", SECRET)


@requires("EXEC-DEBUG-02", capability=HERE)
def test_both_values_of_one_name_are_replaced(case: ExecCase) -> None:
    # The value in the child's environment overrides the caller's, but the child may know the
    # caller's value too.
    env = {"clear_and_set": [["MY_TOKEN", "given-4711"]]}
    written = b"<" + SECRET + b"><given-4711>"
    seen = emit(case, "--out", written, secrets={"MY_TOKEN": SECRET.decode()}, env=env)
    expect_redacted(seen, (b"<" + REDACTED + b">") * 2, SECRET, "given-4711")


ACROSS: dict[str, list[str | bytes]] = {
    "byte_by_byte": ["--each-byte", "--gap-us", "300", "--out", b"<" + SECRET + b">"],
    "two_writes": ["--out", b"<hunter", "--gap-us", "40000", "--out", b"2-hunter2>"],
    "many_writes": ["--out", b"<hu", "--gap-us", "9000", "--out", b"nter2-", "--out", b"hunter2>"],
}


@pytest.mark.parametrize("how", ACROSS)
@requires("EXEC-DEBUG-03", pitfalls=["E21"], capability=HERE)
def test_a_secret_is_found_across_writes(case: ExecCase, how: str) -> None:
    seen = emit(case, *ACROSS[how], secrets={"MY_TOKEN": SECRET.decode()})
    expect_redacted(seen, b"<" + REDACTED + b">", SECRET)


# Values of A_TOKEN and B_TOKEN, the output of the child, and the expected copy.
OVERLAPS = {
    "chained": ("abcdefgh", "fghijklm", b"<abcdefghijklm>", b"<[REDACTED_ENV]>"),
    "nested": ("abcdefgh", "cdef", b"<abcdefgh>", b"<[REDACTED_ENV]>"),
    "longer_of_two": ("abcd", "abcdefgh", b"<abcdefgh>", b"<[REDACTED_ENV]>"),
    "shorter_of_two": ("abcd", "abcdefgh", b"<abcdefg>", b"<[REDACTED_ENV]efg>"),
    "with_itself": ("abab", "zzzz", b"<ababab>", b"<[REDACTED_ENV]>"),
    "false_start": ("aaab", "zzzz", b"<aaaaab>", b"<aa[REDACTED_ENV]>"),
}


@pytest.mark.parametrize("each_byte", [False, True], ids=["one_write", "byte_by_byte"])
@pytest.mark.parametrize("how", OVERLAPS)
@requires("EXEC-DEBUG-03", pitfalls=["E21"], capability=HERE)
def test_overlapping_secrets_are_replaced_as_one(case: ExecCase, how: str, each_byte: bool) -> None:
    first, second, written, copied = OVERLAPS[how]
    pieces = ["--each-byte", "--gap-us", "200"] if each_byte else []
    seen = emit(case, *pieces, "--out", written, secrets={"A_TOKEN": first, "B_TOKEN": second})
    expect_redacted(seen, copied, written)


@requires("EXEC-DEBUG-03", capability=HERE)
def test_a_partial_secret_is_copied_at_the_end_of_the_output(case: ExecCase) -> None:
    seen = emit(case, "--out", b"<hunter2-hun", secrets={"MY_TOKEN": SECRET.decode()})
    expect("the caller's stderr", seen.shim_stderr, contains(b"<hunter2-hun"))


@requires("EXEC-DEBUG-03", capability=HERE, overlap=1.2, needs=["EXEC-DRAIN-08"])
def test_a_partial_secret_is_copied_if_the_output_has_no_end(case: ExecCase) -> None:
    # A process outside the group holds the pipe, so the run ends before the end of the stream.
    events = case.events()
    request = without_an_end(events.path, b"<hunter2-hun")
    seen = case.exec.run(**request, debug=True, shim_env={"MY_TOKEN": SECRET.decode()})
    attempted(events, orphan=1)
    expect("the caller's stderr", seen.shim_stderr, contains(b"<hunter2-hun"))


@requires("EXEC-DEBUG-03", pitfalls=["E21"], capability=HERE)
def test_a_secret_is_found_across_output_on_the_other_stream(case: ExecCase) -> None:
    pause: list[str | bytes] = ["--gap-us", "40000"]
    pieces = ["--out", b"<hunter2-", *pause, "--err", b"(other)", *pause, "--out", b"hunter2>"]
    seen = emit(case, *pieces, secrets={"MY_TOKEN": SECRET.decode()})
    shown = (REDACTED + b">" in seen.shim_stderr, b"hunter2" in seen.shim_stderr)
    expect(
        "whether the debug output has the mark, and whether it has a part of the secret",
        shown,
        (True, False),
    )


@pytest.mark.parametrize("stream", ["out", "err"])
@requires("EXEC-DEBUG-04", capability=HERE)
def test_captured_streams_stay_raw(case: ExecCase, stream: str) -> None:
    written = b"<" + SECRET + b">"
    seen = emit(case, f"--{stream}", written, secrets={"MY_TOKEN": SECRET.decode()})
    expect(f"std{stream} of the result", getattr(seen, f"std{stream}"), written)


SENSITIVE = [
    *["MY_SECRET", "SECRETS", "my_token", "TOKENIZER", "DB_PASSWORD", "PGPASSWORD", "X_PASSWD"],
    *["PASSCODE", "API_KEY", "API_KEYS", "PRIVATE_PART", "AWS_CREDENTIALS", "COOKIES", "Bearer"],
    *["SSH_KEY", "x_key", "AUTH", "AUTH_HEADER", "X_AUTH", "SESSION", "MY_SESSION_ID"],
]
ORDINARY = [
    *["HOME_PAGE", "AUTHOR", "OAUTH", "MY_AUTHOR", "SESSIONS", "XSESSION", "KEYBOARD", "MONKEY"],
    *["KEY", "SSH_KEY_PATH", "PASS", "APIKEY"],
]


def run_that_writes_value(case: ExecCase, name: str, value: str) -> ObservedRun:
    """Run a child that writes the value of this variable, with debug."""
    env = {"clear_and_set": [[name, value]]}
    return emit(case, "--out", f"<{value}>".encode(), env=env)


def copy_of_value(case: ExecCase, name: str, value: str) -> bytes:
    """Return the caller's stderr after a run whose child writes the value."""
    return run_that_writes_value(case, name, value).shim_stderr


@pytest.mark.parametrize("name", SENSITIVE)
@requires("EXEC-DEBUG-05", capability=HERE)
def test_a_value_of_a_sensitive_name_is_replaced(case: ExecCase, name: str) -> None:
    seen = run_that_writes_value(case, name, "Value-1234")
    expect_redacted(seen, b"<" + REDACTED + b">", "Value-1234")


@pytest.mark.parametrize("name", ORDINARY)
@requires("EXEC-DEBUG-05", capability=HERE)
def test_a_value_of_an_ordinary_name_is_copied(case: ExecCase, name: str) -> None:
    copied = copy_of_value(case, name, "Value-1234")
    expect(f"the value of {name} in the debug output", copied, contains(b"<Value-1234>"))


# The last four texts have more than three bytes, but at most three characters besides blanks.
SHORT = ["abc", "  ab  ", "x", "\tab\n", "\r\nab\n", "\va b\f", "äöü", " é€ ", "日本", "😀😀"]


@pytest.mark.parametrize("value", SHORT)
@requires("EXEC-DEBUG-05", capability=HERE)
def test_a_short_value_is_copied(case: ExecCase, value: str) -> None:
    copied = copy_of_value(case, "MY_TOKEN", value)
    expect("a short value in the debug output", copied, contains(f"<{value}>".encode()))


@pytest.mark.parametrize("value", ["a-b1", "äöüß", "a😀b😀"])
@requires("EXEC-DEBUG-05", capability=HERE)
def test_a_value_of_four_characters_is_replaced(case: ExecCase, value: str) -> None:
    seen = run_that_writes_value(case, "MY_TOKEN", value)
    expect_redacted(seen, b"<" + REDACTED + b">", f"<{value}>")


@requires("EXEC-DEBUG-05", capability=HERE)
def test_an_empty_value_of_a_sensitive_name_redacts_nothing(case: ExecCase) -> None:
    env = {"clear_and_set": [["MY_TOKEN", ""], ["B_TOKEN", "   "]]}
    words = ["--out", b"<plain   text>".hex()]
    seen = case.exec.run(program=P.emit, args=words, debug=True, env=env)
    expect("the caller's stderr", seen.shim_stderr, contains(b"<plain   text>"))
