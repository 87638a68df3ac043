"""EXEC-CAP: the limit max_output_bytes."""

from __future__ import annotations

import pytest

from boxspec.api import expect, expect_within, requires
from boxspec.api import programs as P
from boxspec.subject.observe import procs
from contracts.exec.answers import ObservedRun
from contracts.exec.client import ExecCase
from contracts.exec.host import need_large_pipes
from contracts.exec.moments import (
    FOREVER_MS,
    attempted,
    expect_none_left,
    settled,
    stop_caller,
    until,
)
from contracts.exec.spawn_io import digest, error_of, outcome, pattern, shell, stream

MIB = 2**20


def result_fields(seen: ObservedRun) -> tuple[bool, int | None, bool]:
    result = seen.result
    return result["success"], result["exit_code"], result["truncated"]


ENDED_BY_CAP = (False, None, True)
# Sizes of the output on stdout and on stderr, with a limit that neither exceeds.
CAPS = [
    (100, 100, 100),
    (100, 0, 100),
    (0, 100, 100),
    (99, 100, 100),
    (60, 60, 100),
    (0, 0, 0),
    (65_536, 65_536, 65_536),
    (5, 5, 2**64 - 1),
]


@requires("EXEC-CAP-01", capability="exec.cap")
@pytest.mark.parametrize("flag", ["--out", "--err"])
@pytest.mark.parametrize("cap", [0, 1, 100])
def test_a_byte_beyond_the_cap_ends_the_run(case: ExecCase, flag: str, cap: int) -> None:
    # The member starts before the output, so that it can be a survivor.
    args = [case.events().path, "--members", "1", flag, "x" * (cap + 1)]
    seen = case.exec.run(program=P.siglog, args=args, max_output_bytes=cap, within_s=15)
    attempted(case.events(), member=1)
    survivors = [each.describe() for each in seen.lasting]
    expect(
        "success, exit code, truncated, survivors",
        (*result_fields(seen), survivors),
        (*ENDED_BY_CAP, []),
    )


@requires("EXEC-CAP-01", pitfalls=["B5"], capability="exec.cap")
def test_the_cap_ends_each_member_of_the_group(case: ExecCase) -> None:
    args = [case.events().path, "--members", "2", "--out", "x" * 101]
    seen = case.exec.run(program=P.siglog, args=args, max_output_bytes=100, within_s=15)
    expect_none_left(seen, case.events(), member=2)


@requires("EXEC-CAP-01", pitfalls=["F12"], capability="exec.cap")
def test_a_payload_left_unread_at_the_cap_is_no_failed_write(case: ExecCase) -> None:
    # The child does not read the payload. So writing the payload fails when SIGKILL ends the child.
    # But the limit was exceeded first, so the limit must be reported.
    args = [case.events().path, "--out", "x" * 101]
    seen = case.exec.run(
        program=P.siglog, args=args, stdin=b"x" * 2**20, max_output_bytes=100, within_s=15
    )
    expect("the error", error_of(seen), {})
    expect("success, exit code, truncated", result_fields(seen), ENDED_BY_CAP)


@requires("EXEC-CAP-01", capability="exec.cap", timing=True)
def test_the_cap_kills_at_once_without_another_signal(case: ExecCase) -> None:
    events = case.events()
    # The child installs its handlers before it writes, so it would log any signal before SIGKILL.
    # Half a grace period is enough for its start.
    args = [events.path, "--members", "1", "--out", "x" * 101]
    seen = case.exec.run(program=P.siglog, args=args, max_output_bytes=100, within_s=15)
    attempted(events, member=1)
    expect("signals that the child logged before its end", events.all("signal"), [])
    expect_within(case, "the life of the shim", seen.start, seen.end, case.grace_ms / 2)


@requires("EXEC-CAP-01", pitfalls=["E16"], capability="exec.cap")
def test_endless_output_ends_at_the_cap(case: ExecCase) -> None:
    seen = case.exec.run(program="yes", max_output_bytes=100_000, within_s=15)
    expect(
        "success, exit code, truncated, bytes kept",
        (*result_fields(seen), seen.stdout_len),
        (*ENDED_BY_CAP, 100_000),
    )


@requires("EXEC-CAP-01", capability="exec.cap")
@pytest.mark.parametrize("closed", ["1", "2"])
def test_the_cap_ends_a_child_that_has_closed_the_other_stream(case: ExecCase, closed: str) -> None:
    sizes = "0 101" if closed == "1" else "101 0"
    line = f'exec {closed}>&-; "$1" {sizes}; exec "$2" /dev/null {FOREVER_MS}'
    request = shell(line, P.flood, P.slow_exit)
    seen = case.exec.run(**request, max_output_bytes=100, within_s=15)
    expect("success, exit code, truncated", result_fields(seen), ENDED_BY_CAP)


@requires("EXEC-CAP-01", capability="exec.cap")
def test_a_child_that_exits_after_output_beyond_the_cap_is_cut_too(case: ExecCase) -> None:
    seen = case.exec.run(program=P.flood, args=["101", "0"], max_output_bytes=100)
    expect("success, exit code, truncated", result_fields(seen), ENDED_BY_CAP)


@requires("EXEC-CAP-01", capability="exec.cap", overlap=0.3)
@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_bytes_beyond_the_cap_count_whenever_they_are_read(case: ExecCase, name: str) -> None:
    need_large_pipes(MIB)
    # The caller is stopped until the child has ended, so that the pipe contains more than one read
    # returns.
    events, gate = case.events(), case.fifo("open")
    sizes = "200000 0" if name == "stdout" else "0 200000"
    line = f'"$1" "$2" "$3"; "$4" {sizes} --pipe {MIB}; exec "$5" --sync "$2" --exit 0'
    words = (P.gate, events.path, gate, P.flood, P.emit)
    with case.exec.start(**shell(line, *words), max_output_bytes=150_000, within_s=15) as shim:
        events.wait("ready")
        stop_caller(shim)
        case.open_gate(gate)
        leader = events.wait("sync").pid
        until(lambda: (found := procs.proc(leader)) is None or not found.alive)
        shim.signal("CONT")
        seen = shim.finish()
    expect(
        "success, exit code, truncated, bytes kept",
        (*result_fields(seen), getattr(seen, f"{name}_len")),
        (*ENDED_BY_CAP, 150_000),
    )


@requires("EXEC-DRAIN-03", capability="exec.cap", overlap=0.4)
@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_the_other_stream_is_complete_when_one_exceeds_the_cap(case: ExecCase, name: str) -> None:
    need_large_pipes(MIB)
    # The caller is stopped while the child fills one stream and exceeds the cap on the other. So it
    # finds the excess before it has read all of the first stream.
    size, events, gate = 200_000, case.events(), case.fifo("open")
    full, one_more = (f"{size} 0", "0 1") if name == "stdout" else (f"0 {size}", "1 0")
    to_the_cap = f"0 {size}" if name == "stdout" else f"{size} 0"
    line = (
        f'"$1" {to_the_cap}; "$2" "$3" "$4"; "$1" {full} --pipe {MIB}; "$1" {one_more};'
        ' exec "$5" --sync "$3" --exit 0'
    )
    words = (P.flood, P.gate, events.path, gate, P.emit)
    with case.exec.start(**shell(line, *words), max_output_bytes=size, within_s=15) as shim:
        events.wait("ready")
        stop_caller(shim)
        case.open_gate(gate)
        events.wait("sync")
        shim.signal("CONT")
        seen = shim.finish()
    expect(
        f"truncated, and {name}",
        (seen.result["truncated"], stream(seen, name)),
        (True, digest(pattern(size, "a" if name == "stdout" else "A"))),
    )


@requires("EXEC-CAP-02", capability="exec.cap")
@pytest.mark.parametrize(
    ("out", "err", "cap"),
    CAPS,
)
def test_exactly_the_cap_is_allowed_on_each_stream(
    case: ExecCase, out: int, err: int, cap: int
) -> None:
    seen = case.exec.run(program=P.flood, args=[str(out), str(err)], max_output_bytes=cap)
    expect(
        "success, exit code, truncated, and both streams",
        (*result_fields(seen), stream(seen, "stdout"), stream(seen, "stderr")),
        (True, 0, False, digest(pattern(out)), digest(pattern(err, "A"))),
    )


@requires("EXEC-CAP-02", capability="exec.cap")
@pytest.mark.parametrize("cap", [9_999, 10_000, 2**40])
def test_a_cap_that_is_not_exceeded_keeps_the_exit_code(case: ExecCase, cap: int) -> None:
    out = min(cap, 10_000)
    args = [str(out), "0", "--exit", "3"]
    seen = case.exec.run(program=P.flood, args=args, max_output_bytes=cap)
    expect(
        "success, exit code, truncated, and stdout",
        (*result_fields(seen), stream(seen, "stdout")),
        (False, 3, False, digest(pattern(out))),
    )


@requires("EXEC-CAP-02", capability=("exec.cap", "exec.debug"), needs=["EXEC-DEBUG-02"])
@pytest.mark.parametrize("flag", ["--out", "--err"])
def test_with_debug_the_cap_counts_the_childs_output(case: ExecCase, flag: str) -> None:
    # The copy is longer than the output, because the mark is longer than the secret that it
    # replaces.
    written = b"a-b1" * 20
    args, env = [flag, written.hex()], [("MY_TOKEN", "a-b1")]
    seen = case.exec.run(
        program=P.emit, args=args, env=env, debug=True, max_output_bytes=len(written)
    )
    got = seen.stdout if flag == "--out" else seen.stderr
    expect(
        "success, exit code, truncated, stream",
        (*result_fields(seen), got),
        (True, 0, False, written),
    )


@requires("EXEC-CAP-02", capability="exec.cap")
def test_without_a_cap_nothing_is_cut(case: ExecCase) -> None:
    seen = case.exec.run(program=P.flood, args=["50000", "50000", "--exit", "3"])
    expect("success, exit code, truncated", result_fields(seen), (False, 3, False))


@requires("EXEC-CAP-03", capability="exec.cap")
@pytest.mark.parametrize("cap", [1, 100, 4096, 50_000])
def test_the_stream_is_kept_up_to_the_cap(case: ExecCase, cap: int) -> None:
    seen = case.exec.run(program=P.flood, args=["60000", "0"], max_output_bytes=cap)
    expect("stdout", stream(seen, "stdout"), digest(pattern(cap)))


@requires("EXEC-CAP-03", capability="exec.cap", overlap=0.4, needs=["EXEC-KILL-01"])
def test_the_stream_is_kept_up_to_the_cap_after_a_deadline(case: ExecCase) -> None:
    args = [case.events().path, "--out", "before", "--on", "TERM:print:200000"]
    seen = case.exec.run(
        program=P.siglog, args=args, timeout_ms=300, max_output_bytes=1000, within_s=15
    )
    settled(case.events())
    expect("bytes on stdout", seen.stdout_len, 1000)


@requires("EXEC-CAP-03", capability="exec.cap", overlap=0.8, needs=["EXEC-KILL-01", "EXEC-CAP-04"])
def test_both_streams_are_kept_up_to_the_cap(case: ExecCase) -> None:
    # Output after the first signal does not end the run, so both streams certainly exceed the cap.
    ready = case.tmp / "ready"
    # The shell itself reports the end of `sleep` on stderr.
    silent = "exec 3>&2 2>/dev/null; "
    line = 'trap \'"$1" 5000 5000 2>&3; exit 0\' TERM; : >"$2"; while :; do sleep 0.05; done'
    with case.exec.start(
        **shell(silent + line, P.flood, ready), max_output_bytes=1000, within_s=15
    ) as shim:
        until(ready.exists)
        shim.signal("TERM")
        seen = shim.finish()
    expect("stdout", stream(seen, "stdout"), digest(pattern(1000)))
    expect("the first 1,000 bytes of stderr", seen.stderr[:1000], pattern(1000, "A"))


@requires("EXEC-CAP-03", pitfalls=["E17"], capability="exec.cap")
@pytest.mark.parametrize(
    ("text", "cap", "kept"),
    [
        ("aé", 2, "a"),
        ("a€", 2, "a"),
        ("a€", 3, "a"),
        ("a😀", 2, "a"),
        ("a😀", 4, "a"),
        ("😀", 3, ""),
        ("aéb", 3, "aé"),
        ("a€b", 4, "a€"),
        ("a😀b", 5, "a😀"),
    ],
)
@pytest.mark.parametrize("flag", ["--out", "--err"])
def test_a_character_that_the_cap_cuts_is_dropped(
    case: ExecCase, text: str, cap: int, kept: str, flag: str
) -> None:
    seen = case.exec.run(program=P.emit, args=[flag, text.encode().hex()], max_output_bytes=cap)
    got = seen.stdout if flag == "--out" else seen.stderr
    expect("the stream up to the cap", got.decode(), kept)


@requires("EXEC-CAP-03", capability="exec.cap")
@pytest.mark.parametrize(
    ("data", "cap", "kept"),
    [
        (b"ab\xe2\x82", 4, "ab\ufffd"),
        (b"ab\xe2\x82", 5, "ab\ufffd"),
        (b"a\xffb", 2, "a\ufffd"),
        (b"a\xc3\x28b", 2, "a"),
        (b"\xff\xfeab", 3, "\ufffd\ufffda"),
        (b"\xffa\xc3\xa9", 3, "\ufffda"),
    ],
    ids=["to-the-cap", "below-it", "no-character-ends-it", "cut-in-two", "before-it", "both"],
)
@pytest.mark.parametrize("flag", ["--out", "--err"])
def test_invalid_bytes_near_the_cap_are_replaced(
    case: ExecCase, data: bytes, cap: int, kept: str, flag: str
) -> None:
    # Only a character that the limit cuts is dropped. An incomplete character that the child itself
    # wrote is kept.
    seen = case.exec.run(program=P.emit, args=[flag, data.hex()], max_output_bytes=cap)
    got = seen.stdout if flag == "--out" else seen.stderr
    expect("the stream up to the cap", got.decode(), kept)


@requires("EXEC-CAP-03", capability="exec.cap")
@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_a_run_ended_by_the_cap_has_no_annotation(case: ExecCase, name: str) -> None:
    redirect = "" if name == "stdout" else ">&2"
    line = f"printf own >&2; printf %0200d 0 {redirect}"
    seen = case.exec.run(**shell(line), max_output_bytes=50)
    wanted = b"own" if name == "stdout" else b"own" + b"0" * 47
    expect("stderr", seen.stderr, wanted, {"outcome": outcome(seen)})
