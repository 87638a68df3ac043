"""EXEC-WAIT: how soon the end of a child is noticed, and errors of waiting."""

from __future__ import annotations

from typing import Unpack

import pytest

from boxspec.api import (
    NotMeasured,
    expect,
    expect_no_longer,
    expect_within,
    one_of,
    requires,
    waited_between,
)
from boxspec.api import programs as P
from contracts.exec.answers import ObservedRun
from contracts.exec.client import ExecCase, RunOptions
from contracts.exec.host import need_pidfd
from contracts.exec.moments import FOREVER_MS, elapsed_ms, expect_none_left, need_preload
from contracts.exec.spawn_io import digest, hash_line, pattern, shell, stream
from contracts.exec.theft import RACES, WAIT_ERROR, Outcome, expect_wait_errors, wait_outcome
from contracts.shared.callers import IGNORES_CHLD, resets_sigchld


@pytest.mark.parametrize("ms", [0, 40, 110, 270])
@requires("EXEC-WAIT-01", overlap=0.4, timing=True)
def test_the_end_of_a_child_is_noticed_within_a_tick(case: ExecCase, ms: int) -> None:
    events = case.events()
    seen = case.exec.run(program=P.slow_exit, args=[events.path, str(ms)])
    end = events.wait("end").cause
    expect_within(case, "from the child's end to the shim's", end, seen.end, case.tick_ms)


@requires("EXEC-WAIT-01", overlap=0.4, timing=True)
def test_a_death_by_signal_is_noticed_within_a_tick(case: ExecCase) -> None:
    events = case.events()
    with case.exec.start(program=P.slow_exit, args=[events.path, FOREVER_MS]) as shim:
        child = events.wait("ready").pid
        killed = shim.signal("KILL", child)
        seen = shim.finish()
    expect_within(case, "from the child's death to the shim's end", killed, seen.end, case.tick_ms)


@requires("EXEC-WAIT-01", pitfalls=["D12"], overlap=1.5, stress=20)
def test_a_child_that_ends_at_once_is_never_missed(case: ExecCase) -> None:
    # If a notification is lost, a run hangs and exceeds the time limit of its call.
    codes = [
        case.exec.run(program=P.exit_with, args=[str(code)], within_s=10).result["exit_code"]
        for code in range(20)
    ]
    expect("exit codes of twenty children that end at once", codes, list(range(20)))


# Lifetimes of children in ms. A loop that polls notices an end soon if its next poll follows soon.
# The children of the first group end just after the polls of a loop with one poll per tick, so such
# a loop notices them late. A loop that polls after 63, 127 and 227 ms notices the first two groups
# soon and the last one late.
LIVES = [(104, 107, 110), (144, 147, 150), (184, 187, 190)]


@requires("EXEC-WAIT-02", pitfalls=["G21"], overlap=1.6, timing=True)
def test_the_end_of_a_child_is_noticed_in_under_20_ms(case: ExecCase) -> None:
    # The shortest delay in each group is measured in two ways: by duration_ms, and by the end of
    # the shim. The smallest delay of all estimates the time from the return of a run to the end of
    # the shim.
    events = case.events()
    by_result, by_shim_end = [], []
    for group in LIVES:
        by_duration, by_end = [], []
        for ms in group:
            seen = case.exec.run(program=P.slow_exit, args=[events.path, str(ms)])
            end = events.wait("end")
            life_ms = elapsed_ms(events.wait("ready").t_ns, end.t_ns)
            whole_run = waited_between(case.shim_processes, seen.start, seen.end)
            by_duration.append((seen.result["duration_ms"] - life_ms, *whole_run))
            behind = waited_between(case.shim_processes, end.cause, seen.end)
            by_end.append((elapsed_ms(end.t_ns, seen.end.t_ns), *behind))
        by_result.append(min(by_duration))
        by_shim_end.append(min(by_end))
    what = "the shortest delay between a child's end and the run's, of children of a like age"
    for delay_ms, waited_ms, whole in by_result:
        case.judge_time(what, delay_ms, waited_ms, 20, seen=whole)
    least_ms = min(by_shim_end)[0]
    what = "how much later than after others the shim ends after children of a like age"
    for delay_ms, waited_ms, whole in by_shim_end:
        case.judge_time(what, delay_ms - least_ms, waited_ms, 20, seen=whole)


@requires("EXEC-WAIT-04", pitfalls=["D9", "I16"], overlap=1.0)
def test_a_child_reaped_by_another_waiter_is_a_wait_error(case: ExecCase) -> None:
    def run_once(_: int) -> Outcome:
        with case.exec.start(
            program=P.slow_exit,
            args=[case.events().path, "60"],
            state=["--preload", P.preload("steal_child")],
            hold=True,
            within_s=10,
        ) as shim:
            shim.wait_response()
            need_preload(shim, "steal_child")
            return wait_outcome(shim.finish())

    expect_wait_errors("ends of runs whose child another part of the caller reaped", run_once)


@requires("EXEC-KILL-13", pitfalls=["D9"], overlap=1.0, needs=["EXEC-WAIT-04"])
def test_the_group_of_a_child_reaped_by_another_waiter_is_killed(case: ExecCase) -> None:
    # The implementation is idle before the child is reaped. So it had time to open a pidfd. After
    # the reaping, another process may get the child's number.
    need_pidfd()
    line = '"$1" "$2" --keep none; shift 2; exec "$@"'
    for turn in range(RACES):
        events, fifo = case.events(f"events-{turn}"), case.fifo(f"open-{turn}")
        with case.exec.start(
            **shell(line, P.orphan, events.path, P.gate, events.path, fifo),
            state=["--preload", P.preload("steal_child")],
            hold=True,
            within_s=10,
        ) as shim:
            events.wait("orphan")
            events.wait("ready")
            if not shim.at_rest().get("State", "").startswith("S"):
                raise NotMeasured("the implementation never sleeps while its child waits")
            case.open_gate(fifo)
            shim.wait_response()
            need_preload(shim, "steal_child")
            seen = shim.finish()
        if not seen.ok:
            expect_none_left(seen, events, orphan=1)
            return
    raise NotMeasured("in each attempt the implementation reaped its child before the test could")


CHLD = {"ignored": IGNORES_CHLD, "nocldwait": ["--nocldwait"]}


def reaped_by_kernel(case: ExecCase, how: str, **request: Unpack[RunOptions]) -> ObservedRun:
    """Run in a caller whose children are reaped by the kernel."""
    held: RunOptions = {"state": CHLD[how], "hold": True, "within_s": 10}
    with case.exec.start(**(request | held)) as shim:
        shim.wait_response()
        if how == "nocldwait":
            need_preload(shim, "nocldwait")
        return shim.finish()


@pytest.mark.parametrize("how", CHLD)
@requires("EXEC-WAIT-04", pitfalls=["D5", "D6"], overlap=0.3)
def test_a_child_reaped_by_the_kernel_causes_no_hang_and_no_invented_code(
    case: ExecCase, how: str
) -> None:
    seen = reaped_by_kernel(case, how, program=P.exit_with, args=["7"])
    expect(
        "the outcome if the kernel reaps the caller's children",
        wait_outcome(seen),
        one_of(("execution", WAIT_ERROR), ("exit_code", 7)),
    )


@pytest.mark.parametrize("how", CHLD)
@requires("EXEC-WAIT-05", pitfalls=["D5", "D6"])
def test_automatic_reaping_is_detected_before_the_spawn(case: ExecCase, how: str) -> None:
    started = case.tmp / "started"
    seen = reaped_by_kernel(case, how, program=P.count_start, args=[str(started), "--exit", "7"])
    got, wanted = (wait_outcome(seen), started.exists()), (("execution", WAIT_ERROR), False)
    if got != wanted and resets_sigchld(case):
        raise NotMeasured("the runtime of the shim resets SIGCHLD before any run")
    expect("the outcome, and whether the program was started", got, wanted)


BLOCKED = ["--block", "CHLD", "--block", "ALRM", "--block", "USR1", "--block", "IO"]


@requires("EXEC-WAIT-06", pitfalls=["D7"], overlap=0.8, timing=True)
def test_an_exit_is_noticed_where_the_caller_blocks_signals(case: ExecCase) -> None:
    events = case.events()
    seen = case.exec.run(program=P.slow_exit, args=[events.path, "150"], state=BLOCKED, within_s=10)
    end = events.wait("end").cause
    expect_within(case, "from the child's end to the shim's", end, seen.end, case.tick_ms)


@requires("EXEC-WAIT-06", pitfalls=["D8"], overlap=1.5, timing=True)
def test_a_deadline_holds_where_the_caller_blocks_signals(case: ExecCase) -> None:
    # Compare with the same run without blocked signals, because other tests check deadlines.
    events = case.events()
    args = [events.path, "3000"]
    control = case.exec.run(program=P.slow_exit, args=args, timeout_ms=250, within_s=10)
    seen = case.exec.run(program=P.slow_exit, args=args, timeout_ms=250, state=BLOCKED, within_s=10)
    what = "how much longer the run takes with the signals blocked"
    expect_no_longer(case, what, seen, control, case.tick_ms)


def run_interrupted(case: ExecCase, **request: Unpack[RunOptions]) -> ObservedRun:
    """Run in a caller whose system calls are interrupted a thousand times a second."""
    state = ["--preload", P.preload("interrupts")]
    held: RunOptions = {"state": state, "hold": True, "within_s": 15}
    with case.exec.start(**(request | held)) as shim:
        shim.wait_response()
        need_preload(shim, "interrupts")
        return shim.finish()


@requires("EXEC-WAIT-07", pitfalls=["H16"], overlap=0.6)
def test_interruptions_end_no_wait_early(case: ExecCase) -> None:
    events = case.events()
    seen = run_interrupted(case, program=P.slow_exit, args=[events.path, "300"], timeout_ms=8000)
    got = (seen.result["exit_code"], len(events.all("end")))
    expect("exit_code, and how often the child ended without being killed", got, (0, 1))


@requires("EXEC-WAIT-07", pitfalls=["H16"], overlap=0.8, timing=True)
def test_interruptions_do_not_postpone_the_deadline(case: ExecCase) -> None:
    # If the deadline does not work, the child ends by itself much later, so that the test does not
    # hang.
    events = case.events()
    args = [events.path, "3000"]
    seen = run_interrupted(case, program=P.slow_exit, args=args, timeout_ms=300)
    ready = events.wait("ready").effect
    bound = 300 + 2 * case.tick_ms
    expect_within(case, "from the child's start to the end", ready, seen.end, bound)


@requires("EXEC-WAIT-07", pitfalls=["H16"], overlap=0.6)
def test_interruptions_lose_no_byte(case: ExecCase) -> None:
    data = pattern(2**20)
    line = '"$1" 1000000 1000000 --order mix & "$2"; wait'
    seen = run_interrupted(case, **shell(line, P.flood, P.hash_stdin), stdin=data)
    got = (stream(seen, "stderr"), hash_line(data) in seen.stdout)
    expect("what the child wrote, and what it read", got, (digest(pattern(10**6, "A")), True))
