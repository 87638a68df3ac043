"""EXEC-STDIN: the standard input of the child."""

from __future__ import annotations

import os

import pytest

from boxspec.api import expect, expect_within, requires
from boxspec.api import programs as P
from contracts.exec.caller_signals import ended_once_set_up
from contracts.exec.client import ExecCase, RunOptions
from contracts.exec.spawn_io import (
    digest,
    fd_of,
    hash_line,
    outcome,
    pattern,
    report,
    reported,
    shell,
    stream,
)

ALL = bytes(range(256))


@requires("EXEC-STDIN-01", pitfalls=["C15"])
@pytest.mark.parametrize("option", [{}, {"stdin": "inherit"}], ids=["default", "inherit"])
def test_the_child_reads_the_callers_stdin(case: ExecCase, option: RunOptions) -> None:
    source = case.tmp / "source"
    source.write_bytes(ALL * 3)
    request: RunOptions = {"program": P.hash_stdin, "stdin_file": source}
    seen = case.exec.run(**(request | option))
    expect("what the child read", seen.stdout, hash_line(ALL * 3))


@requires("EXEC-STDIN-01", pitfalls=["C15"])
def test_an_inherited_stdin_is_the_callers_own_open_file(case: ExecCase) -> None:
    source = case.tmp / "source"
    source.write_bytes(b"0123456789")
    reader = os.open(source, os.O_RDONLY)
    try:
        seen = case.exec.run(program=P.read_some, args=["4"], shim_stdin=reader)
        rest = os.read(reader, 100)
    finally:
        os.close(reader)
    expect(
        "how the child ended, and the bytes of the caller's stdin that it did not read",
        (outcome(seen), rest),
        ("exit 0", b"456789"),
    )


@requires("EXEC-STDIN-01", pitfalls=["C15"])
def test_bytes_reach_the_child_while_it_runs(case: ExecCase) -> None:
    events, fifo = case.events(), case.fifo("gate")
    line = '"$1" "$2" "$3"; exec "$4"'
    words = (P.gate, events.path, fifo, P.hash_stdin)
    with case.exec.start(**shell(line, *words), shim_stdin="pipe") as shim:
        events.wait("ready")
        shim.stdin.write(b"late bytes")
        shim.stdin.close()
        case.open_gate(fifo)
        seen = shim.finish()
    expect("what the child read", seen.stdout, hash_line(b"late bytes"))


@requires("EXEC-STDIN-02", pitfalls=["C11"])
def test_null_stdin_is_at_end_of_file(case: ExecCase) -> None:
    source = case.tmp / "source"
    source.write_bytes(b"not for the child")
    seen = case.exec.run(program=P.hash_stdin, stdin="null", stdin_file=source, within_s=10)
    expect("what the child read", seen.stdout, hash_line(b""))


@requires("EXEC-STDIN-02", pitfalls=["C11"])
def test_null_stdin_is_dev_null(case: ExecCase) -> None:
    found = report(case, stdin="null")
    expect("the child's stdin", fd_of(found, 0).get("target"), "/dev/null")


@requires("EXEC-STDIN-02", pitfalls=["C11"])
def test_null_stdin_leaves_the_callers_stdin_unread(case: ExecCase) -> None:
    with case.exec.start(program="/bin/cat", stdin="null", shim_stdin="pipe", within_s=10) as shim:
        seen = shim.finish()
    expect("how `cat` ended while the caller's stdin stays open", outcome(seen), "exit 0")


@requires("EXEC-STDIN-15")
@pytest.mark.parametrize("size", [10, 2**16 + 1, 2**20 + 1, 2**24 + 1])
def test_a_payload_of_each_size_arrives_through_a_pipe(case: ExecCase, size: int) -> None:
    # A program may open /dev/stdin. This fails if stdin is a socket.
    place = case.tmp / "report"
    line = '"$1" "$2"; exec cat >/dev/null'
    case.exec.run(**shell(line, P.report, place), stdin=b"x" * size).result  # noqa: B018
    expect("the type of the child's stdin", fd_of(reported(place), 0).get("type"), "pipe")


PAYLOADS = {
    "one byte": b"x",
    "only NUL": b"\0" * 300,
    "text": "héllo €uro 😀\r\n\n".encode(),
    "no last newline": b"a\nb",
    "4095": pattern(4095),
    "4096": pattern(4096),
    "4097": pattern(4097),
    "65535": pattern(65535),
    "65536": pattern(65536),
    "65537": pattern(65537),
    "a million": pattern(2**20),
}


@requires("EXEC-STDIN-03", pitfalls=["F11", "F10", "C3"])
@pytest.mark.parametrize("vector", PAYLOADS)
def test_payload_bytes_arrive_exactly_and_end(case: ExecCase, vector: str) -> None:
    seen = case.exec.run(program=P.hash_stdin, stdin=PAYLOADS[vector], within_s=10)
    expect("what the child read to its end", seen.stdout, hash_line(PAYLOADS[vector]))


@requires("EXEC-STDIN-14", pitfalls=["F11"])
@pytest.mark.parametrize("times", [1, 4096])
def test_payload_bytes_that_are_not_utf8_arrive_exactly(case: ExecCase, times: int) -> None:
    seen = case.exec.run(program=P.hash_stdin, stdin=ALL * times, within_s=10)
    expect("what the child read to its end", seen.stdout, hash_line(ALL * times))


@requires("EXEC-STDIN-03", pitfalls=["F10"])
def test_a_program_that_reads_to_end_of_file_ends(case: ExecCase) -> None:
    seen = case.exec.run(program="sort", stdin=b"c\na\nb\n", within_s=10)
    expect(
        "how `sort` ended, and its output", (outcome(seen), seen.stdout), ("exit 0", b"a\nb\nc\n")
    )


@requires("EXEC-STDIN-03", pitfalls=["C3"])
def test_a_background_reader_gets_end_of_file_too(case: ExecCase) -> None:
    # A shell replaces the stdin of its background jobs by /dev/null. So the job reads another
    # descriptor.
    line = 'exec 3<&0; cat <&3 >"$1" & wait $!; wc -c <"$1"'
    seen = case.exec.run(**shell(line, case.tmp / "copy"), stdin=b"x" * 5000, within_s=10)
    expect("bytes that the background `cat` got", seen.stdout.split(), [b"5000"])


@requires("EXEC-STDIN-04", pitfalls=["F1"])
def test_an_empty_payload_is_end_of_file(case: ExecCase) -> None:
    seen = case.exec.run(program=P.hash_stdin, stdin={"bytes": ""}, shim_stdin="pipe", within_s=10)
    expect("what the child read", seen.stdout, hash_line(b""))


@requires("EXEC-STDIN-04", capability="exec.bytes", pitfalls=["F1"])
def test_an_empty_payload_of_bytes_is_end_of_file(case: ExecCase) -> None:
    payload = {"bytes_b64": ""}
    seen = case.exec.run(program=P.hash_stdin, stdin=payload, shim_stdin="pipe", within_s=10)
    expect("what the child read", seen.stdout, hash_line(b""))


@requires("EXEC-STDIN-05", pitfalls=["F2"], overlap=1.5)
def test_16_mib_through_cat_are_returned_exactly(case: ExecCase) -> None:
    data = pattern(16 * 2**20)
    seen = case.exec.run(program="/bin/cat", stdin=data)
    expect("length and digest of what came back", stream(seen, "stdout"), digest(data))


@requires("EXEC-STDIN-05", pitfalls=["F2", "F3"])
def test_a_child_that_writes_before_it_reads_everything_does_not_deadlock(case: ExecCase) -> None:
    data = pattern(2**20)
    # Each side writes more than a pipe holds before it reads again.
    line = 'head -c 4096 >/dev/null; "$1" 300000 0; cat >/dev/null; "$1" 300000 0'
    seen = case.exec.run(**shell(line, P.flood), stdin=data, within_s=15)
    expect(
        "how the child ended, and its output", (outcome(seen), seen.stdout_len), ("exit 0", 600_000)
    )


# EXEC-CHILD-11 is needed, because a child with other scheduling than its caller may be slow.
@requires("EXEC-STDIN-12", pitfalls=["F14"], overlap=True, timing=True, needs=["EXEC-CHILD-11"])
def test_payloads_are_not_throttled_by_the_tick(case: ExecCase) -> None:
    data = pattern(10 * 2**20)
    events = case.events()
    # The time is measured in the child, so that it does not include the time in which the shim
    # reads a large request.
    line = '"$1" --sync "$2" </dev/null; "$3" >/dev/null; "$1" --sync "$2"'
    case.exec.run(**shell(line, P.emit, events.path, P.hash_stdin), stdin=data)
    began, ended = events.wait("sync").effect, events.wait("sync").effect
    pipefuls = len(data) // 65_536
    what = "10 MiB, a quarter of a tick for each pipe-full"
    expect_within(case, what, began, ended, pipefuls * case.tick_ms / 4)


# A pipe holds a small part of this.
LARGE = pattern(300_000)


@requires("EXEC-STDIN-03", pitfalls=["F11"], overlap=1.7, needs=["EXEC-KILL-01", "EXEC-DRAIN-07"])
@pytest.mark.parametrize("cause", ["deadline", "TERM", "INT"])
def test_the_rest_of_a_payload_arrives_in_the_grace(case: ExecCase, cause: str) -> None:
    # The child reads its stdin only after the first signal.
    mark = case.tmp / "set up"
    line = 'trap \'exec "$1"\' TERM INT; : >"$2"; while :; do sleep 0.05; done'
    request = shell(line, P.hash_stdin, mark)
    seen = ended_once_set_up(case, cause, mark, **request, stdin=LARGE)
    expect("what the child read after the first signal", seen.stdout, hash_line(LARGE))


# The payload is larger than 32 MiB, a common limit. A request with more than 64 MiB is longer than
# a shim must accept.
@requires("EXEC-STDIN-03", pitfalls=["F11"], overlap=3.0)
def test_a_payload_of_36_mib_arrives(case: ExecCase) -> None:
    payload = b"0123456789abcdef" * (36 * 2**16) + b"the end"
    seen = case.exec.run(program=P.hash_stdin, stdin=payload, within_s=40)
    expect("length and digest that the child counted", seen.stdout, hash_line(payload))


@requires("EXEC-STDIN-03", pitfalls=["F3"], overlap=1.0)
@pytest.mark.parametrize("size", [65_536, 65_537, 131_072, 140_001])
def test_a_slow_reader_gets_the_last_byte(case: ExecCase, size: int) -> None:
    # Each read makes room in the pipe for a part of the last piece only.
    payload = pattern(size)
    line = "i=0; while [ $i -lt 12 ]; do head -c 12000; sleep 0.03; i=$((i + 1)); done; cat"
    seen = case.exec.run(**shell(line), stdin=payload)
    expect("what the child read", (seen.stdout_len, seen.stdout), (size, payload))
