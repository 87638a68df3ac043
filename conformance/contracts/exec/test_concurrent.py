"""EXEC-CONC: runs at the same time in one process.

They must not wait for each other, or end or reap each other's children.
"""

from __future__ import annotations

import json
import time
from functools import partial
from typing import Any

import pytest

from boxspec.api import (
    ShimProcess,
    between,
    expect,
    expect_within,
    for_the_prompt,
    requires,
    waited_between,
)
from boxspec.api import programs as P
from contracts.exec.answers import ObservedBatch
from contracts.exec.client import ExecCase, Run
from contracts.exec.moments import TIMED_OUT, elapsed_ms, open_gate_for_all, pass_time, until
from contracts.exec.spawn_io import digest, hash_line, shell_request, stream
from contracts.shared.callers import FOR_MANY_RUNS, need_descriptors
from contracts.shared.requests import ExecRequest

HERE = "exec.concurrent"


# Search the child among all descendants of the caller: some implementations have a process between
# the caller and each child, or a server that starts the children.
def descendants(shim: ShimProcess[ObservedBatch]) -> set[int]:
    return {each.pid for each in shim.tree()}


def runs_still(shim: ShimProcess[ObservedBatch], word: str) -> bool:
    """True if a living descendant has this word in its command line, or has no command line yet.

    A process has no command line during its exec. Use a word near the start of the line, because
    some programs change their last arguments in place.
    """
    return any(
        each.alive and word.encode() in (each.cmdline or [word.encode()]) for each in shim.tree()
    )


@requires("EXEC-CONC-01", pitfalls=["H15"], capability=HERE)
def test_runs_in_one_process_wait_at_the_same_time(case: ExecCase) -> None:
    # Both children must be ready before either may end. If one run waited for the end of the other,
    # the second `ready` would never come.
    events, fifo = case.events(), case.fifo("open")
    gate: ExecRequest = {"program": P.gate, "args": [events.path, str(fifo)]}
    with case.exec.start_batch([gate, gate], within_s=15) as shim:
        for _ in range(2):
            events.wait("ready", timeout_s=8)
        open_gate_for_all(fifo, lambda: len(events.all("end")) < 2)
        codes = [run.result["exit_code"] for run in shim.finish().runs]
    expect("exit codes of two runs that were active at the same time", codes, [0, 0])


@pytest.mark.parametrize("first", [0, 1], ids=["the_first", "the_last"])
@requires("EXEC-CONC-01", pitfalls=["H15"], capability=HERE)
def test_a_run_ends_while_another_one_waits(case: ExecCase, first: int) -> None:
    # If one wait blocks the other, one of the two children is not reaped.
    gates = [(case.events(name), case.fifo(f"open-{name}")) for name in ("a", "b")]
    runs: list[Run] = [
        {"program": P.gate, "args": [events.path, str(fifo)]} for events, fifo in gates
    ]
    with case.exec.start_batch(runs, within_s=15) as shim:
        pids = [events.wait("ready", timeout_s=8).pid for events, _ in gates]
        case.open_gate(gates[first][1])
        gates[first][0].wait("end")
        until(lambda: pids[first] not in descendants(shim), 5)
        left = descendants(shim)
        case.open_gate(gates[1 - first][1])
        shim.finish()
    expect(
        "whether the child that ended, and the one that waits, are still there",
        [pids[first] in left, pids[1 - first] in left],
        [False, True],
    )


@requires("EXEC-CONC-01", pitfalls=["H15", "J6"], capability=HERE, overlap=1.5, stress=41)
def test_a_run_completes_while_forty_others_wait(case: ExecCase) -> None:
    need_descriptors(FOR_MANY_RUNS)
    # If an implementation has a pool with one thread per pipe, no thread is left for the last run.
    # The child of that run ends only after its payload was written and its output read.
    events, fifo = case.events("many"), case.fifo("open-many")
    own, gate = case.events("last"), case.fifo("open-last")
    line = '"$1" "$2" "$3"; exec "$4"'
    payload, long = b"x" * 100_000, b"y" * 200_000
    waits = shell_request(line, P.gate, events.path, fifo, P.hash_stdin) | {"stdin": payload}
    last = shell_request(line, P.gate, own.path, gate, "cat") | {"stdin": long}
    with case.exec.start_batch([*[waits] * 40, (400, last)], within_s=28) as shim:
        for _ in range(40):
            events.wait("ready", timeout_s=20)
        own.wait("ready", timeout_s=20)
        case.open_gate(gate)
        # `cat` is first an argument of the shell, and later the program of the process.
        completed = until(lambda: not runs_still(shim, "cat"), 8)
        open_gate_for_all(fifo, lambda: len(events.all("end")) < 40)
        found = shim.finish().runs
    with for_the_prompt(case):
        expect("whether the last of 41 runs ended while 40 waited", completed, True)
    expect(
        "output of the last run, and outputs of the others",
        (stream(found[-1], "stdout"), {run.stdout for run in found[:-1]}),
        (digest(long), {hash_line(payload)}),
    )


@pytest.mark.parametrize(("name", "code"), [("TERM", 143), ("INT", 130)])
@requires("EXEC-CONC-02", pitfalls=["H13"], capability=HERE)
def test_one_signal_reaches_every_active_run(case: ExecCase, name: str, code: int) -> None:
    events = case.events()
    run: ExecRequest = {"program": P.slow_exit, "args": [events.path, "20000"]}
    with case.exec.start_batch([run, run, run], within_s=15) as shim:
        for _ in range(3):
            events.wait("ready")
        shim.signal(name)
        codes = [found.result["exit_code"] for found in shim.finish().runs]
    expect("exit codes of three runs whose caller got one signal", codes, [code] * 3)


# More runs than a machine word has bits.
MANY_RUNS = 66


@requires("EXEC-CONC-02", pitfalls=["H13"], capability=HERE, overlap=1.0)
def test_one_signal_reaches_66_runs(case: ExecCase) -> None:
    need_descriptors(FOR_MANY_RUNS)
    events = case.events()
    run: ExecRequest = {"program": P.slow_exit, "args": [events.path, "20000"]}
    with case.exec.start_batch([run] * MANY_RUNS, within_s=28) as shim:
        for _ in range(MANY_RUNS):
            events.wait("ready")
        shim.signal("TERM")
        codes = [found.result["exit_code"] for found in shim.finish().runs]
    expect(f"exit codes of {MANY_RUNS} runs whose caller got one signal", set(codes), {143})


@requires("EXEC-TIMEOUT-02", capability=HERE, overlap=2.0)
def test_the_deadline_of_a_later_run_counts_from_its_own_start(case: ExecCase) -> None:
    # The child lives for 200 ms, so that it still runs at the first check of the deadline.
    late: ExecRequest = {
        "program": P.slow_exit,
        "args": [case.events().path, "200"],
        "timeout_ms": 1500,
    }
    with for_the_prompt(case):
        seen = case.exec.batch([(0, {"program": "true"}), (1600, late)])
        codes = [found.result["exit_code"] for found in seen.runs]
        expect(
            "exit codes of a run, and of one that begins after the first one's time limit",
            codes,
            [0, 0],
        )


@requires("EXEC-RESULT-05", capability=HERE, overlap=1.0)
def test_the_duration_of_a_later_run_counts_from_its_own_start(case: ExecCase) -> None:
    seen = case.exec.batch([(0, {"program": "true"}), (900, {"program": "true"})])
    took = seen.runs[1].result["duration_ms"]
    expect("duration_ms of a run that begins 900 ms later", took, between(0, seen.elapsed_ms - 900))


@pytest.mark.parametrize("first", ["started_first", "started_last"])
@requires("EXEC-CONC-03", capability=HERE, overlap=0.8)
def test_a_run_that_ends_keeps_the_handlers_for_the_others(case: ExecCase, first: str) -> None:
    events, fifo = case.events(), case.fifo("open")
    short: ExecRequest = {"program": P.gate, "args": [events.path, str(fifo)]}
    long: ExecRequest = {"program": P.slow_exit, "args": [events.path, "20000"]}
    runs: list[Any] = (
        [(0, short), (60, long)] if first == "started_first" else [(0, long), (60, short)]
    )
    with case.exec.start_batch(runs, within_s=15, expect_result=False) as shim:
        for _ in range(2):
            events.wait("ready")
        case.open_gate(fifo)
        ended = events.wait("end").pid
        until(lambda: ended not in descendants(shim))
        # A run returns a moment after its child was reaped. Leave it this time.
        pass_time(2 * case.tick_ms)
        shim.signal("TERM")
        seen = shim.finish()
    got = [run.result["exit_code"] for run in seen.runs] if seen.ok else seen.shim_exit
    wanted = [0, 143] if first == "started_first" else [143, 0]
    with for_the_prompt(case):
        expect("exit codes of the run that ended first and of the run that went on", got, wanted)


@requires("EXEC-CONC-04", pitfalls=["C2"], capability=HERE, stress=40)
def test_concurrent_children_have_no_descriptors_of_each_other(case: ExecCase) -> None:
    run: ExecRequest = {"program": P.report, "args": ["/dev/null", "--out"]}
    reports = [json.loads(found.stdout)["fds"] for found in case.exec.batch([run] * 40).runs]
    own = [{entry["ino"] for entry in fds if entry["fd"] <= 2} for fds in reports]
    strangers = [
        entry["target"]
        for number, fds in enumerate(reports)
        for entry in fds
        if any(entry["ino"] in theirs for theirs in own[:number] + own[number + 1 :])
        and entry["ino"] not in own[number]
    ]
    expect("descriptors of forty children that are pipes of another child", strangers, [])


@requires("EXEC-CONC-04", pitfalls=["C2"], capability=HERE, overlap=2.0, stress=20, timing=True)
def test_a_long_run_does_not_delay_the_short_ones(case: ExecCase) -> None:
    events, fifo = case.events(), case.fifo("open")
    long: ExecRequest = {"program": P.gate, "args": [events.path, str(fifo)]}
    ended = case.events("short")
    short: ExecRequest = {"program": P.slow_exit, "args": [ended.path, "0"], "stdin": "null"}
    with case.exec.start_batch([*[short] * 10, long, *[short] * 10], within_s=20) as shim:
        events.wait("ready")
        until(lambda: len(ended.all("end")) == 20)
        last_child_ns = time.monotonic_ns()
        pass_time(900)
        case.open_gate(fifo)
        seen = shim.finish()
    longest = max(run.result["duration_ms"] for run in (*seen.runs[:10], *seen.runs[11:]))
    # All other children have ended long before. So a run that took longer has waited for the pipe
    # of another run.
    waited_ms, whole = waited_between(case.shim_processes, seen.start, seen.end)
    case.judge_time(
        "how much longer than the last child the longest of twenty short runs lasted",
        longest - elapsed_ms(seen.start.t_ns, last_child_ns),
        waited_ms,
        case.tick_ms,
        seen=whole,
    )


@requires("EXEC-CONC-05", pitfalls=["J6", "D11", "J1"], capability=HERE, overlap=1.5, stress=64)
def test_each_of_64_concurrent_runs_has_its_own_output_and_end(case: ExecCase) -> None:
    need_descriptors(FOR_MANY_RUNS)
    # All 64 children live at the same time, and one opening of the gate ends them together. Exit
    # codes such as 1 are left out, because some implementations start such a program again;
    # EXEC-SPAWN-13 is about that.
    events, fifo, codes = case.events(), case.fifo("open"), range(2, 66)
    runs: list[Run] = [
        {"program": P.gate, "args": [events.path, str(fifo), "--exit", str(n), "--then", f"<{n}>"]}
        for n in codes
    ]
    with case.exec.start_batch(runs, within_s=25) as shim:
        for _ in runs:
            events.wait("ready", timeout_s=20)
        open_gate_for_all(fifo, lambda: len(events.all("end")) < len(runs))
        found = shim.finish().runs
    got = [(run.result["exit_code"], run.stdout) for run in found]
    wanted = [(n, f"<{n}>".encode()) for n in codes]
    expect(
        "runs with the output or exit code of another run",
        [g for g, w in zip(got, wanted, strict=True) if g != w],
        [],
    )


def own_deadlines(case: ExecCase) -> tuple[ObservedBatch, list[int]]:
    """Run one child without a deadline, and two whose deadlines pass, at the same time.

    Return the answer and the process ids that got SIGTERM, in order.
    """
    events, fifo = case.events(), case.fifo("open")
    args = [case.events("free").path, str(fifo), "--exit", "9"]
    free: ExecRequest = {"program": P.gate, "args": args}
    dated: ExecRequest = {"program": P.siglog, "args": [events.path, "--on", "TERM:exit:0"]}
    runs: list[Run] = [{**dated, "timeout_ms": 900}, free, {**dated, "timeout_ms": 300}]
    with case.exec.start_batch(runs, within_s=15) as shim:
        case.events("free").wait("ready")
        dated_run = partial(runs_still, shim, P.siglog)
        until(lambda: len(events.all("ready")) == 2 and not dated_run(), 8)
        case.open_gate(fifo)
        seen = shim.finish()
    return seen, [event.pid for event in events.all("signal") if event.rest == ["TERM"]]


@requires("EXEC-CONC-06", capability=HERE, overlap=1.5)
def test_a_run_that_times_out_does_not_affect_the_others(case: ExecCase) -> None:
    seen, _ = own_deadlines(case)
    free = seen.runs[1]
    expect(
        "exit_code and annotation of the run that has no deadline",
        (free.result["exit_code"], TIMED_OUT in free.stderr),
        (9, False),
    )


@requires("EXEC-CONC-06", capability=HERE, overlap=1.5)
def test_each_run_has_its_own_deadline(case: ExecCase) -> None:
    seen, _ = own_deadlines(case)
    lasted = [run.result["duration_ms"] for run in (seen.runs[0], seen.runs[2])]
    # The lower bound is exact. For the end of a run there is no exact upper bound, because it also
    # depends on the machine.
    expect(
        "whether the runs with deadlines of 900 and 300 ms lasted that long",
        [lasted[0] >= 900, lasted[1] >= 300],
        [True, True],
        {"lasted_ms": lasted},
    )


@requires("EXEC-CONC-07", capability=HERE, overlap=1.0, timing=True, needs=["EXEC-TIMEOUT-03"])
def test_runs_with_the_same_deadline_all_end_at_it(case: ExecCase) -> None:
    timeout_ms = 400
    logs = [case.events(f"siglog-{n}") for n in range(6)]
    runs: list[ExecRequest] = [
        {
            **{"program": P.siglog, "args": [each.path, "--on", "TERM:exit:0"]},
            **{"stdin": "null", "timeout_ms": timeout_ms},
        }
        for each in logs
    ]
    case.exec.batch(runs, within_s=20)
    pairs = [(each.wait("ready").effect, each.wait("signal").effect) for each in logs]
    slowest = max(pairs, key=lambda pair: pair[1].t_ns - pair[0].t_ns)
    what = "from the start of a child to its SIGTERM"
    expect_within(case, what, *slowest, timeout_ms + case.tick_ms)
