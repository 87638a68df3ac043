"""Handles in unusual situations: used again, many descriptors, unusual callers, early ends."""

from __future__ import annotations

import hashlib
import json

import pytest

from boxspec.api import (
    NotApplicable,
    NotMeasured,
    at_least,
    at_most,
    expect,
    expect_within,
    requires,
)
from boxspec.api import programs as P
from boxspec.subject.case import Message
from contracts.process.client import ProcessCase, Script, Step, StepResult, handle, step
from contracts.process.judging import CAT, Pause, asked, carried_out, is_stopped, shell
from contracts.shared.callers import MANY_DESCRIPTORS, many_descriptors, need_start
from contracts.shared.moments import attempted, send, until

# Steps that use a handle up in different ways. Afterwards the handle is dropped and opened again.
USES: dict[str, list[Step]] = {
    "dropped": [],
    "waited for": [step("close_stdin"), step("wait")],
    "killed": [step("kill"), step("wait")],
    "terminated": [step("terminate"), step("wait")],
    "closed": [step("close")],
    "closed at once": [step("close", grace_ms=0)],
    "taken": [step("take", stream="stdin"), step("take", stream="stdout")],
    "looked at": [step("poll"), step("wait", timeout_ms=20)],
    "without stdin": [step("close_stdin")],
}
RUNNING = {"running": True}
ALL_STREAMS = {"stdin": True, "stdout": True, "stderr": True}


@requires("PROCESS-OPEN-09", needs=["PROCESS-DROP-01"])
@pytest.mark.parametrize("use", USES)
def test_a_handle_that_is_opened_again_is_new(case: ProcessCase, use: str) -> None:
    first = [step("open"), *asked(b"first\n"), *USES[use], step("drop")]
    # The short wait reveals a signal that was meant for the earlier process.
    second = [step("open"), step("poll"), step("streams"), *asked(b"second\n")]
    second += [step("wait", timeout_ms=60), step("close_stdin"), step("wait"), step("close")]
    seen = case.process.script({"a": handle(CAT)}, [*first, *second], within_s=15)
    at = len(first)
    got = (seen.steps[at + 1 : at + 3], seen.data(at + 4), seen.steps[at + 5], seen.steps[at + 7 :])
    end: StepResult = {"exited": 0}
    closed: StepResult = {"exited": 0, "detached_writers": False}
    expect(
        "the second process: poll, streams, reply, poll, how it ended, close",
        got,
        ([RUNNING, ALL_STREAMS], b"second\n", RUNNING, [end, closed]),
    )


# Steps that return only after the end of a process that ignores SIGTERM and neither reads nor
# writes.
HELD_UP: dict[str, Step] = {
    "a wait": step("wait", "held", thread="t"),
    "a wait with a limit": step("wait", "held", timeout_ms=60_000, thread="t"),
    "a close": step("close", "held", grace_ms=60_000, thread="t"),
    "a write": step("write", "held", data=b"x" * 2**21, thread="t"),
    "a read": step("read_eof", "held", stream="stdout", thread="t"),
}


@requires("PROCESS-OPEN-05", needs=["PROCESS-OPEN-09"])
@pytest.mark.parametrize("what", HELD_UP)
def test_a_step_that_waits_holds_up_no_other_handle(case: ProcessCase, what: str) -> None:
    events, pause = case.events(), Pause(case)
    first = [step("open", "held"), *pause.steps, HELD_UP[what], step("open"), *asked(b"x\n")]
    first += [step("poll"), step("wait", timeout_ms=20), step("terminate"), step("wait")]
    again = [step("drop"), step("open"), step("kill"), step("wait"), step("close"), step("drop")]
    last = [step("kill", "held"), step("join", thread="t"), step("wait", "held")]
    # A wait closes stdin, and in a sandbox the end of input may arrive before the signal.
    held = handle(P.siglog, [events.path, "--ignore", "TERM"])
    handles = {"a": shell("cat; exec sleep 60"), "held": held, pause.name: pause.handle}
    with case.process.start(handles, [*first, *again, *last], within_s=20) as shim:
        events.wait("ready")
        pause.reached()
        pause.go_on()
        seen = shim.finish()
    at = len(first)
    got = (seen.data(6), seen.steps[at - 1], seen.steps[at + 3], seen.steps[-1])
    ends: list[StepResult] = [{"signaled": f"SIG{name}"} for name in ("TERM", "KILL", "KILL")]
    expect(
        "an answer, and how the children of the other handle and of this one ended",
        got,
        (b"x\n", *ends),
    )


@requires("PROCESS-OPEN-09", needs=["PROCESS-CLOSE-02"])
def test_detached_writers_of_an_earlier_process_are_not_reported(case: ProcessCase) -> None:
    if case.process.inside.name is not None:
        raise NotApplicable(
            "every process inside ends with its program, so no process can hold the pipes"
        )
    # Only the first process leaves a writer outside its group; the second one must not be blamed
    # for it.
    mark, events = case.tmp / "mark", case.events()
    line = '[ -e "$1" ] && exit 0; : >"$1"; exec "$2" "$3" --setsid --keep out'
    rounds = [step("open"), step("wait"), step("close"), step("drop")]
    words = (mark, P.orphan, events.path)
    seen = case.process.script({"a": shell(line, *words)}, [*rounds, *rounds], within_s=15)
    attempted(events, orphan=1)
    got = [seen.steps[at].get("detached_writers") for at in (2, 6)]
    expect("detached_writers of the first and of the second process", got, [True, False])


@requires("PROCESS-OPEN-10")
def test_processes_work_beside_more_descriptors_than_select_supports(case: ProcessCase) -> None:
    # These handles take the few low numbers that are still free.
    others = ["first", "second", "third"]
    steps = [step("open"), step("wait", timeout_ms=20), *asked(b"x\n"), step("close_stdin")]
    steps += [step("wait", timeout_ms=10_000), step("close")]
    handles = dict.fromkeys(["a", *others], handle(CAT))
    opens = [step("open", other) for other in others]
    seen = case.process.script(handles, [*opens, *steps], state=many_descriptors(), within_s=20)
    answers = seen.steps[len(opens) :]
    got = (answers[1], seen.data(len(opens) + 3), answers[5], answers[6].get("exited"))
    expect("poll, reply, how the child ended, close", got, (RUNNING, b"x\n", {"exited": 0}, 0))


@requires("PROCESS-OPEN-10")
def test_a_bridge_works_beside_more_descriptors_than_select_supports(case: ProcessCase) -> None:
    place = case.tmp / "input"
    place.write_bytes(b"x" * 100_000)
    seen = case.process.bridge(CAT, stdin=place, state=many_descriptors(), within_s=20)
    expect(
        "how the child ended, and the bytes",
        (seen.how, len(seen.shim_stdout)),
        ({"exited": 0}, 100_000),
    )


@requires("PROCESS-CHILD-02", needs=["PROCESS-OPEN-10"])
@pytest.mark.parametrize("how", ["script", "bridge"])
def test_no_descriptor_of_its_own_is_passed_on_whatever_its_number(
    case: ProcessCase, how: str
) -> None:
    # The open descriptors use all low numbers, so descriptors of the shim itself get numbers above
    # it. The child may inherit them.
    place, state = case.tmp / "report.json", many_descriptors()
    if how == "bridge":
        case.process.bridge(P.report, [place], state=state, within_s=20)
    else:
        handles = {"b": handle(CAT), "a": handle(P.report, [place])}
        steps = [step("open", "b"), step("take", "b", stream="stdin"), step("open"), step("wait")]
        case.process.script(handles, steps, state=state, within_s=20)
    numbers = [each["fd"] for each in json.loads(place.read_text())["fds"]]
    expect(
        "descriptors in the child that its caller did not inherit",
        [each for each in numbers if each >= MANY_DESCRIPTORS],
        [],
    )


def uses_of_options(case: ProcessCase) -> tuple[dict[str, Message], list[Step]]:
    """Return handles with each option, and the steps of each option with each end."""
    gone = handle("/boxspec/no/such", stdin=2, stderr=2)
    nowhere = handle("/bin/true", stdin=2)
    nowhere["request"]["current_dir"] = str(case.tmp / "missing")
    handles = {
        "piped": handle(CAT),
        "null": handle("/bin/sleep", ["60"], stdin=2, stdout=2, stderr=2),
        "nonblocking": handle(CAT, nonblocking=True),
        # Waits for a SIGKILL.
        "ignores": shell("trap '' TERM; echo x; while :; do sleep 60; done"),
        "short": handle("/bin/true", stdout=2),
        # Its end leaves a writer outside the group for a moment.
        "detached": shell("setsid sleep 0.2 & exit 0"),
        "gone": gone,
        "nowhere": nowhere,
    }
    kills: list[list[Step]] = [
        [
            step("open", "piped"),
            step("take", "piped", stream="stdin"),
            step("take", "piped", stream="stderr"),
        ],
        [step("open", "piped"), step("wait", "piped", timeout_ms=1), step("poll", "piped")],
        [step("open", "null"), step("wait", "null", timeout_ms=1), step("close", "null")],
        [step("open", "null"), step("kill", "null"), step("wait", "null")],
        [step("open", "nonblocking"), step("close", "nonblocking")],
        [
            step("open", "ignores"),
            step("read_until", "ignores", stream="stdout", until=b"\n"),
            step("close", "ignores", grace_ms=1),
        ],
        [step("open", "short"), step("wait", "short"), step("close", "short")],
        [step("open", "detached"), step("wait", "detached"), step("close", "detached")],
        [step("open", "piped"), step("take", "piped", stream="stdout")],
        [step("open", "nonblocking"), step("take", "nonblocking", stream="stderr")],
    ]
    steps = [each for way in kills for each in (*way, step("drop", way[0]["handle"]))]
    # A repeat would end at its first error, so the failed opens are separate steps.
    return handles, steps


# The number of rounds exceeds the number of descriptors that a script may keep for itself.
ROUNDS, KEPT = 14, 8


@requires(
    "PROCESS-LEAK-01", overlap=2.0, needs=["PROCESS-DROP-01", "PROCESS-CLOSE-01", "PROCESS-TAKE-01"]
)
def test_each_option_leaks_nothing_however_a_process_ends(case: ProcessCase) -> None:
    handles, inner = uses_of_options(case)
    before, after = Pause(case, "before"), Pause(case, "after")
    handles |= {each.name: each.handle for each in (before, after)}
    failed = [step("open", name) for name in ("gone", "nowhere") for _ in range(ROUNDS)]
    steps = [step("repeat", count=2, steps=inner), step("open", "gone"), step("open", "nowhere")]
    steps += [*before.steps, step("repeat", count=ROUNDS, steps=inner), *failed, *after.steps]
    with case.process.start(handles, steps, within_s=40) as shim:
        before.reached(20)
        first = shim.at_rest()
        before.go_on()
        after.reached(20)
        until(lambda: shim.at_rest().fd_count - first.fd_count <= KEPT, 2)
        last = shim.at_rest()
        zombies = [each for each in shim.descendants() if not each.alive]
        after.go_on()
        seen = shim.finish()
    expect("number of rounds that ran", seen.steps[5].get("repeated"), ROUNDS, verdict="unproven")
    grown = (last.fd_count - first.fd_count, last.threads - first.threads, len(zombies))
    expect(
        "growth of descriptors and threads, and zombies", max(grown), at_most(KEPT), {"each": grown}
    )


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


@requires("PROCESS-WAIT-03", overlap=2.5)
@pytest.mark.parametrize(("limit_ms", "times"), [(199, 10), (1990, 1)])
def test_a_limit_does_not_pass_early(case: ProcessCase, limit_ms: int, times: int) -> None:
    waits = [step("wait", timeout_ms=limit_ms)] * times
    steps = [step("open"), *waits, step("kill")]
    seen = case.process.script({"a": handle("/bin/sleep", ["60"])}, steps)
    expect("what the waits report", seen.steps[1 : times + 1], [RUNNING] * times)
    # The life of the shim is longer than the sum of all waits. On a busy machine its start takes so
    # long that it could hide one wait that is slightly short, but not ten of them.
    took = (seen.end.t_ns - seen.start.t_ns) / 1e6
    expect("how long the shim lived, in ms", took, at_least(limit_ms * times))


@requires("PROCESS-CLOSE-01", overlap=2.5, needs=["PROCESS-KILL-02"])
def test_a_grace_does_not_end_early(case: ProcessCase) -> None:
    events, pause = case.events(), Pause(case)
    handles = {"a": handle(P.siglog, [events.path]), pause.name: pause.handle}
    steps = [step("open"), *pause.steps, step("close", grace_ms=1990)]
    with case.process.start(handles, steps, within_s=20) as shim:
        events.wait("ready")
        pause.reached()
        pause.go_on()
        told = events.wait("signal")
        seen = shim.finish()
    expect("how the child ended", seen.steps[3].get("signaled"), "SIGKILL")
    # A busy machine may deliver the SIGTERM late, so allow one tick.
    took = (seen.end.t_ns - told.t_ns) / 1e6
    expect("time from SIGTERM to the end, in ms", took, at_least(1990 - case.tick_ms))


@requires("PROCESS-CLOSE-01", overlap=2.5, timing=True, needs=["PROCESS-KILL-02"])
def test_members_that_end_one_by_one_do_not_extend_the_grace(case: ProcessCase) -> None:
    events, pause = case.events(), Pause(case)
    rules = [f"TERM:exit:0:{ms}" for ms in (300, 700)]
    words = [events.path, "--members", "3", *(w for r in rules for w in ("--member-on", r))]
    handles = {"a": handle(P.siglog, words), pause.name: pause.handle}
    steps = [step("open"), *pause.steps, step("close", grace_ms=1000)]
    with case.process.start(handles, steps, within_s=20) as shim:
        events.wait("ready")
        pause.reached()
        pause.go_on()
        told = events.wait("signal").effect
        seen = shim.finish()
    expect("how the child ended", seen.steps[3].get("signaled"), "SIGKILL")
    # A grace period that began anew with the last member would end after 1,700 ms.
    expect_within(case, "from SIGTERM to the end", told, seen.end, 1550)


# The streams that a child closes before it goes on.
EARLY = {
    "stdin": "exec <&-",
    "stdout": "exec >&-",
    "stderr": "exec 2>&-",
    "all": "exec <&- >&- 2>&-",
    "both outputs": "exec >&- 2>&-",
}


def waits_of(case: ProcessCase) -> tuple[Pause, Pause, list[Step]]:
    """Return two pauses and the steps of a script: a child is waited for without a limit, and after
    the first pause polled and waited for with a limit, up to the second pause."""
    pause, looked = Pause(case), Pause(case, "looked")
    steps = [step("open"), step("wait", thread="w"), *pause.steps, step("poll")]
    steps += [step("wait", timeout_ms=150), *looked.steps, step("join", thread="w"), step("wait")]
    return pause, looked, steps


def expect_running(seen: Script) -> None:
    got = [seen.steps[at] for at in (4, 5, 1, 9)]
    expect(
        "two polls, and how the child ended, in both answers",
        got,
        [RUNNING] * 2 + [{"exited": 7}] * 2,
    )


@requires("PROCESS-WAIT-06")
@pytest.mark.parametrize("what", EARLY)
def test_a_child_that_closed_its_streams_is_running(case: ProcessCase, what: str) -> None:
    events, fifo, (pause, looked, steps) = case.events(), case.fifo("gate"), waits_of(case)
    line = f'{EARLY[what]}; exec "$1" "$2" "$3" --exit 7'
    handles = {"a": shell(line, P.gate, events.path, fifo)}
    handles |= {each.name: each.handle for each in (pause, looked)}
    with case.process.start(handles, steps, within_s=15) as shim:
        events.wait("ready")
        pause.reached()
        pause.go_on()
        looked.reached()
        case.open_gate(fifo)
        looked.go_on()
        seen = shim.finish()
    expect_running(seen)


@requires("PROCESS-WAIT-06")
def test_a_stopped_child_is_running(case: ProcessCase) -> None:
    events, fifo, (pause, looked, steps) = case.events(), case.fifo("gate"), waits_of(case)
    handles = {"a": handle(P.gate, [events.path, fifo, "--exit", 7])}
    handles |= {each.name: each.handle for each in (pause, looked)}
    with case.process.start(handles, steps, within_s=15) as shim:
        pid = events.wait("ready").pid
        pause.reached()
        send(pid, "STOP")
        until(lambda: is_stopped(pid))
        pause.go_on()
        looked.reached()
        send(pid, "CONT")
        case.open_gate(fifo)
        looked.go_on()
        seen = shim.finish()
    expect_running(seen)


@requires("PROCESS-CLOSE-06", overlap=2.0, needs=["PROCESS-CLOSE-01"])
@pytest.mark.parametrize("who", ["leader", "member"])
def test_a_process_without_its_main_thread_has_the_grace(case: ProcessCase, who: str) -> None:
    events, pause = case.events(), Pause(case)
    alone = handle(P.threaded, [events.path])
    member = shell('"$1" "$2" & exec sleep 60', P.threaded, events.path)
    handles = {"a": alone if who == "leader" else member, pause.name: pause.handle}
    steps = [step("open"), *pause.steps, step("close", grace_ms=8000)]
    with case.process.start(handles, steps, within_s=20) as shim:
        events.wait("ready")
        pause.reached()
        pause.go_on()
        seen = shim.finish()
    ends = len(events.all("end"))
    expect(
        "how often the other thread ended without being killed", ends, 1, {"close": seen.steps[3]}
    )


@requires("PROCESS-CHILD-04")
@pytest.mark.parametrize("how", ["script", "bridge"])
def test_a_process_starts_where_the_callers_directory_was_removed(
    case: ProcessCase, how: str
) -> None:
    if case.process.inside.name is not None:
        raise NotApplicable("no sandbox starts in a removed directory")
    gone = case.tmp / "gone"
    gone.mkdir()
    state = ["--cwd", str(gone), "--remove-cwd"]
    need_start(case, state)
    gone.mkdir(exist_ok=True)
    error, out = carried_out(case, how, "/bin/echo", ["here"], state=state)
    expect("the error, and the output", (error, out), (None, b"here\n"))


CLOSED = [("0",), ("1",), ("2",), ("0", "1"), ("0", "1", "2")]


@requires("PROCESS-CHILD-04")
@pytest.mark.parametrize("closed", CLOSED, ids="".join)
def test_a_process_starts_with_standard_descriptors_closed(
    case: ProcessCase, closed: tuple[str, ...]
) -> None:
    state = [word for fd in closed for word in ("--close", fd)]
    steps = [step("open"), *asked(b"x\n"), step("close_stdin")]
    steps += [step("read_eof", stream="stderr"), step("wait")]
    line = "cat; echo end >&2; exit 3"
    seen = case.process.script({"a": shell(line)}, steps, state=state)
    got = (seen.data(2), seen.data(4), seen.steps[5])
    expect(
        "the child's reply, its stderr, and how it ended", got, (b"x\n", b"end\n", {"exited": 3})
    )


@requires("PROCESS-CHILD-04")
@pytest.mark.parametrize("names", [("CHLD",), ("CHLD", "ALRM", "USR1")], ids="-".join)
def test_an_end_is_noticed_where_the_caller_blocks_signals(
    case: ProcessCase, names: tuple[str, ...]
) -> None:
    state = [word for name in names for word in ("--block", name)]
    steps = [step("open"), step("wait", timeout_ms=2500), step("poll")]
    seen = case.process.script({"a": shell("sleep 0.1; exit 3")}, steps, state=state)
    expect("how the child ended, in both answers", seen.steps[1:], [{"exited": 3}] * 2)


# Every shim that starts with few descriptors starts with this many.
MOST_DESCRIPTORS = 40


@requires("PROCESS-LEAK-02", overlap=3.0, needs=["PROCESS-OPEN-03"])
def test_an_open_without_descriptors_is_an_error_and_leaves_nothing(case: ProcessCase) -> None:
    if case.process.inside.name is not None:
        raise NotApplicable("a sandbox needs more descriptors than this test leaves")
    said: list[str] = []
    for limit in range(5, MOST_DESCRIPTORS):
        # A child that is wrongly left would still be alive.
        seen = case.process.script(
            {"a": handle("/bin/sleep", ["60"])},
            [step("open"), step("kill"), step("wait", timeout_ms=5000)],
            state=["--nofile", str(limit)],
            expect_result=False,
        )
        if not seen.ok:
            continue  # the shim itself does not start
        opened, ended = seen.steps[0], seen.steps[2]
        left = [each.describe() for each in (*seen.survivors, *seen.zombies)]
        kind = opened.get("error", {}).get("kind")
        right = kind == "execution" or ended == {"signaled": "SIGKILL"}
        if left or not right:
            expect(f"an open with {limit} descriptors", (opened, ended, left), "an error or an end")
        said.append(kind or "ended")
        if said[-4:] == ["ended"] * 4:
            return
    raise NotMeasured(f"the shim needs more than {MOST_DESCRIPTORS} descriptors: {said}")
