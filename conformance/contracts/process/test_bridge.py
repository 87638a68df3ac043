"""PROCESS-BRIDGE: a process whose streams the shim connects to its own streams."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import threading
from typing import Any

import pytest

from boxspec.api import Late, NotMeasured, at_most, expect, expect_within, one_of, requires
from boxspec.api import programs as P
from contracts.process.client import BridgeOptions, ProcessCase
from contracts.process.judging import CAT, LINGER_MS, SH, are_gone, pair, read_some
from contracts.shared.moments import attempted, elapsed_ms, pass_time, until

DATA = bytes(range(256)) * 8000
KINDS = pytest.mark.parametrize("kind", ["pipe", "socket"])


@requires("PROCESS-BRIDGE-01")
def test_every_byte_is_passed_on(case: ProcessCase) -> None:
    place = case.tmp / "data"
    place.write_bytes(DATA)
    seen = case.process.bridge(SH, ["-c", "cat; printf more >&2"], stdin=place, within_s=20)
    got = (seen.shim_stdout == DATA, seen.shim_stderr)
    expect("whether stdout is complete, and stderr", got, (True, b"more"))


@requires("PROCESS-BRIDGE-01")
@pytest.mark.parametrize("order", ["out", "err", "mix"])
def test_both_outputs_are_passed_on(case: ProcessCase, order: str) -> None:
    size = 400_000
    seen = case.process.bridge(P.flood, [size, size, "--order", order], within_s=20)
    got = (len(seen.shim_stdout), len(seen.shim_stderr))
    expect("bytes on stdout and on stderr", got, (size, size))


# The capacity of two pipes. After the end of the child, the bridge holds at most this many bytes.
HELD = 2 * 65536


@requires("PROCESS-BRIDGE-01", overlap=2.5)
def test_a_slow_reader_gets_every_byte(case: ProcessCase) -> None:
    got, gaps = 0, [0.0]
    with case.process.start_bridge(P.flood, [HELD, 0], stdout="pipe", within_s=20) as shim:
        while piece := shim.read("stdout", 4096):
            got += len(piece)
            begun_ns = shim.now_ns()
            if len(gaps) < 7:
                pass_time(300)
                gaps.append(elapsed_ms(begun_ns, shim.now_ns()))
        seen = shim.finish()
    if got < HELD and max(gaps) > LINGER_MS / 2:
        what = "the longest time in which the test reads nothing"
        raise Late(what, f"at most {LINGER_MS / 2:.0f} ms", f"{max(gaps):.0f} ms")
    expect("the response, and the bytes that arrived", (seen.how, got), ({"exited": 0}, HELD))


@requires("PROCESS-BRIDGE-01")
def test_an_answer_comes_before_the_end_of_input(case: ProcessCase) -> None:
    with case.process.start_bridge(CAT, stdin="pipe", stdout="pipe", within_s=15) as shim:
        for text in (b"one\n", b"two\0\n", b"no end of line"):
            shim.stdin.write(text)
            expect("the answer", read_some(shim.stdout.fileno()), text)
        shim.stdin.close()
        shim.finish()


@requires("PROCESS-BRIDGE-02")
@pytest.mark.parametrize(
    ("line", "end"),
    [("cat; exit 3", {"exited": 3}), ("cat; kill -TERM $$", {"signaled": "SIGTERM"})],
)
def test_the_end_of_input_is_passed_on(
    case: ProcessCase, line: str, end: dict[str, object]
) -> None:
    with case.process.start_bridge(SH, ["-c", line], stdin="pipe", within_s=10) as shim:
        shim.stdin.close()
        seen = shim.finish()
    expect("the response", seen.how, end)


@requires("PROCESS-BRIDGE-08")
def test_a_bridge_ends_with_its_child(case: ProcessCase) -> None:
    with case.process.start_bridge(P.exit_with, ["5"], stdin="pipe", within_s=10) as shim:
        seen = shim.finish()
    expect("the response", seen.how, {"exited": 5})


@requires("PROCESS-BRIDGE-08")
def test_a_bridge_leaves_no_process(case: ProcessCase) -> None:
    seen = case.process.bridge(SH, ["-c", "sleep 60 & exit 5"], hold=True, within_s=15)
    left = [each.describe() for each in (*seen.lasting, *seen.zombies)]
    expect("the response; processes and zombies", (seen.how, left), ({"exited": 5}, []))


@requires("PROCESS-BRIDGE-09")
def test_a_child_may_close_its_stdin(case: ProcessCase) -> None:
    place = case.tmp / "data"
    place.write_bytes(DATA)
    # The program answers late, so that the bridge first notices the closed pipe.
    line = 'exec <&-; "$1" /dev/null 200; echo one; exit 6'
    seen = case.process.bridge(SH, ["-c", line, "sh", P.slow_exit], stdin=place, within_s=15)
    expect("stdout, and the response", (seen.shim_stdout, seen.how), (b"one\n", {"exited": 6}))


@requires("PROCESS-BRIDGE-10")
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_client_that_stops_reading_is_noticed(case: ProcessCase, stream: str) -> None:
    line = "yes; exit 7" if stream == "stdout" else "yes >&2; exit 7"
    options: dict[str, Any] = {"stdin": "pipe", stream: "pipe", "within_s": 15}
    with case.process.start_bridge(SH, ["-c", line], **options) as shim:
        ours = shim.stdout if stream == "stdout" else shim.stderr
        read_some(ours.fileno())
        ours.close()
        seen = shim.finish()
    expect("the response", seen.how, {"exited": 7})


@requires("PROCESS-BRIDGE-11", overlap=1.2, needs=["PROCESS-EOF-02"])
@pytest.mark.parametrize("keep", ["out", "err"])
def test_a_process_that_left_the_group_is_not_waited_for(case: ProcessCase, keep: str) -> None:
    events = case.events()
    words = [events.path, "--setsid", "--keep", keep]
    seen = case.process.bridge(P.orphan, words, within_s=15)
    attempted(events, orphan=1)
    expect("the response", seen.how, {"exited": 0})
    ended = events.wait("end")
    limit = LINGER_MS + 5 * case.tick_ms
    expect_within(case, "from the child's end to the bridge's", ended.cause, seen.end, limit)


@requires("PROCESS-BRIDGE-04")
@pytest.mark.parametrize("all_of_it", [False, True], ids=["alone", "with_its_group"])
def test_a_killed_bridge_leaves_nothing(case: ProcessCase, all_of_it: bool) -> None:
    # A shell kills a job by its process group. So a process that watches the bridge must be in
    # another group.
    events = case.events()
    words = [events.path, "--ignore", "TERM", "--members", "2", "--member-ignore", "TERM"]
    options: BridgeOptions = {"stdin": "pipe", "expect_result": False, "within_s": 15}
    with case.process.start_bridge(P.siglog, words, **options) as shim:
        group = {events.wait("ready").pid, *(each.pid for each in events.all("member"))}
        (shim.signal_group if all_of_it else shim.signal)("KILL")
        shim.wait_exit()
        gone = are_gone(case, shim, group)
    expect("number of members, and whether all have ended", (len(group), gone), (3, True))


@requires("PROCESS-BRIDGE-04")
def test_a_bridge_that_is_killed_at_once_leaves_nothing(case: ProcessCase) -> None:
    place = case.tmp / "pid"
    line = 'echo $$ >"$1"; kill -KILL "$PPID"; exec sleep 60'
    options: BridgeOptions = {"stdin": "pipe", "expect_result": False, "within_s": 15}
    with case.process.start_bridge(SH, ["-c", line, "sh", place], **options) as shim:
        if not until(lambda: not shim.running, 10):
            raise NotMeasured("the parent of the child is not the shim, so it was not killed")
        shim.wait_exit()
        pid = int(place.read_text())
        gone = are_gone(case, shim, {pid})
    expect("whether the child has ended", gone, True)


@requires("PROCESS-BRIDGE-01")
@KINDS
def test_non_blocking_ends_lose_nothing(case: ProcessCase, kind: str) -> None:
    """Clients in Node make their ends non-blocking. Here the reader of the output also starts
    late."""
    theirs_in, ours_out = pair(kind)
    ours_in, theirs_out = pair(kind)
    for fd in (theirs_in, theirs_out):
        os.set_blocking(fd, False)
    got = b""

    def write() -> None:
        with os.fdopen(ours_out, "wb", buffering=0) as to, contextlib.suppress(OSError):
            to.write(DATA)

    writer = threading.Thread(target=write)
    with os.fdopen(ours_in, "rb", buffering=0) as back:
        options: BridgeOptions = {"stdin": theirs_in, "stdout": theirs_out, "within_s": 20}
        with case.process.start_bridge(CAT, **options) as shim:
            os.close(theirs_in)
            os.close(theirs_out)
            pass_time(100)
            writer.start()
            pass_time(200)
            while piece := read_some(back.fileno()):
                got += piece
            seen = shim.finish()
        writer.join()
    expect(
        "the bridge's response, and whether all bytes arrived",
        (seen.how, got == DATA),
        ({"exited": 0}, True),
    )


@requires("PROCESS-BRIDGE-05")
@KINDS
def test_a_bridge_keeps_the_flags_of_its_streams(case: ProcessCase, kind: str) -> None:
    theirs_in, ours_out = pair(kind)
    ours_in, theirs_out = pair(kind)
    try:
        ends = (theirs_in, theirs_out)
        before = [fcntl.fcntl(fd, fcntl.F_GETFL) for fd in ends]
        options: BridgeOptions = {"stdin": theirs_in, "stdout": theirs_out, "within_s": 15}
        with case.process.start_bridge(CAT, **options) as shim:
            os.write(ours_out, b"x\n")
            answer = read_some(ours_in)
            during = [fcntl.fcntl(fd, fcntl.F_GETFL) for fd in ends]
            os.close(ours_out)
            ours_out = -1
            shim.finish()
        after = [fcntl.fcntl(fd, fcntl.F_GETFL) for fd in ends]
    finally:
        for fd in (theirs_in, ours_in, theirs_out, ours_out):
            if fd >= 0:
                os.close(fd)
    expect("the answer", answer, b"x\n", verdict="unproven")
    expect("flags during the bridge and after it", (during, after), (before, before))


KEPT = "memory that it took meanwhile, in KiB"


@requires("PROCESS-BRIDGE-06", overlap=0.6, stress=5, needs=["PROCESS-EOF-02", "PROCESS-TAKE-02"])
def test_a_client_that_does_not_read_stops_the_child(case: ProcessCase) -> None:
    flood, pause_ms = (2**30, 5000) if case.stress else (128 * 2**20, 300)
    options: BridgeOptions = {"stdin": "null", "stdout": "pipe", "within_s": 30 + pause_ms / 1000}
    with case.process.start_bridge(P.flood, [flood, 0], **options) as shim:
        total = [len(read_some(shim.stdout.fileno()))]
        expect("whether there is output", total[0] > 0, True)
        first = int(shim.status()["VmHWM"].split()[0])
        pass_time(pause_ms)
        running = shim.running
        highest = int(shim.status()["VmHWM"].split()[0])
        # Read the memory now: later a runtime may still hold memory of data that was passed on.
        expect(KEPT, highest - first, at_most(16 * 1024))

        def take_the_rest() -> None:
            while piece := read_some(shim.stdout.fileno(), 30):
                total[0] += len(piece)

        reader = threading.Thread(target=take_the_rest)
        reader.start()
        shim.wait_exit()
        reader.join()
        seen = shim.finish()
    expect("whether the child's write blocked", running, True)
    expect(
        "the bridge's response, and the number of bytes",
        (seen.how, total[0]),
        ({"exited": 0}, flood),
    )


@requires("PROCESS-BRIDGE-13")
def test_a_stdin_that_cannot_be_read_is_an_error(case: ProcessCase) -> None:
    # If a client closes its socket with unread data, the connection is reset, and the client's last
    # data may be lost. The child must get the end of its input anyway. The bridge may end the child
    # at once, so the test reads the earlier data first.
    theirs, ours = socket.socketpair()
    with theirs, ours:
        ours.send(b"all that came")
        theirs.send(b"unread")
        options: BridgeOptions = {
            "stdin": theirs.fileno(),
            "stdout": "pipe",
            "expect_result": False,
            "within_s": 15,
        }
        with case.process.start_bridge(CAT, **options) as shim:
            came = read_some(shim.stdout.fileno())
            ours.close()
            seen = shim.finish()
    told = (seen.raw or {}).get("error", {}).get("kind", "no error")
    expect("the bytes that arrived", came, b"all that came")
    expect("the kind of the error", told, one_of("execution", "io"))
