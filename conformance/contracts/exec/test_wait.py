"""How soon the end of a child is noticed, and what happens when waiting fails."""

from __future__ import annotations

import signal

import pytest

from boxspec.api import (
    Box,
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
from contracts.exec.moments import (
    FOREVER_MS,
    elapsed_ms,
    expect_none_left,
    need_preload,
)
from contracts.exec.spawn_io import digest, hash_line, pattern, shell, stream
from contracts.exec.theft import WAIT_ERROR, Outcome, expect_wait_errors, wait_outcome


@pytest.mark.parametrize("ms", [0, 40, 110, 270])
@requires("EXEC-WAIT-01", overlap=0.4, timing=True)
def test_the_end_of_a_child_is_noticed_within_a_tick(box: Box, ms: int) -> None:
    events = box.events()
    seen = box.exec.run(program=P.slow_exit, args=[events.path, str(ms)])
    end = events.wait("end").cause
    expect_within(box, "from the child's end to the shim's", end, seen.end, box.tick_ms)


@requires("EXEC-WAIT-01", overlap=0.4, timing=True)
def test_a_death_by_signal_is_noticed_within_a_tick(box: Box) -> None:
    events = box.events()
    with box.exec.start(program=P.slow_exit, args=[events.path, FOREVER_MS]) as live:
        child = events.wait("ready").pid
        killed = live.signal("KILL", child)
        seen = live.finish()
    expect_within(box, "from the child's death to the shim's end", killed, seen.end, box.tick_ms)


@requires("EXEC-WAIT-01", pitfalls=["D12"], overlap=1.5, stress=20)
def test_a_child_that_ends_at_once_is_never_missed(box: Box) -> None:
    # One lost notification is a run that hangs: the bound of the case tells.
    codes = [
        box.exec.run(program=P.exit_with, args=[str(code)], within_s=10).result["exit_code"]
        for code in range(20)
    ]
    expect("exit codes of twenty children that end at once", codes, list(range(20)))


# A loop that looks now and then is prompt where a life ends just before a look. The first are just
# behind the look of one that looks each tick; one whose looks come after 63, 127 and 227 ms sees
# those soon, and the next ones late.
LIVES = [(104, 107, 110), (144, 147, 150), (184, 187, 190)]


@requires("EXEC-WAIT-02", pitfalls=["G21"], overlap=1.6, timing=True)
def test_the_end_of_a_child_is_noticed_in_under_20_ms(box: Box) -> None:
    # The best of each group, as the run tells its duration, and as the shim's end tells it: what a
    # shim takes from the return of the run to its end is the least of all.
    events = box.events()
    told, shown = [], []
    for group in LIVES:
        by_duration, by_end = [], []
        for ms in group:
            seen = box.exec.run(program=P.slow_exit, args=[events.path, str(ms)])
            end = events.wait("end")
            life_ms = elapsed_ms(events.wait("ready").t_ns, end.t_ns)
            whole_run = waited_between(box.lives, seen.start, seen.end)
            by_duration.append((seen.result["duration_ms"] - life_ms, *whole_run))
            behind = waited_between(box.lives, end.cause, seen.end)
            by_end.append((elapsed_ms(end.t_ns, seen.end.t_ns), *behind))
        told.append(min(by_duration))
        shown.append(min(by_end))
    what = "the shortest delay between a child's end and the run's, of children of a like age"
    for delay_ms, waited_ms, whole in told:
        box.judge_time(what, delay_ms, waited_ms, 20, seen=whole)
    least_ms = min(shown)[0]
    what = "how much later than behind others the shim ends behind children of a like age"
    for delay_ms, waited_ms, whole in shown:
        box.judge_time(what, delay_ms - least_ms, waited_ms, 20, seen=whole)


@requires("EXEC-WAIT-04", pitfalls=["D9", "I16"], overlap=1.0)
def test_a_child_that_somebody_else_collected_is_a_wait_error(box: Box) -> None:
    def run_once(_: int) -> Outcome:
        with box.exec.start(
            program=P.slow_exit,
            args=[box.events().path, "60"],
            state=["--preload", P.preload("steal_child")],
            hold=True,
            within_s=10,
        ) as live:
            live.wait_response()
            need_preload(live, "steal_child")
            return wait_outcome(live.finish())

    expect_wait_errors("stolen children", run_once)


@requires("EXEC-KILL-13", pitfalls=["D9"], overlap=1.0, needs=["EXEC-WAIT-04"])
def test_the_group_of_a_child_that_somebody_else_collected_is_killed(box: Box) -> None:
    # Before anybody collects the child, the implementation has had time to take hold of its group:
    # afterwards the number may be a stranger's.
    line = '"$1" "$2" --keep none; shift 2; exec "$@"'
    for turn in range(8):
        events, fifo = box.events(f"events-{turn}"), box.fifo(f"open-{turn}")
        with box.exec.start(
            **shell(line, P.orphan, events.path, P.gate, events.path, fifo),
            state=["--preload", P.preload("steal_child")],
            hold=True,
            within_s=10,
        ) as live:
            events.wait("orphan")
            events.wait("ready")
            if not live.at_rest().get("State", "").startswith("S"):
                raise NotMeasured("the implementation never rests while its child waits")
            box.open_gate(fifo)
            live.wait_response()
            need_preload(live, "steal_child")
            seen = live.finish()
        if not seen.ok:
            expect_none_left(seen, events, orphan=1)
            return
    raise NotMeasured("the implementation won each race for its child")


CHLD = {"ignored": ["--ignore", "CHLD"], "nocldwait": ["--nocldwait"]}


def collected_by_kernel(box: Box, how: str, **request: object) -> ObservedRun:
    """A run in a caller that has told the kernel to collect its children."""
    with box.exec.start(state=CHLD[how], hold=True, within_s=10, **request) as live:
        live.wait_response()
        if how == "nocldwait":
            need_preload(live, "nocldwait")
        return live.finish()


def sets_sigchld_anew(box: Box) -> bool:
    """Whether a caller that was started with SIGCHLD ignored has it otherwise before any run."""
    with box.idle(*CHLD["ignored"]) as idle:
        return signal.SIGCHLD not in idle.mask("SigIgn")


@pytest.mark.parametrize("how", CHLD)
@requires("EXEC-WAIT-04", pitfalls=["D5", "D6"], overlap=0.3)
def test_a_child_that_the_kernel_collects_is_no_hang_and_no_made_up_code(
    box: Box, how: str
) -> None:
    seen = collected_by_kernel(box, how, program=P.exit_with, args=["7"])
    expect(
        "the outcome where the caller has asked the kernel to collect its children",
        wait_outcome(seen),
        one_of(("execution", WAIT_ERROR), ("exit_code", 7)),
    )


@pytest.mark.parametrize("how", CHLD)
@requires("EXEC-WAIT-05", pitfalls=["D5", "D6"])
def test_a_kernel_that_collects_children_is_seen_before_the_spawn(box: Box, how: str) -> None:
    started = box.tmp / "started"
    seen = collected_by_kernel(box, how, program=P.count_start, args=[str(started), "--exit", "7"])
    got, wanted = (wait_outcome(seen), started.exists()), (("execution", WAIT_ERROR), False)
    if got != wanted and sets_sigchld_anew(box):
        raise NotMeasured("the run-time of the shim sets SIGCHLD anew before any run")
    expect("the outcome, and whether anything was started", got, wanted)


BLOCKED = ["--block", "CHLD", "--block", "ALRM", "--block", "USR1", "--block", "IO"]


@requires("EXEC-WAIT-06", pitfalls=["D7"], overlap=0.8, timing=True)
def test_an_exit_is_noticed_where_the_caller_blocks_signals(box: Box) -> None:
    events = box.events()
    seen = box.exec.run(program=P.slow_exit, args=[events.path, "150"], state=BLOCKED, within_s=10)
    end = events.wait("end").cause
    expect_within(box, "from the child's end to the shim's", end, seen.end, box.tick_ms)


@requires("EXEC-WAIT-06", pitfalls=["D8"], overlap=1.5, timing=True)
def test_a_deadline_holds_where_the_caller_blocks_signals(box: Box) -> None:
    # Compared with the same run without the blocks: how well deadlines work is not the question.
    events = box.events()
    args = [events.path, "3000"]
    control = box.exec.run(program=P.slow_exit, args=args, timeout_ms=250, within_s=10)
    seen = box.exec.run(program=P.slow_exit, args=args, timeout_ms=250, state=BLOCKED, within_s=10)
    what = "how much longer the run takes with the signals blocked"
    expect_no_longer(box, what, seen, control, box.tick_ms)


def stormy(box: Box, **request: object) -> ObservedRun:
    """A run in a caller whose calls are interrupted a thousand times a second."""
    state = ["--preload", P.preload("interrupts")]
    with box.exec.start(state=state, hold=True, within_s=15, **request) as live:
        live.wait_response()
        need_preload(live, "interrupts")
        return live.finish()


@requires("EXEC-WAIT-07", pitfalls=["H16"], overlap=0.6)
def test_interruptions_end_no_wait_early(box: Box) -> None:
    events = box.events()
    seen = stormy(box, program=P.slow_exit, args=[events.path, "300"], timeout_ms=8000)
    got = (seen.result["exit_code"], len(events.all("end")))
    expect("exit_code, and ends of its own that the child reached", got, (0, 1))


@requires("EXEC-WAIT-07", pitfalls=["H16"], overlap=0.8, timing=True)
def test_interruptions_put_no_deadline_off(box: Box) -> None:
    # A child that ends by itself, much later: that the deadline never comes is no hang.
    events = box.events()
    args = [events.path, "3000"]
    seen = stormy(box, program=P.slow_exit, args=args, timeout_ms=300)
    ready = events.wait("ready").effect
    bound = 300 + 2 * box.tick_ms
    expect_within(box, "from the child's start to the end", ready, seen.end, bound)


@requires("EXEC-WAIT-07", pitfalls=["H16"], overlap=0.6)
def test_interruptions_lose_no_byte(box: Box) -> None:
    data = pattern(2**20)
    line = '"$1" 1000000 1000000 --order mix & "$2"; wait'
    seen = stormy(box, **shell(line, P.flood, P.hash_stdin), stdin=data)
    got = (stream(seen, "stderr"), hash_line(data) in seen.stdout)
    expect("what the child wrote, and what it read", got, (digest(pattern(10**6, "A")), True))
