"""EXEC-SIGNAL: the caller gets SIGINT or SIGTERM.

The tests check which signals the child gets, and at what time.
"""

from __future__ import annotations

import os
import signal

import pytest

from boxspec.api import (
    HostLacks,
    at_least,
    endswith,
    expect,
    expect_within,
    for_the_prompt,
    requires,
)
from boxspec.api import programs as P
from contracts.exec.answers import ObservedRun
from contracts.exec.caller_signals import (
    CODE,
    SAYS,
    SIGNALS,
    after_the_childs_exit,
    interrupted,
)
from contracts.exec.client import ExecCase
from contracts.exec.moments import (
    BY_SIGINT,
    BY_SIGTERM,
    FOREVER_MS,
    blocked_or_late,
    elapsed_ms,
    over_before_signal,
    pass_time,
    send,
    until,
)
from contracts.exec.spawn_io import error_of
from contracts.shared.requests import ExecRequest, Limits


@requires("EXEC-SIGNAL-01", pitfalls=["H1"])
def test_sigterm_to_the_caller_is_143_and_no_success(case: ExecCase) -> None:
    result = interrupted(case, "TERM").result
    expect("success and exit_code", (result["success"], result["exit_code"]), (False, 143))


@requires("EXEC-SIGNAL-01", pitfalls=["H1", "F12"])
def test_a_payload_left_unread_at_a_signal_is_no_failed_write(case: ExecCase) -> None:
    # The child does not read the payload. So writing the payload fails when the signal ends the
    # child. But the signal was the first cause of the end.
    events = case.events()
    request: ExecRequest = {"program": P.never_read, "args": [events.path], "stdin": b"x" * 2**20}
    with case.exec.start(**request, within_s=20) as shim:
        events.wait("ready")
        shim.signal("TERM")
        seen = shim.finish()
    expect("the error", error_of(seen), {})
    expect("success, exit_code", (seen.result["success"], seen.result["exit_code"]), (False, 143))


@requires("EXEC-SIGNAL-01", pitfalls=["H1"])
def test_stderr_ends_with_the_annotation_of_sigterm(case: ExecCase) -> None:
    expect("stderr", interrupted(case, "TERM").stderr, endswith(BY_SIGTERM))


@requires("EXEC-SIGNAL-02", pitfalls=["H2"])
def test_sigint_to_the_caller_is_130_and_no_success(case: ExecCase) -> None:
    result = interrupted(case, "INT").result
    expect("success and exit_code", (result["success"], result["exit_code"]), (False, 130))


@requires("EXEC-SIGNAL-02", pitfalls=["H2"])
def test_stderr_ends_with_the_annotation_of_sigint(case: ExecCase) -> None:
    expect("stderr", interrupted(case, "INT").stderr, endswith(BY_SIGINT))


def signals_of_child(case: ExecCase, name: str, *, group: bool = False) -> list[str]:
    """Return the signals that the child has logged after its caller got a signal.

    group: True if the whole process group of the caller got the signal.
    """
    events = case.events()
    # The child ends a quarter of a second after the signal. So it would log a second signal too.
    rules = ["--on", "TERM:exit:0:250", "--on", "INT:exit:0:250"]
    with case.exec.start(program=P.siglog, args=[events.path, *rules], within_s=20) as shim:
        events.wait("ready")
        (shim.signal_group if group else shim.signal)(name)
        shim.finish()
    return [event.rest[0] for event in events.all("signal") if event.rest[0] != "CONT"]


@requires("EXEC-SIGNAL-01", pitfalls=["H1", "H27"], overlap=0.4)
def test_the_child_of_a_caller_that_gets_sigterm_gets_sigterm(case: ExecCase) -> None:
    expect("signals that the child logged", signals_of_child(case, "TERM"), ["TERM"])


@requires("EXEC-SIGNAL-02", pitfalls=["H2"], overlap=0.4)
def test_the_child_of_a_caller_that_gets_sigint_gets_sigint(case: ExecCase) -> None:
    expect("signals that the child logged", signals_of_child(case, "INT"), ["INT"])


def members_without_signal(case: ExecCase, name: str) -> list[int]:
    """Signal the caller; return the members of the group that have not logged the signal."""
    events = case.events()
    rule = f"{name}:exit:0:120"
    args = [events.path, "--on", rule, "--members", "2", *["--member-on", rule] * 2]
    with case.exec.start(program=P.siglog, args=args, within_s=20) as shim:
        leader = events.wait("ready").pid
        shim.signal(name)
        shim.finish()
    group = {leader, *(event.pid for event in events.all("member"))}
    return sorted(group - {event.pid for event in events.all("signal") if event.rest[0] == name})


@requires("EXEC-SIGNAL-01", pitfalls=["B5"], overlap=0.4)
def test_each_member_of_the_group_gets_the_callers_sigterm(case: ExecCase) -> None:
    expect("members that logged no SIGTERM", members_without_signal(case, "TERM"), [])


@requires("EXEC-SIGNAL-02", pitfalls=["B5"], overlap=0.4)
def test_each_member_of_the_group_gets_the_callers_sigint(case: ExecCase) -> None:
    expect("members that logged no SIGINT", members_without_signal(case, "INT"), [])


@requires("EXEC-SIGNAL-02", pitfalls=["B10"], overlap=0.4)
def test_ctrl_c_reaches_the_child_once(case: ExecCase) -> None:
    # A terminal signals the foreground group. The caller is in this group; the child is not.
    expect("signals that the child logged", signals_of_child(case, "INT", group=True), ["INT"])


@requires("EXEC-SIGNAL-01", pitfalls=["H26"])
def test_a_caller_that_is_pid_1_handles_sigterm(case: ExecCase) -> None:
    if os.geteuid() != 0:
        raise HostLacks("root", "only root can make a pid namespace")
    events = case.events()
    with case.exec.start(
        program=P.slow_exit, args=[events.path, "8000"], state=["--pidns"], within_s=20
    ) as shim:
        events.wait("ready")
        shim.signal("TERM")
        result = shim.finish().result
    expect("success and exit_code", (result["success"], result["exit_code"]), (False, 143))


@pytest.mark.parametrize("name", SIGNALS)
@requires("EXEC-SIGNAL-03", pitfalls=["H4"])
def test_a_child_that_exits_0_on_the_signal_does_not_change_the_result(
    case: ExecCase, name: str
) -> None:
    rule = f"{name}:exit:0"
    result = interrupted(case, name, "--on", rule, program=P.siglog).result
    expect("success and exit_code", (result["success"], result["exit_code"]), (False, CODE[name]))


@pytest.mark.parametrize("name", SIGNALS)
@requires("EXEC-SIGNAL-04", pitfalls=["H5"], overlap=6.0)
def test_a_child_that_ignores_the_signal_is_killed_and_the_result_is_the_signals(
    case: ExecCase, name: str
) -> None:
    seen = interrupted(case, name, "--ignore", name, program=P.siglog)
    expect(
        "exit_code, and processes left running",
        (seen.result["exit_code"], [proc.describe() for proc in seen.lasting]),
        (CODE[name], []),
    )


@pytest.mark.parametrize("name", SIGNALS)
@requires("EXEC-SIGNAL-04", pitfalls=["H5"], overlap=6.0, timing=True)
def test_a_child_that_ignores_the_signal_has_the_whole_grace(case: ExecCase, name: str) -> None:
    events = case.events()
    with case.exec.start(
        program=P.siglog, args=[events.path, "--ignore", name], within_s=20
    ) as shim:
        events.wait("ready")
        sent = shim.signal(name)
        seen = shim.finish()
    # The bound is exact, because the caller cannot forward the signal before it was sent.
    expect(
        "time from the signal to the end of the run, in ms",
        elapsed_ms(sent.earliest_ns, seen.end.t_ns),
        at_least(case.grace_ms),
    )


@requires("EXEC-SIGNAL-04", pitfalls=["H5", "H20"], overlap=6.0, timing=True)
@pytest.mark.parametrize("program", ["siglog", "stop_self"], ids=["running", "stopped"])
def test_the_grace_ends_for_a_child_that_ignores_the_signal(case: ExecCase, program: str) -> None:
    events = case.events()
    with case.exec.start(
        program=getattr(P, program), args=[events.path, "--ignore", "TERM"], within_s=20
    ) as shim:
        events.wait("stopping" if program == "stop_self" else "ready")
        sent = shim.signal("TERM")
        seen = shim.finish()
    expect_within(
        case,
        "from the signal to the end of the run",
        sent,
        seen.end,
        case.grace_ms + 2 * case.tick_ms,
    )


@requires("EXEC-SIGNAL-04", pitfalls=["H3"], overlap=6.0)
def test_a_background_job_that_ignores_sigint_is_killed(case: ExecCase) -> None:
    # A shell without job control starts its background jobs with SIGINT ignored.
    events = case.events()
    script = f'"{P.slow_exit}" "$0" {FOREVER_MS} & wait'
    with case.exec.start(program="/bin/sh", args=["-c", script, events.path], within_s=20) as shim:
        events.wait("ready")
        shim.signal("INT")
        seen = shim.finish()
    expect(
        "exit_code, and processes left running",
        (seen.result["exit_code"], [proc.describe() for proc in seen.lasting]),
        (130, []),
    )


PAIRS = [("TERM", "TERM"), ("INT", "INT"), ("TERM", "INT"), ("INT", "TERM")]


@pytest.mark.parametrize(("first", "second"), PAIRS)
@requires("EXEC-SIGNAL-05", pitfalls=["H6"], overlap=1.0)
def test_a_second_signal_does_not_kill_the_caller(case: ExecCase, first: str, second: str) -> None:
    events = case.events()
    with case.exec.start(
        program=P.siglog, args=[events.path, "--on", "USR1:exit:0"], within_s=20
    ) as shim:
        child = events.wait("ready").pid
        shim.signal(first)
        events.wait("signal")
        shim.signal(second)
        # The child ends only when both signals have arrived. So both arrived during the run.
        send(child, "USR1")
        seen = shim.finish()
    expect(
        "how the shim ended, and the result's exit_code",
        (seen.shim_exit, seen.result["exit_code"]),
        (("exited", 0), CODE[first]),
    )


@requires("EXEC-SIGNAL-05", pitfalls=["H6"], overlap=7.0, timing=True)
def test_a_second_signal_does_not_restart_the_grace(case: ExecCase) -> None:
    events = case.events()
    with case.exec.start(program=P.siglog, args=[events.path], within_s=20) as shim:
        events.wait("ready")
        sent = shim.signal("TERM")
        pass_time(case.grace_ms // 2)
        shim.signal("TERM")
        seen = shim.finish()
    expect_within(
        case,
        "from the first signal to the end of the run",
        sent,
        seen.end,
        case.grace_ms + 2 * case.tick_ms,
    )


def code_after(case: ExecCase, first: str, second: str, phase_ms: int) -> int | None:
    """Return the exit_code of a run whose caller gets a second signal after it has handled the
    first."""
    events = case.events(f"events-{phase_ms}")
    with case.exec.start(
        program=P.siglog, args=[events.path, "--on", "USR1:exit:0"], within_s=20
    ) as shim:
        child = events.wait("ready").pid
        pass_time(phase_ms)
        shim.signal(first)
        until(lambda: signal.Signals[f"SIG{first}"] not in shim.status().mask("ShdPnd"))
        shim.signal(second)
        events.wait("signal")
        send(child, "USR1")
        code: int | None = shim.finish().result["exit_code"]
        return code


@pytest.mark.parametrize(("first", "second"), [("TERM", "INT"), ("INT", "TERM")])
@requires("EXEC-SIGNAL-17", overlap=1.0)
def test_the_first_of_two_signals_names_the_result(case: ExecCase, first: str, second: str) -> None:
    # The phases differ by less than a tick. So an implementation that polls may see both signals at
    # once.
    codes = [code_after(case, first, second, phase * case.tick_ms // 3) for phase in range(3)]
    with for_the_prompt(case):
        what = f"exit_code of three runs that got {first} and then {second}"
        expect(what, codes, [CODE[first]] * 3)


def signal_in_the_grace(case: ExecCase, name: str) -> ObservedRun:
    """Signal the caller during the grace period of a deadline, and end the child after that."""
    events = case.events()
    with case.exec.start(
        program=P.siglog,
        args=[events.path, "--on", "USR1:exit:0"],
        timeout_ms=300,
        within_s=20,
    ) as shim:
        child = events.wait("ready").pid
        if not until(lambda: bool(events.all("signal")), 4):
            why = "the deadline's SIGTERM did not come: there is no grace to be in"
            raise blocked_or_late(case, ["EXEC-KILL-01"], why)
        shim.signal(name)
        send(child, "USR1")
        return shim.finish()


@pytest.mark.parametrize("name", SIGNALS)
@requires("EXEC-SIGNAL-06", pitfalls=["H8"], overlap=2.0)
def test_a_signal_in_a_deadlines_grace_leaves_the_result_a_timeout(
    case: ExecCase, name: str
) -> None:
    seen = signal_in_the_grace(case, name)
    expect(
        "how the shim ended, exit_code, and whether stderr names the signal",
        (seen.shim_exit, seen.result["exit_code"], SAYS[name] in seen.stderr),
        (("exited", 0), None, False),
    )


@pytest.mark.parametrize("name", SIGNALS)
@requires("EXEC-SIGNAL-07", pitfalls=["H8"], capability="exec.termination", overlap=2.0)
def test_a_signal_that_did_not_decide_the_result_is_listed(case: ExecCase, name: str) -> None:
    seen = signal_in_the_grace(case, name)
    expect("pending_signals", seen.result["pending_signals"], [f"SIG{name}"])


@requires("EXEC-SIGNAL-07", capability="exec.termination")
def test_a_signal_that_decided_the_result_is_not_listed(case: ExecCase) -> None:
    result = interrupted(case, "TERM").result
    expect("pending_signals of a run whose result names the signal", result["pending_signals"], [])


@pytest.mark.parametrize("first", ["deadline", "TERM", "INT"])
@requires("EXEC-KILL-10", overlap=2.0)
def test_a_signal_in_the_grace_is_not_forwarded(case: ExecCase, first: str) -> None:
    # The group has got a signal and is in its grace period. A second signal must not reach the
    # child.
    events = case.events()
    limit: Limits = {"timeout_ms": 300} if first == "deadline" else {}
    args = [events.path, "--on", "USR1:exit:0"]
    with case.exec.start(program=P.siglog, args=args, within_s=20, **limit) as shim:
        child = events.wait("ready").pid
        if not limit:
            shim.signal(first)
        if not until(lambda: bool(events.all("signal")), 4):
            why = "the first signal did not come: there is no grace to be in"
            raise blocked_or_late(case, ["EXEC-KILL-01", "EXEC-SIGNAL-01"], why)
        shim.signal("TERM" if first == "INT" else "INT")
        # Wait long enough for an implementation that forwards the signal.
        pass_time(3 * case.tick_ms)
        send(child, "USR1")
        shim.finish()
    logged = [event.rest[0] for event in events.all("signal")]
    wanted = ["TERM" if limit else first]
    expect("how the child handles SIGINT and SIGTERM", [n for n in logged if n in SIGNALS], wanted)


@pytest.mark.parametrize("name", SIGNALS)
@requires("EXEC-RESULT-03", overlap=1.5)
def test_a_signal_after_the_childs_exit_does_not_change_the_result(
    case: ExecCase, name: str
) -> None:
    with after_the_childs_exit(case, code=7) as shim:
        sent = shim.signal(name)
        seen = shim.finish()
    if seen.raw is None:
        raise over_before_signal(shim.t_started_ns, sent)
    got = (seen.result["exit_code"], SAYS[name] in seen.stderr)
    expect("exit_code, and whether stderr names the signal", got, (7, False))
