"""Bridges in unusual situations.

Streams end early, processes are stopped, signals come in each phase, and amounts of data are odd.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time

import pytest

from boxspec.api import Late, ShimProcess, expect, expect_within, requires
from boxspec.api import programs as P
from boxspec.subject.observe import procs
from contracts.process.client import Bridge, ProcessCase
from contracts.process.judging import CAT, LINGER_MS, SH, is_stopped, pair, read_some
from contracts.shared.moments import elapsed_ms, need_handlers, pass_time, send, until


@requires("PROCESS-BRIDGE-15", needs=["PROCESS-BRIDGE-02"])
def test_after_the_end_of_input_the_output_is_passed_on(case: ProcessCase) -> None:
    # The child answers only after it has read everything.
    line = 'n=$(wc -c); sleep 0.2; echo "$n"; "$1" 200000 0; echo done >&2; exit 3'
    with case.process.start_bridge(
        SH, ["-c", line, "sh", P.flood], stdin="pipe", within_s=15
    ) as shim:
        shim.stdin.write(b"x" * 5000)
        shim.stdin.close()
        seen = shim.finish()
    got = (seen.how, len(seen.shim_stdout), seen.shim_stderr)
    expect(
        "the bridge's response, bytes on stdout, and stderr",
        got,
        ({"exited": 3}, 200_005, b"done\n"),
    )


def say(shim: ShimProcess[Bridge], word: bytes) -> None:
    """Write to the bridge.

    If the bridge has wrongly closed its input, the test fails at another place.
    """
    with contextlib.suppress(BrokenPipeError):
        shim.stdin.write(word)
        shim.stdin.flush()


# The child closes one stream, reports this on another stream, and then uses the two open streams.
CLOSES = {
    "stdin": "exec <&-; echo closed >&2; sleep 0.2; echo out; echo err >&2; exit 4",
    "stdout": "exec >&-; echo closed >&2; read x; echo $x >&2; read x; echo $x >&2; exit 4",
    "stderr": "exec 2>&-; echo closed; read x; echo $x; read x; echo $x; exit 4",
}


@requires("PROCESS-BRIDGE-15")
@pytest.mark.parametrize("what", CLOSES)
def test_a_stream_that_the_child_closes_ends_no_other_one(case: ProcessCase, what: str) -> None:
    with case.process.start_bridge(
        SH, ["-c", CLOSES[what]], stdin="pipe", stdout="pipe", stderr="pipe", within_s=15
    ) as shim:
        stream = shim.stdout if what == "stderr" else shim.stderr
        first = read_some(stream.fileno())
        # Leave the bridge time to notice the end of the closed stream.
        pass_time(150)
        if what != "stdin":
            say(shim, b"one\n")
            say(shim, b"two\n")
        rest = b""
        while piece := read_some(stream.fileno()):
            rest += piece
        other = read_some(shim.stdout.fileno()) if what == "stdin" else b""
        seen = shim.finish()
    wanted = (b"err\n", b"out\n") if what == "stdin" else (b"one\ntwo\n", b"")
    expect(
        "first line, the rest, the other stream, the bridge's response",
        (first, rest, other, seen.how),
        (b"closed\n", *wanted, {"exited": 4}),
    )


@requires("PROCESS-BRIDGE-15", needs=["PROCESS-BRIDGE-10"])
@pytest.mark.parametrize("what", ["stdout", "stderr"])
def test_a_stream_that_the_client_closes_ends_no_other_one(case: ProcessCase, what: str) -> None:
    closed, kept = (1, 2) if what == "stdout" else (2, 1)
    line = f"trap '' PIPE; while read x; do echo $x >&{closed}; echo $x >&{kept}; done; exit 4"
    with case.process.start_bridge(
        SH, ["-c", line], stdin="pipe", stdout="pipe", stderr="pipe", within_s=15
    ) as shim:
        streams = {1: shim.stdout, 2: shim.stderr}
        streams[closed].close()
        came = b""
        for word in (b"one\n", b"two\n", b"three\n"):
            say(shim, word)
            while word not in came and (piece := read_some(streams[kept].fileno(), 5)):
                came += piece
        shim.stdin.close()
        seen = shim.finish()
    got = ([word in came for word in (b"one\n", b"two\n", b"three\n")], seen.how)
    expect("which lines came back, and how the child ended", got, ([True] * 3, {"exited": 4}))


@requires("PROCESS-BRIDGE-16", needs=["PROCESS-BRIDGE-01"])
def test_a_stopped_child_goes_on_when_it_is_continued(case: ProcessCase) -> None:
    events = case.events()
    line = '"$1" "$2" 0; exec cat'
    with case.process.start_bridge(
        SH, ["-c", line, "sh", P.slow_exit, events.path], stdin="pipe", stdout="pipe", within_s=15
    ) as shim:
        events.wait("end")
        shim.stdin.write(b"one\n")
        shim.stdin.flush()
        first = read_some(shim.stdout.fileno())
        child = next(each.pid for each in shim.descendants() if each.cmdline[:1] == [b"cat"])
        send(child, "STOP")
        until(lambda: is_stopped(child))
        shim.stdin.write(b"two\n")
        shim.stdin.flush()
        pass_time(250)
        lives = procs.proc(child) is not None
        send(child, "CONT")
        second = read_some(shim.stdout.fileno())
        shim.stdin.close()
        seen = shim.finish()
    got = (first, lives, second, seen.how)
    expect(
        "first reply, whether the child is alive, second reply, the bridge's response",
        got,
        (b"one\n", True, b"two\n", {"exited": 0}),
    )


TRIES = 6


@requires("PROCESS-BRIDGE-17", overlap=2.0, needs=["PROCESS-BRIDGE-03"])
@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_a_signal_before_the_program_runs_ends_the_bridge(case: ProcessCase, name: str) -> None:
    for tried in range(TRIES):
        with case.process.start_bridge(
            "/bin/sleep", ["60"], stdin="pipe", expect_result=False, within_s=25
        ) as shim:
            need_handlers(case, shim)
            shim.signal(name)
            seen = shim.finish()
        lives = [each.describe() for each in seen.lasting]
        expect("processes that a signal at the start leaves", lives, [], {"try": tried})


@requires("PROCESS-BRIDGE-01", overlap=2.5)
@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_output_that_fills_the_clients_pipe_at_the_end_is_complete(
    case: ProcessCase, kind: str
) -> None:
    # Each read makes room in the pipe for only a part of the last piece.
    size = 65536 + 60_001
    ours, theirs = pair(kind)
    got, gaps, read_ns = 0, [], time.monotonic_ns()
    try:
        with case.process.start_bridge(P.flood, [size, 0], stdout=theirs, within_s=20) as shim:
            os.close(theirs)
            theirs = -1
            pass_time(250)
            while True:
                gaps.append(elapsed_ms(read_ns, shim.now_ns()))
                # A bridge may never end, so the read has a time limit.
                piece = read_some(ours, most=5000)
                read_ns = shim.now_ns()
                if not piece:
                    break
                got += len(piece)
                if got < 60_000:
                    pass_time(30)
            seen = shim.finish()
    finally:
        os.close(ours)
        if theirs >= 0:
            os.close(theirs)
    # The first gap includes the start of the shim. The others count together, because a socket has
    # room again only after several reads.
    first, others_ms = gaps[0], sum(gaps[1:])
    if got < size and max(first, others_ms) > LINGER_MS:
        what = "the time in which the test reads nothing"
        raise Late(what, f"at most {LINGER_MS} ms", f"{max(first, others_ms):.0f} ms")
    expect("how the child ended, and the bytes", (seen.how, got), ({"exited": 0}, size))


@requires("PROCESS-BRIDGE-03", overlap=2.5, needs=["PROCESS-BRIDGE-07"])
def test_traffic_in_the_grace_does_not_extend_it(case: ProcessCase) -> None:
    events = case.events()
    line = 'trap "" TERM; "$1" "$2" --ignore TERM & while :; do echo x; sleep 0.1; done'
    with case.process.start_bridge(
        SH, ["-c", line, "sh", P.siglog, events.path], stdin="pipe", within_s=15
    ) as shim:
        events.wait("ready")
        sent = shim.signal("TERM")
        seen = shim.finish()
    expect("the response", seen.how, {"signaled": "SIGKILL"})
    # If the grace period began again with each line, it would last until the time limit of the
    # test.
    expect_within(case, "from the signal to the end", sent, seen.end, 8000)


@requires("PROCESS-BRIDGE-15")
def test_a_bridge_without_a_closed_stream_is_an_echo(case: ProcessCase) -> None:
    """The control of this file: all three streams work."""
    with case.process.start_bridge(CAT, stdin="pipe", stdout="pipe", within_s=15) as shim:
        shim.stdin.write(b"one\n")
        shim.stdin.flush()
        answer = read_some(shim.stdout.fileno())
        shim.stdin.close()
        seen = shim.finish()
    expect("reply, and how the bridge ended", (answer, seen.how), (b"one\n", {"exited": 0}))


@requires("PROCESS-BRIDGE-18")
@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_a_bridge_keeps_the_flags_of_its_stderr(case: ProcessCase, kind: str) -> None:
    """Pass a stderr whose flags must not change.

    The stderr of a bridge is often the terminal or the log of its client, which shares the flags.
    """
    ours, theirs = pair(kind)
    try:
        before = fcntl.fcntl(theirs, fcntl.F_GETFL)
        with case.process.start_bridge(
            SH, ["-c", "echo x >&2; cat"], stdin="pipe", stderr=theirs, within_s=15
        ) as shim:
            answer = read_some(ours)
            during = fcntl.fcntl(theirs, fcntl.F_GETFL)
            shim.stdin.close()
            shim.finish()
        after = fcntl.fcntl(theirs, fcntl.F_GETFL)
    finally:
        os.close(ours)
        os.close(theirs)
    expect("what the child wrote", answer, b"x\n", verdict="unproven")
    expect("flags during the bridge and after it", (during, after), (before, before))


# More than 64 MiB, which is a possible limit of implementations.
MUCH = 2**26 + 2**20 + 1


@requires("PROCESS-BRIDGE-01", overlap=3.0)
def test_input_of_more_than_64_mib_is_passed_on(case: ProcessCase) -> None:
    place = case.tmp / "data"
    with place.open("wb") as file:
        file.truncate(MUCH)  # a file with a hole uses no space on the disk
    seen = case.process.bridge("/usr/bin/wc", ["-c"], stdin=place, within_s=30)
    expect("bytes that the child read", int(seen.shim_stdout or b"0"), MUCH)


@requires("PROCESS-BRIDGE-19", needs=["PROCESS-BRIDGE-02"])
@pytest.mark.parametrize("closed", [("0",), ("0", "1", "2")], ids="".join)
def test_a_stdin_that_is_closed_in_the_bridge_is_at_its_end(
    case: ProcessCase, closed: tuple[str, ...]
) -> None:
    state = [word for fd in closed for word in ("--close", fd)]
    seen = case.process.bridge(SH, ["-c", "cat >/dev/null; exit 3"], state=state, within_s=10)
    expect("how the child ended", seen.how, {"exited": 3})
