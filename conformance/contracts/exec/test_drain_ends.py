"""EXEC-DRAIN: the output of runs with deadlines, with silent children, or with processes outside
the group."""

from __future__ import annotations

import sys
from typing import Unpack

import pytest

from boxspec.api import Late, ShimProcess, Stamp, expect, expect_within, for_the_prompt, requires
from boxspec.api import programs as P
from contracts.exec.answers import ObservedRun
from contracts.exec.client import ExecCase, RunOptions
from contracts.exec.moments import (
    LINGER_MS,
    attempted,
    blocked_or_late,
    elapsed_ms,
    pass_time,
    settled,
)
from contracts.exec.spawn_io import outcome, shell, without_an_end
from contracts.shared.moments import late_without_busy_loop, wanted_ms
from contracts.shared.requests import Command

SPARE = """
import fcntl, os
fcntl.fcntl(1, 1031, 4096)
block = b"y" * 4096
while True:
    os.write(1, block)
"""


@requires("EXEC-DRAIN-05", pitfalls=["E4"], overlap=True, timing=True)
def test_a_child_that_closed_both_streams_costs_no_processor_time(case: ExecCase) -> None:
    events, fifo = case.events(), case.fifo("open")
    line = 'exec "$1" "$2" "$3" >&- 2>&-'
    with case.exec.start(**shell(line, P.gate, events.path, fifo)) as shim:
        events.wait("ready")
        began_ns, before, stood = shim.now_ns(), shim.cpu_ms(), wanted_ms(shim.shim_pid)
        pass_time(600)
        used, wanted = shim.cpu_ms() - before, wanted_ms(shim.shim_pid) - stood
        looked = elapsed_ms(began_ns, shim.now_ns())
        if used / looked <= 0.25:
            late_without_busy_loop(shim.shim_pid, wanted, looked, 0.5)
        case.open_gate(fifo)
        shim.finish()
    # The kernel counts the waiting time of a thread only when the thread runs again. So on a busy
    # machine `wanted` is too low.
    expect(
        "whether the shim ran at most 25 % of the time, and was runnable at most 50 % of it",
        (used / looked <= 0.25, wanted / looked <= 0.5),
        (True, True),
        {"used_ms": used, "wanted_ms": wanted, "looked_ms": looked},
    )


@requires("EXEC-DRAIN-06", pitfalls=["E15"], overlap=True, timing=True)
@pytest.mark.parametrize(
    "request_",
    [
        {"program": sys.executable, "args": ["-S", "-c", SPARE]},
        {"program": "yes", "args": ["x" * 100]},
    ],
    ids=["one-page-pipe", "yes"],
)
def test_endless_output_does_not_starve_the_deadline(case: ExecCase, request_: Command) -> None:
    # The shim keeps all output until the deadline. If the deadline does not work, this limit
    # prevents that the machine runs out of memory.
    bound_s = case.grace_ms / 1000 + 3
    with case.exec.start(**request_, timeout_ms=120, within_s=bound_s) as shim:
        seen = shim.finish()
    expect("success of a child that writes for ever", seen.result["success"], False)


@requires("EXEC-DRAIN-07", pitfalls=["E10"], overlap=True)
def test_output_from_before_the_deadline_is_kept(case: ExecCase) -> None:
    args = [case.events().path, "--out", "before", "--err", "also before", "--on", "TERM:exit:0"]
    seen = case.exec.run(program=P.siglog, args=args, timeout_ms=300)
    settled(case.events())
    began = seen.stderr[: len(b"also before")]
    expect("stdout, and how stderr begins", (seen.stdout, began), (b"before", b"also before"))


@requires("EXEC-DRAIN-07", pitfalls=["E11"], overlap=True, needs=["EXEC-KILL-01"])
@pytest.mark.parametrize("size", [10, 200_000])
def test_output_of_the_childs_own_handler_is_kept(case: ExecCase, size: int) -> None:
    args = [case.events().path, "--out", "before", "--on", f"TERM:print:{size}"]
    seen = case.exec.run(program=P.siglog, args=args, timeout_ms=300)
    settled(case.events())
    # A machine that stands still for seconds cuts the grace period, in which the child writes.
    with for_the_prompt(case):
        expect("bytes on stdout", seen.stdout_len, len("before") + size)


@requires("EXEC-DRAIN-07", pitfalls=["E11"], needs=["EXEC-SIGNAL-01", "EXEC-SIGNAL-02"])
@pytest.mark.parametrize("name", ["TERM", "INT"])
def test_output_of_the_childs_own_handler_is_kept_after_a_signal(case: ExecCase, name: str) -> None:
    # More than a pipe holds.
    events, size = case.events(), 200_000
    args = [events.path, "--out", "before", "--on", f"{name}:print:{size}"]
    with case.exec.start(program=P.siglog, args=args, within_s=15) as shim:
        events.wait("ready")
        shim.signal(name)
        seen = shim.finish()
    with for_the_prompt(case):
        expect("bytes on stdout", seen.stdout_len, len("before") + size)


@requires("EXEC-DRAIN-07", pitfalls=["E11"], overlap=1.8, needs=["EXEC-KILL-01"])
def test_output_from_late_in_the_grace_is_kept(case: ExecCase) -> None:
    # The child's handler starts to write later than LINGER_MS, and well before the end of the grace
    # period. It creates the second mark after its output. So if the mark exists, the output must be
    # in the result.
    late = 'sleep 1.4; printf late; : >"$2"; exit 0'
    line = f"trap '{late}' TERM; : >\"$1\"; while :; do sleep 0.05; done"
    marks = [case.tmp / "ready", case.tmp / "late"]
    seen = case.exec.run(**shell(line, *marks), timeout_ms=500, within_s=15)
    if not marks[0].exists():
        raise Late("the child is set up before its deadline", "a trap", "none")
    if not marks[1].exists():
        why = "a child that needs time to end does not get it"
        raise blocked_or_late(case, ["EXEC-KILL-01", "EXEC-KILL-02"], why)
    expect("stdout", seen.stdout, b"late")


def run_with_escapee(case: ExecCase, **more: Unpack[RunOptions]) -> tuple[ObservedRun, Stamp]:
    """Run a leader that exits with 0 while a process outside the group holds its pipes.

    Return the answer, and the time of the leader's end.
    """
    events, fifo = case.events(), case.fifo("gate")
    line = 'setsid "$1" "$2" --out escaped & exec "$3" "$2" "$4" --out leader'
    shim: ShimProcess[ObservedRun]
    words = [P.siglog, events.path, P.gate, str(fifo)]
    leads: RunOptions = {"program": "/bin/sh", "args": ["-c", line, "sh", *words], "within_s": 20}
    with case.exec.start(**(leads | more)) as shim:
        events.wait("ready")
        events.wait("ready")
        case.open_gate(fifo)
        seen = shim.finish()
        return seen, events.wait("end").cause


@requires("EXEC-DRAIN-08", overlap=True, timing=True)
def test_an_escapee_delays_the_return_by_at_most_a_second(case: ExecCase) -> None:
    seen, ended = run_with_escapee(case)
    limit_ms = LINGER_MS + case.tick_ms
    expect_within(case, "from the leader's end to the return", ended, seen.end, limit_ms)


@requires("EXEC-DRAIN-08", overlap=True, timing=True)
def test_an_escapee_that_keeps_writing_delays_the_return_by_at_most_a_second(
    case: ExecCase,
) -> None:
    events, escapee, fifo = case.events(), case.events("escapee"), case.fifo("gate")
    write_on = 'while "$0" --out 780a --sync "$1"; do sleep 0.1; done'
    line = f'setsid sh -c \'{write_on}\' "$1" "$2" & exec "$3" "$4" "$5"'
    words = (P.emit, escapee.path, P.gate, events.path, fifo)
    with case.exec.start(**shell(line, *words), within_s=20) as shim:
        events.wait("ready")
        escapee.wait("sync")
        case.open_gate(fifo)
        seen = shim.finish()
    limit_ms = LINGER_MS + case.tick_ms
    ended = events.wait("end").cause
    expect_within(case, "from the leader's end to the return", ended, seen.end, limit_ms)


@requires("EXEC-DRAIN-08", overlap=True)
def test_output_of_an_escapee_before_the_return_is_kept(case: ExecCase) -> None:
    seen, _ = run_with_escapee(case)
    words = sorted([seen.stdout[:7], seen.stdout[7:]], key=len)
    joined = seen.stdout in (b"leaderescaped", b"escapedleader")
    expect(
        "how the child ended, and its output",
        (outcome(seen), joined),
        ("exit 0", True),
        {"w": words},
    )


@requires("EXEC-DRAIN-08", pitfalls=["E7"], overlap=True)
def test_an_incomplete_character_is_kept_if_the_output_has_no_end(case: ExecCase) -> None:
    # An incremental decoder keeps an incomplete character. Here it gets no end of file, at which it
    # would write the character.
    events = case.events()
    seen = case.exec.run(**without_an_end(events.path, b"a\xe2\x82"), within_s=20)
    attempted(events, orphan=1)
    expect("stdout", seen.stdout.decode("utf-8", "backslashreplace"), "a\ufffd")


@requires("EXEC-DRAIN-09", capability="exec.termination", overlap=True)
@pytest.mark.parametrize("stream", ["out", "err"])
def test_detached_writers_is_true_for_a_writer_of_one_stream(case: ExecCase, stream: str) -> None:
    events = case.events()
    seen = case.exec.run(program=P.orphan, args=[events.path, "--keep", stream, "--setsid"])
    attempted(events, orphan=1)
    expect(
        f"detached_writers, while a process holds std{stream}",
        seen.result["detached_writers"],
        True,
    )


@requires("EXEC-DRAIN-09", capability="exec.termination", overlap=True)
def test_detached_writers_is_true_only_with_an_escapee_on_the_pipes(case: ExecCase) -> None:
    seen, _ = run_with_escapee(case)
    plain = case.exec.run(**shell("echo x"))
    orphan = case.exec.run(
        program=P.orphan, args=[case.events("o").path, "--keep", "none", "--setsid"]
    )
    expect(
        "detached_writers: a process outside has the pipes, no process is outside, it closed them",
        [run.result["detached_writers"] for run in (seen, plain, orphan)],
        [True, False, False],
    )


@requires("EXEC-DRAIN-09", capability="exec.termination", overlap=True)
def test_detached_writers_is_false_if_the_pipe_closes_in_time(case: ExecCase) -> None:
    leader, escapee, gate = case.events("leader"), case.events("escapee"), case.fifo("gate")
    # The process outside the group opens the leader's gate, and holds the pipes 0.2 s longer.
    stays = """setsid sh -c ': >"$0"; sleep 0.2; exec "$1" --sync "$2"' "$1" "$2" "$3" &"""
    words = (gate, P.emit, escapee.path, P.gate, leader.path)
    seen = case.exec.run(**shell(f'{stays} exec "$4" "$5" "$1"', *words), within_s=15)
    detached = seen.result["detached_writers"]
    moments = [event.t_ns for event in (*leader.all("end"), *escapee.all("sync"))]
    held_ms = elapsed_ms(moments[0], moments[1]) if len(moments) == 2 else LINGER_MS
    if detached and held_ms > LINGER_MS / 2:
        raise Late(
            "the escapee closes the pipes in time", f"within {LINGER_MS / 2} ms", f"{held_ms} ms"
        )
    expect("detached_writers", detached, False)
