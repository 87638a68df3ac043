"""PROCESS-OPEN and PROCESS-TAKE: handles and their streams."""

from __future__ import annotations

import json

import pytest

from boxspec.api import contains, expect, requires
from boxspec.api import programs as P
from contracts.process.client import ProcessCase, handle, step
from contracts.process.judging import CAT, Pause, asked, refusal, shell


@requires("PROCESS-OPEN-01")
def test_lines_go_to_and_fro(case: ProcessCase) -> None:
    steps = [step("open"), *asked(b"one\n"), *asked(b"two\n"), step("poll")]
    seen = case.process.script({"a": handle(CAT)}, steps)
    got = (seen.data(2), seen.data(4), seen.steps[5])
    expect("the two answers, and a poll after them", got, (b"one\n", b"two\n", {"running": True}))


@requires("PROCESS-OPEN-01")
def test_lines_go_to_and_fro_during_a_wait(case: ProcessCase) -> None:
    pause = Pause(case)
    handles = {"a": handle(CAT), pause.name: pause.handle}
    steps = [step("open"), step("wait", timeout_ms=20_000, thread="w"), *pause.steps]
    steps += [*asked(b"one\n"), *asked(b"two\n"), step("close_stdin"), step("join", thread="w")]
    with case.process.start(handles, steps, within_s=15) as shim:
        # The wait has begun at this point.
        pause.reached()
        pause.go_on()
        seen = shim.finish()
    got = (seen.data(5), seen.data(7), seen.steps[1])
    expect("both answers, and the answer of the wait", got, (b"one\n", b"two\n", {"exited": 0}))


@requires("PROCESS-OPEN-02")
@pytest.mark.parametrize("stream", ["stdin", "stdout", "stderr"])
@pytest.mark.parametrize("mode", [3, 255, 256, 2**32 + 1])
def test_a_bad_mode_spawns_nothing(case: ProcessCase, stream: str, mode: int) -> None:
    mark = case.tmp / "mark"
    line = ': >"$1"'
    control = case.process.script({"a": shell(line, mark)}, [step("open"), step("wait")])
    expect(
        "the request without the mistake",
        (control.steps[1], mark.exists()),
        ({"exited": 0}, True),
    )
    mark.unlink()
    handles = {"a": shell(line, mark, **{stream: mode})}
    seen = case.process.script(handles, [step("open"), step("streams"), step("wait")])
    kinds = [each.get("error", {}).get("kind") for each in seen.steps]
    expect(
        "errors of the steps, and whether the program ran",
        (kinds[0], mark.exists()),
        ("invalid_input", False),
    )
    expect("whether `open` gave a handle", kinds[1:], ["invalid_input"] * 2)


@requires("PROCESS-OPEN-03")
@pytest.mark.parametrize("program", ["/boxspec/no/such", "boxspec-no-such", "/"])
def test_a_program_that_cannot_start_is_an_error_of_open(case: ProcessCase, program: str) -> None:
    seen = case.process.script({"a": handle(program)}, [step("open"), step("wait")])
    expect("kind of the error", seen.steps[0].get("error", {}).get("kind"), "execution")
    expect("whether a `wait` reports an end", [*seen.steps[1]], ["error"])


@requires("PROCESS-OPEN-04")
@pytest.mark.parametrize("modes", [(1, 1, 1), (2, 1, 2), (1, 2, 1), (2, 2, 2), (1, 1, 0)])
def test_a_handle_has_the_piped_streams(case: ProcessCase, modes: tuple[int, int, int]) -> None:
    named = dict(zip(("stdin", "stdout", "stderr"), modes, strict=True))
    handles = {"a": {**handle(CAT), **named}}
    seen = case.process.script(handles, [step("open"), step("streams")])
    wanted = {name: mode == 1 for name, mode in named.items()}
    expect("the streams", seen.steps[1], wanted)


@requires("PROCESS-OPEN-04", needs=["PROCESS-BYTES-02"])
def test_a_stream_that_has_ended_is_still_in_the_handle(case: ProcessCase) -> None:
    line = "exec <&- >&-; printf x >&2; exec 2>&-; exec sleep 60"
    reads = [step("read_eof", stream=name) for name in ("stdout", "stderr")]
    steps = [step("open"), *reads, step("write", data=b"x"), step("streams"), *reads, step("kill")]
    seen = case.process.script({"a": shell(line)}, steps)
    got = (seen.steps[4], [each.get("bytes") for each in seen.steps[5:7]])
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), True)
    expect("the streams, and the lengths of a second read", got, (streams, [0, 0]))


@requires("PROCESS-OPEN-04")
@pytest.mark.parametrize("modes", [(1, 1, 1), (2, 1, 1)])
def test_a_stdin_that_was_closed_is_no_longer_in_the_handle(
    case: ProcessCase, modes: tuple[int, int, int]
) -> None:
    named = dict(zip(("stdin", "stdout", "stderr"), modes, strict=True))
    steps = [step("open"), step("close_stdin"), step("streams")]
    seen = case.process.script({"a": {**handle(CAT), **named}}, steps)
    expect("the streams", seen.steps[2], {"stdin": False, "stdout": True, "stderr": True})


@requires("PROCESS-OPEN-04")
def test_a_null_stream_is_dev_null(case: ProcessCase) -> None:
    line = "cat; for fd in 0 1; do readlink /proc/$$/fd/$fd; done"
    steps = [step("open"), step("read_eof", stream="stderr"), step("wait")]
    # The colon makes the shell fork a subshell for the line. So the shell itself keeps the tested
    # streams.
    told = shell(f"({line}) >&2; :", stdin=2, stdout=2)
    seen = case.process.script({"a": told}, steps)
    expect("how the child ended", seen.steps[2], {"exited": 0})
    expect("targets of the child's descriptors", seen.data(1).splitlines(), [b"/dev/null"] * 2)


@requires("PROCESS-OPEN-04")
def test_an_inherited_stream_is_the_callers(case: ProcessCase) -> None:
    steps = [step("open"), step("wait")]
    seen = case.process.script({"a": shell("echo here >&2", stderr=0)}, steps)
    expect("the shim's own stderr", seen.shim_stderr, contains(b"here\n"))


@requires("PROCESS-OPEN-05")
def test_two_processes_do_not_hold_each_others_pipes(case: ProcessCase) -> None:
    steps = [step("open", on) for on in "ab"]
    steps += [*asked(b"a\n", "a"), *asked(b"b\n", "b")]
    steps += [step("close_stdin", "a"), step("wait", "a", timeout_ms=5000), step("poll", "b")]
    seen = case.process.script({"a": handle(CAT), "b": handle(CAT)}, steps, within_s=15)
    expect("replies of both children", (seen.data(3), seen.data(5)), (b"a\n", b"b\n"))
    expect(
        "how the first child ended, and a poll of the second",
        (seen.steps[7], seen.steps[8]),
        ({"exited": 0}, {"running": True}),
    )


@requires("PROCESS-OPEN-05")
@pytest.mark.parametrize("how", ["plain", "taken", "nonblocking"])
def test_the_second_holds_no_end_of_the_first(case: ProcessCase, how: str) -> None:
    report = case.tmp / "report.json"
    handles = {"a": handle(CAT, nonblocking=how == "nonblocking"), "b": handle(P.report, [report])}
    names = ("stdin", "stdout", "stderr") if how == "taken" else ()
    takes = [step("take", stream=name) for name in names]
    steps = [step("open"), *takes, step("open", "b"), step("wait", "b")]
    case.process.script(handles, steps)
    said = json.loads(report.read_text())
    expect("descriptors of the second child", [each["fd"] for each in said["fds"]], [0, 1, 2])


RUNS_FIELDS = [{"timeout_ms": 1000}, {"stdin": "null"}, {"debug": True}, {"max_output_bytes": 9}]
# Such a field is refused even if its value is 0.
RUNS_FIELDS += [{"timeout_ms": 0}, {"max_output_bytes": 0}]


@requires("PROCESS-OPEN-06")
@pytest.mark.parametrize("field", RUNS_FIELDS, ids=lambda field: next(iter(field)))
def test_fields_of_exec_runs_are_refused(case: ProcessCase, field: dict[str, object]) -> None:
    plain = handle("/bin/true")
    odd = {**plain, "request": {**plain["request"], **field}}
    seen = case.process.script({"a": odd}, [step("open")])
    expect("the refusal of the field", refusal(seen, case.capabilities), "invalid_input")
    control = case.process.script({"a": plain}, [step("open")])
    expect(
        f"whether the handle opens without `{next(iter(field))}`", "pid" in control.steps[0], True
    )


@requires("PROCESS-OPEN-07", needs=["PROCESS-BYTES-01"])
def test_a_write_without_room_says_so(case: ProcessCase) -> None:
    full = {"a": handle("/bin/sleep", ["60"], nonblocking=True)}
    seen = case.process.script(full, [step("open"), step("write", data=b"x" * 2**21), step("kill")])
    told = seen.steps[1]
    got = (told.get("errno"), 0 < told.get("written", 0) < 2**21)
    expect("errno, and whether a part of the data was written", got, ("EAGAIN", True))


@requires("PROCESS-OPEN-07", needs=["PROCESS-OPEN-01"])
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_an_empty_read_does_not_wait(case: ProcessCase, stream: str) -> None:
    """Read zero bytes. The read must not wait, and must not be taken for the end of the stream."""
    read = step("read_until", stream=stream, until=b"\n")
    steps = [step("open"), read, step("poll"), step("kill")]
    seen = case.process.script({"a": handle(CAT, nonblocking=True)}, steps, within_s=10)
    got = (seen.data(1), seen.steps[1].get("eof", False), seen.steps[2])
    expect(
        "bytes read, whether end-of-file was reached, and a poll",
        got,
        (b"", False, {"running": True}),
    )


@requires("PROCESS-TAKE-01")
@pytest.mark.parametrize("stream", ["stdin", "stdout", "stderr"])
def test_a_stream_is_taken_once(case: ProcessCase, stream: str) -> None:
    take = step("take", stream=stream)
    steps = [step("open"), take, take, step("streams")]
    seen = case.process.script({"a": handle(CAT)}, steps)
    got = (seen.steps[1], seen.steps[2], seen.steps[3].get(stream))
    expect(
        "first take, second take, whether the handle still has the stream",
        got,
        ({"taken": True}, {"taken": False}, False),
    )


@requires("PROCESS-TAKE-02", stress=3)
@pytest.mark.parametrize("stream", ["stdin", "stdout"])
def test_one_of_two_threads_gets_a_stream(case: ProcessCase, stream: str) -> None:
    """Take a stream in two threads at the same moment. This is repeated with many handles."""
    names = [f"h{n}" for n in range(200 if case.stress else 24)]
    handles = {name: handle("/bin/cat", stderr=2) for name in names}
    opens = [step("open", name) for name in names]
    takes = [step("take", name, stream=stream, thread=who) for name in names for who in "xy"]
    joins = [step("join", thread=who) for who in "xy"]
    seen = case.process.script(handles, [*opens, *takes, *joins], within_s=30)
    taken = [each.get("taken") for each in seen.steps[len(opens) : -2]]
    got = [sorted(pair, key=bool) for pair in zip(taken[::2], taken[1::2], strict=True)]
    expect("the takes of each pair that succeeded", got, [[False, True]] * len(names))


@requires("PROCESS-TAKE-01")
def test_a_taken_stream_is_the_stream_of_the_child(case: ProcessCase) -> None:
    takes = [step("take", stream=name) for name in ("stdin", "stdout")]
    seen = case.process.script({"a": handle(CAT)}, [step("open"), *takes, *asked(b"x\n")])
    expect("the answer", seen.data(4), b"x\n")


@requires("PROCESS-TAKE-01")
def test_a_taken_stream_outlives_a_close(case: ProcessCase) -> None:
    """Take a stream, then close the handle.

    The caller owns the taken stream, so closing the handle must not close the stream.
    """
    take, read = step("take", stream="stdout"), step("read_eof", stream="stdout")
    steps = [step("open"), take, step("wait"), step("close"), read]
    seen = case.process.script({"a": shell("printf left")}, steps)
    expect("what is read after the close", seen.data(4), b"left")


@requires("PROCESS-TAKE-01")
def test_a_handle_that_is_opened_again_has_streams_again(case: ProcessCase) -> None:
    takes = [step("take", stream=name) for name in ("stdin", "stdout")]
    steps = [step("open"), *takes, step("drop"), step("open"), step("streams"), *asked(b"x\n")]
    seen = case.process.script({"a": handle(CAT)}, steps, within_s=15)
    streams = {name: seen.steps[5].get(name) for name in ("stdin", "stdout", "stderr")}
    expect("streams of the handle", streams, dict.fromkeys(streams, True))
    expect("the answer", seen.data(7), b"x\n")


@requires("PROCESS-OPEN-04")
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_null_output_accepts_data(case: ProcessCase, stream: str) -> None:
    number, other = (1, "stderr") if stream == "stdout" else (2, "stdout")
    line = f"echo x >&{number} || exit 9; (readlink /proc/$$/fd/{number}) >&{3 - number}; :"
    steps = [step("open"), step("read_eof", stream=other), step("wait")]
    seen = case.process.script({"a": shell(line, **{stream: 2})}, steps)
    expect("how the child ended", seen.steps[2], {"exited": 0})
    expect("target of the child's descriptor", seen.data(1), b"/dev/null\n")
