"""EXEC-KILL: how often signals are sent, and which processes get them."""

from __future__ import annotations

from typing import Unpack

import pytest

from boxspec.api import Blocked, expect, for_the_prompt, requires
from boxspec.api import programs as P
from boxspec.errors import HarnessError
from boxspec.subject.observe.lines import Deadline
from contracts.exec.answers import ObservedRun
from contracts.exec.client import ExecCase, RunOptions
from contracts.exec.moments import FOREVER_MS, attempted, expect_none_left, send, settled
from contracts.exec.spawn_io import outcome
from contracts.shared.requests import Limits

SETTLED_MS = 900


@pytest.mark.parametrize("times", [1, 3])
@requires("EXEC-KILL-09", pitfalls=["G17"], overlap=6.5, needs=["EXEC-KILL-01"])
def test_a_copy_that_is_forked_on_sigterm_does_not_survive(case: ExecCase, times: int) -> None:
    events = case.events()
    seen = case.exec.run(
        program=P.respawn, args=[events.path, "--times", str(times)], timeout_ms=500, within_s=20
    )
    settled(events)
    expect_none_left(seen, events, respawned=1)


@requires("EXEC-KILL-10", overlap=2.5)
def test_the_child_gets_the_first_signal_once(case: ExecCase) -> None:
    # The child lives for more than ten ticks. So it would log signals that are sent repeatedly.
    events = case.events()
    case.exec.run(
        program=P.siglog,
        args=[events.path, "--on", "TERM:exit:0:1300"],
        timeout_ms=400,
        within_s=20,
    )
    settled(events)
    terms = [event for event in events.all("signal") if event.rest == ["TERM"]]
    if not terms:
        raise Blocked(["EXEC-KILL-01"], "the child got no SIGTERM that could be counted")
    expect("SIGTERMs that the child logged", len(terms), 1)


STARTED_AND_SIGNALLED = [
    "EXEC-CHILD-01",
    "EXEC-KILL-01",
    "EXEC-SIGNAL-01",
    "EXEC-SIGNAL-02",
    # The flag --trace-kill also installs a seccomp filter.
    "EXEC-SPAWN-14",
]
# At the end the test sends this signal to a bystander, to show that the bystander still logs
# signals.
LAST_SIGNAL = "USR2"


def signals_to_leader(case: ExecCase, why: str) -> list[str]:
    """Return the signals that were sent to the leader or its group, in their order.

    They are recorded in the kernel when they are sent: two equal pending signals arrive as one.
    """
    events, name = case.events(), "TERM" if why == "deadline" else why
    deadline: Limits = {"timeout_ms": 500} if why == "deadline" else {}
    with case.exec.start(
        program=P.siglog,
        args=[events.path, "--on", f"{name}:exit:0:100"],
        state=["--trace-kill"],
        expect_result=False,
        within_s=20,
        **deadline,
    ) as shim:
        leader = events.wait("ready").pid
        if why != "deadline":
            shim.signal(why)
        shim.finish()
        sent = shim.warden.kills()
    attempted(events, signal=1)
    return [kill.name for kill in sent if abs(kill.target) == leader]


@pytest.mark.parametrize("why", ["deadline", "TERM", "INT"])
@requires("EXEC-KILL-10", overlap=0.8, needs=STARTED_AND_SIGNALLED)
def test_the_first_signal_is_sent_to_the_leader_once(case: ExecCase, why: str) -> None:
    name, sent = "TERM" if why == "deadline" else why, signals_to_leader(case, why)
    expect(f"how often SIG{name} was sent to the leader", sent.count(name), 1, {"sent": sent})


@pytest.mark.parametrize("why", ["deadline", "INT"])
@requires("EXEC-KILL-07", overlap=0.8, needs=STARTED_AND_SIGNALLED)
def test_sigcont_does_not_precede_the_first_signal(case: ExecCase, why: str) -> None:
    name, sent = "TERM" if why == "deadline" else why, signals_to_leader(case, why)
    # If SIGCONT came first, a stopped child would go on with its work before it is asked to end.
    if name not in sent:
        raise Blocked(["EXEC-KILL-01"], f"no SIG{name} was sent to the leader")
    early = "CONT" in sent[: sent.index(name)]
    expect(f"whether SIGCONT was sent before SIG{name}", early, False, {"sent": sent})


ENDS: dict[str, tuple[str, str, Limits]] = {
    "exit": (P.exit_with, "0", {}),
    "orphan": (P.orphan, "EVENTS", {}),
    "deadline": (P.slow_exit, "EVENTS 3000", {"timeout_ms": 200}),
    "at_once": (P.slow_exit, "EVENTS 3000", {"timeout_ms": 0}),
    "failed_spawn": ("/no/such/program", "", {}),
}


@pytest.mark.parametrize("how", ENDS)
@requires("EXEC-KILL-11", pitfalls=["B4", "A25"], overlap=0.5, needs=["EXEC-ORPHAN-01"])
def test_only_the_childs_own_group_is_sent_signals(case: ExecCase, how: str) -> None:
    program, words, more = ENDS[how]
    args = words.replace("EVENTS", case.events().path).split()
    with case.exec.start(program=program, args=args, state=["--trace-kill"], **more) as shim:
        seen = shim.finish()
        sent = shim.warden.kills()
    # The trace contains only process numbers. Only the child and its group may be signalled.
    groups = {abs(kill.target) for kill in sent}
    strangers = [kill for kill in sent if abs(kill.target) in (0, 1, shim.shim_pid)]
    expect(
        "number of processes and groups signalled, and signals to the caller or to all",
        (len(groups) <= (how != "failed_spawn"), strangers),
        (True, []),
        {"sent": sent, "outcome": outcome(seen)},
    )


def signals_to_bystander(case: ExecCase, **request: Unpack[RunOptions]) -> list[str]:
    """Return the signals that a process in the shim's own group got during a run.

    The list ends with "killed" if that process died, or with "deaf" if it logs no signal.
    """
    watched: RunOptions = {"state": ["--bystander"], "within_s": 20}
    with case.exec.start(**(request | watched)) as shim:
        shim.finish()
        pid = shim.bystander_pid
        if pid is None:
            raise HarnessError("there is no bystander")
        limit, logged = Deadline(20), list[str]()
        while LAST_SIGNAL not in logged and not limit.over():
            if not any(proc.pid == pid and proc.alive for proc in shim.descendants()):
                return [*logged, "killed"]
            send(pid, LAST_SIGNAL)
            shim.warden.pump(0.05)
            reports = [words for words in shim.warden.reports if words[0] == "bystander-signal"]
            logged = [words[3] for words in reports]
    return (
        [name for name in logged if name != LAST_SIGNAL]
        if LAST_SIGNAL in logged
        else [*logged, "deaf"]
    )


@requires("EXEC-KILL-11", pitfalls=["B4"], overlap=0.5)
def test_a_deadline_does_not_signal_the_callers_group(case: ExecCase) -> None:
    events = case.events()
    logged = signals_to_bystander(
        case, program=P.slow_exit, args=[events.path, "2500"], timeout_ms=200
    )
    settled(events)
    expect("signals that an unrelated process in the caller's group got", logged, [])


@pytest.mark.parametrize("timeout_ms", [0, 1])
@requires("EXEC-KILL-11", pitfalls=["B2", "B4"])
def test_a_deadline_right_after_the_spawn_does_not_signal_the_callers_group(
    case: ExecCase, timeout_ms: int
) -> None:
    events = case.events()
    # First wait for `ready` in a run without a deadline, because in the other run the deadline may
    # come before it.
    case.exec.run(program=P.slow_exit, args=[events.path, "0"])
    args = [events.path, "1500"]
    logged = signals_to_bystander(case, program=P.slow_exit, args=args, timeout_ms=timeout_ms)
    attempted(events, ready=1)
    expect("signals that an unrelated process in the caller's group got", logged, [])


@requires("EXEC-KILL-11", pitfalls=["B4"])
def test_a_clean_exit_does_not_signal_the_callers_group(case: ExecCase) -> None:
    events = case.events()
    logged = signals_to_bystander(case, program=P.slow_exit, args=[events.path, "0"])
    attempted(events, end=1)
    expect("signals that an unrelated process in the caller's group got", logged, [])


@requires("EXEC-KILL-11", pitfalls=["B4"])
def test_a_failed_spawn_does_not_signal_the_callers_group(case: ExecCase) -> None:
    logged = signals_to_bystander(case, program="/no/such/program", expect_result=False)
    expect("signals that an unrelated process in the caller's group got", logged, [])


# Programs that are started in their own groups, as by a shell with job control. Each has the name
# of its first event.
JOBS = {
    "orphan": '"$1" "$0" --setpgid --keep none --log',
    "ready": '"$2" "$0" --own-group </dev/null >/dev/null 2>&1 &',
}


@pytest.mark.parametrize("job", JOBS)
@requires("EXEC-KILL-11", pitfalls=["B8"], overlap=1.5, needs=["EXEC-KILL-01"])
def test_a_group_that_the_child_made_is_not_signalled(case: ExecCase, job: str) -> None:
    # `orphan` has lost its parent; `ready` remains a child of the leader until the end.
    events = case.events()
    line = f'{JOBS[job]}\nexec "$2" "$0" --on TERM:exit:0'
    args = ["-c", line, events.path, P.orphan, P.siglog]
    case.exec.run(program="/bin/sh", args=args, timeout_ms=SETTLED_MS, within_s=20)
    settled(events, count=1 + (job == "ready"))
    attempted(events, signal=1)
    ended = {event.pid for event in events.all("end")}
    apart = {event.pid for event in events.all(job)} - ended
    attempted(events, end=1)
    logged = [event.rest for event in events.all("signal") if event.pid in apart]
    what = "process groups that the child created, and the signals that they received"
    expect(what, (len(apart), logged), (1, []))


@pytest.mark.parametrize("timeout_ms", [0, 1, 2, 4])
@requires("EXEC-KILL-12", pitfalls=["B2"], overlap=2.0, stress=8)
def test_a_deadline_right_after_the_spawn_leaves_nothing(case: ExecCase, timeout_ms: int) -> None:
    # Without a deadline the same program ends by itself. This shows that the program works on this
    # host.
    events = case.events()
    case.exec.run(program=P.slow_exit, args=[events.path, "0"])
    attempted(events, end=1)
    left: list[str] = []
    for _ in range(8):
        seen = case.exec.run(
            program=P.slow_exit,
            args=["/dev/null", "2000"],
            timeout_ms=timeout_ms,
            within_s=20,
            expect_result=False,
        )
        left += [proc.describe() for proc in seen.lasting]
        left += [] if seen.shim_exit[0] == "exited" else [f"the shim was {seen.shim_exit}"]
    expect("processes that eight such runs left, and shims that did not exit", left, [])


def expect_no_member_runs(case: ExecCase, seen: ObservedRun) -> None:
    """Expect that no member runs when the response is written; repeat the test on a busy machine.

    A killed member may wait for a processor longer than the implementation waits for its end.
    """
    with for_the_prompt(case):
        running = [proc.describe() for proc in seen.survivors]
        expect("members that run when the response arrives", running, [])


@pytest.mark.parametrize("members", [1, 12])
@requires("EXEC-KILL-13", pitfalls=["I15"], overlap=6.5)
def test_no_member_runs_when_the_run_returns(case: ExecCase, members: int) -> None:
    # Check while the shim waits at the fifo `hold`: after the shim's end a late death could not be
    # seen.
    events = case.events()
    seen = case.exec.run(
        program=P.siglog,
        args=[
            *[events.path, "--leader-exits-on", "TERM"],
            *["--members", str(members), "--member-ignore", "TERM"],
        ],
        timeout_ms=SETTLED_MS,
        hold=True,
        within_s=20,
    )
    settled(events, member=members)
    expect_no_member_runs(case, seen)


@requires("EXEC-KILL-13", pitfalls=["I15"], overlap=6.5)
def test_a_member_with_much_memory_has_ended_when_the_run_returns(case: ExecCase) -> None:
    # `tail` has 96 MiB of memory, and the kernel needs some time to free a large address space.
    events = case.events()
    script = (
        f'trap \'\' TERM; (head -c 96m /dev/zero; exec "{P.slow_exit}" "$0" {FOREVER_MS}) |'
        f' tail -c 96m >/dev/null & exec "{P.siglog}" "$0" --ignore TERM'
    )
    seen = case.exec.run(
        program="/bin/sh",
        args=["-c", script, events.path],
        timeout_ms=2 * SETTLED_MS,
        hold=True,
        within_s=20,
    )
    settled(events, count=2)
    expect_no_member_runs(case, seen)
