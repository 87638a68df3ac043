"""PROCESS-BYTES and PROCESS-EOF: data in the streams."""

from __future__ import annotations

import hashlib

import pytest

from boxspec.api import expect, one_of, requires
from boxspec.api import programs as P
from boxspec.subject.observe import procs
from contracts.process.client import ProcessCase, Step, handle, step
from contracts.process.judging import CAT, RUNNING, Pause, shell

# Every byte, and more bytes than any pipe holds.
DATA = bytes(range(256)) * 6000


def digest(data: bytes) -> dict[str, object]:
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


@requires("PROCESS-BYTES-01")
def test_every_byte_goes_both_ways(case: ProcessCase) -> None:
    steps = [
        step("open"),
        step("write", data=DATA, thread="w"),
        step("close_stdin", thread="w"),
        step("read_eof", stream="stdout"),
        step("join", thread="w"),
        step("wait"),
    ]
    seen = case.process.script({"a": handle(CAT)}, steps, within_s=20)
    expect("the answer of the write", seen.steps[1], {"written": len(DATA)})
    # Only these fields are compared, because the shim may also return the first bytes.
    read = {key: seen.steps[3].get(key) for key in ("bytes", "sha256", "error")}
    expect("length and digest of the bytes that came back", read, {**digest(DATA), "error": None})
    expect("how the child ended", seen.steps[5], {"exited": 0})


@requires("PROCESS-BYTES-01")
def test_both_outputs_are_complete(case: ProcessCase) -> None:
    size = 2_000_000
    steps = [
        step("open"),
        step("read_eof", stream="stderr", thread="e"),
        step("read_eof", stream="stdout"),
        step("join", thread="e"),
    ]
    seen = case.process.script({"a": handle(P.flood, [size, size, "--order", "mix"])}, steps)
    lengths = (seen.steps[2].get("bytes"), seen.steps[1].get("bytes"))
    expect("bytes on stdout and on stderr", lengths, (size, size))


@requires("PROCESS-BYTES-01")
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_bytes_after_a_line_are_read_next(case: ProcessCase, stream: str) -> None:
    """Read two lines and more with separate steps.

    An implementation with a read buffer has already taken the later bytes from the pipe. The next
    read must return them.
    """
    redirect = "" if stream == "stdout" else " >&2"
    line = step("read_until", stream=stream, until=b"\n")
    steps = [step("open"), line, line, step("close_stdin"), step("read_eof", stream=stream)]
    # printf writes all texts at once. cat keeps the stream open until both lines are read.
    told = shell(f"printf 'one\\ntwo\\nthree'{redirect}; exec cat{redirect}")
    seen = case.process.script({"a": told}, steps)
    got = [seen.data(index) for index in (1, 2, 4)]
    expect(
        "the two lines that were read, and the bytes after them",
        got,
        [b"one\n", b"two\n", b"three"],
    )


@requires("PROCESS-BYTES-01")
def test_a_read_up_to_a_text_ends_after_that_text(case: ProcessCase) -> None:
    """Read up to a word.

    The word may begin again inside its own beginning, like `aab` in `aaab`. The word may also be
    missing.
    """
    read = step("read_until", stream="stdout", until=b"aab")
    steps = [step("open"), read, read, step("read_eof", stream="stdout")]
    seen = case.process.script({"a": shell("printf 'aaabrest'")}, steps, within_s=15)
    got = [(seen.data(index), seen.steps[index].get("eof")) for index in (1, 2)]
    expect(
        "bytes up to `aab`, then bytes up to end-of-file", got, [(b"aaab", False), (b"rest", True)]
    )


@requires("PROCESS-BYTES-01")
def test_an_empty_write_changes_nothing(case: ProcessCase) -> None:
    talk = [step("write", data=b"x\n"), step("read_until", stream="stdout", until=b"\n")]
    steps = [step("open"), step("write", data=b""), *talk]
    seen = case.process.script({"a": handle(CAT)}, steps, within_s=15)
    expect(
        "the answer of the write, and the child's reply",
        (seen.steps[1], seen.data(3)),
        ({"written": 0}, b"x\n"),
    )


@requires("PROCESS-BYTES-02")
def test_a_write_after_the_end_is_an_error_of_the_write(case: ProcessCase) -> None:
    wait = step("wait", timeout_ms=10_000)
    steps = [step("open"), wait, step("write", data=b"x"), step("poll")]
    seen = case.process.script({"a": handle(P.exit_with, ["4"])}, steps)
    got = (seen.steps[2], seen.steps[3])
    expect(
        "the answer of the write, and how the child ended",
        got,
        ({"written": 0, "errno": "EPIPE"}, {"exited": 4}),
    )


@requires("PROCESS-BYTES-02")
def test_a_child_that_closed_its_stdin_runs_on(case: ProcessCase) -> None:
    closed = shell("exec <&-; echo closed; exec sleep 60")
    read = step("read_until", stream="stdout", until=b"closed\n")
    # If the child is wrongly killed, its end may take a moment. So wait for the end.
    look = step("wait", timeout_ms=200)
    write = step("write", data=DATA)
    steps = [step("open"), read, write, look, write, look, step("kill")]
    seen = case.process.script({"a": closed}, steps)
    failed = {"written": 0, "errno": "EPIPE"}
    expect(
        "the results of two writes, and of a wait after each",
        seen.steps[2:6],
        [failed, RUNNING, failed, RUNNING],
    )


ENDS_A_WRITE = [step("kill"), step("terminate"), step("close", grace_ms=100)]


@requires("PROCESS-BYTES-02", needs=["PROCESS-KILL-01", "PROCESS-CLOSE-01"])
@pytest.mark.parametrize("last", ENDS_A_WRITE, ids=lambda last: last["step"])
def test_the_end_of_the_child_ends_a_write_that_is_under_way(case: ProcessCase, last: Step) -> None:
    pause = Pause(case)
    handles = {"a": handle("/bin/sleep", ["60"]), pause.name: pause.handle}
    write = step("write", data=b"x" * 2**21, thread="w")
    steps = [step("open"), write, *pause.steps, last, step("join", thread="w")]
    with case.process.start(handles, steps, within_s=15) as shim:
        pause.reached()
        # The other thread waits at this point, because the child does not read.
        procs.blocked_at_rest(shim.shim_pid)
        pause.go_on()
        seen = shim.finish()
    # After a close, the rest of the data meets a stream that the handle no longer has.
    wanted = one_of("EPIPE", "EBADF") if last["step"] == "close" else "EPIPE"
    expect("errno of the write", seen.steps[1].get("errno"), wanted)


@requires("PROCESS-EOF-01")
@pytest.mark.parametrize("taken", [False, True])
def test_closing_stdin_is_the_end_of_input(case: ProcessCase, taken: bool) -> None:
    take = [step("take", stream="stdin")] if taken else []
    steps = [step("open"), *take, step("close_stdin"), step("wait", timeout_ms=5000)]
    seen = case.process.script({"a": handle(CAT)}, steps, within_s=15)
    expect("how the child ended", seen.steps[-1], {"exited": 0})


@requires("PROCESS-EOF-02")
@pytest.mark.parametrize("ended", ["wait", "poll after kill"])
def test_output_can_be_read_after_the_end(case: ProcessCase, ended: str) -> None:
    line = "printf all; printf more >&2" + ("" if ended == "wait" else "; kill -KILL $$")
    reads = [step("read_eof", stream=name) for name in ("stdout", "stderr")]
    seen = case.process.script({"a": shell(line)}, [step("open"), step("wait"), *reads])
    expect("stdout and stderr", (seen.data(2), seen.data(3)), (b"all", b"more"))


@requires("PROCESS-BYTES-01")
@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 140_000])
def test_a_line_of_any_length_is_read_whole(case: ProcessCase, size: int) -> None:
    line = b"x" * size + b"\n"
    steps = [step("open"), step("write", data=line, thread="w")]
    steps += [step("read_until", stream="stdout", until=b"\n"), step("join", thread="w")]
    seen = case.process.script({"a": handle(CAT)}, steps, within_s=20)
    expect("length of the line that was read", len(seen.data(2)), len(line))


@requires("PROCESS-BYTES-01")
@pytest.mark.parametrize("size", [65_536, 2**20, 2**20 + 1, 3 * 2**20, 65 * 2**20 + 1])
def test_multiples_of_a_buffer_are_read_to_the_end(case: ProcessCase, size: int) -> None:
    steps = [step("open"), step("read_eof", stream="stdout"), step("wait")]
    seen = case.process.script({"a": handle(P.flood, [size, 0])}, steps, within_s=20)
    got = (seen.steps[1].get("bytes"), seen.steps[2])
    expect("bytes, and how the child ended", got, (size, {"exited": 0}))


@requires("PROCESS-BYTES-01", overlap=1.5)
def test_a_write_of_17_mib_arrives(case: ProcessCase) -> None:
    data = b"0123456789abcdef" * (17 * 2**16)
    digest = hashlib.sha256(data).hexdigest()
    steps = [step("open"), step("write", data=data), step("close_stdin")]
    steps += [step("read_eof", stream="stdout"), step("wait")]
    seen = case.process.script({"a": handle(P.hash_stdin)}, steps, within_s=30)
    got = (seen.steps[1], digest.encode() in seen.data(3))
    expect(
        "bytes written, and whether the child's digest is that of the bytes",
        got,
        ({"written": len(data)}, True),
    )


@requires("PROCESS-BYTES-03", overlap=1.5, needs=["PROCESS-BYTES-01"])
@pytest.mark.parametrize("taken", [False, True], ids=["handle", "taken"])
def test_writes_of_several_threads_do_not_mix(case: ProcessCase, taken: bool) -> None:
    # Each write is larger than a pipe, and the reader is slow at first.
    size, count = 100_000, 6
    place = case.tmp / "input"
    line = 'head -c 1 >"$1"; sleep 0.2; cat >>"$1"'
    writes = [
        step("write", data=bytes([ord(who)]) * size, thread=who)
        for _ in range(count)
        for who in "xyz"
    ]
    takes = [step("take", stream="stdin")] if taken else []
    joins = [step("join", thread=who) for who in "xyz"]
    steps = [step("open"), *takes, *writes, *joins, step("close_stdin"), step("wait")]
    seen = case.process.script({"a": shell(line, place)}, steps, within_s=30)
    expect("how the child ended", seen.steps[-1], {"exited": 0})
    data = place.read_bytes()
    pieces = {bytes(data[at : at + size]) for at in range(0, len(data), size)}
    got = (len(data), all(len(set(piece)) == 1 for piece in pieces))
    expect("bytes, and whether each write arrived together", got, (3 * count * size, True))
