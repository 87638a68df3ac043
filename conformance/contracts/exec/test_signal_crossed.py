"""Signals to the caller in combination with options of the run and with other signals."""

from __future__ import annotations

import os
from typing import Any

import pytest

from boxspec.api import (
    NotMeasured,
    ShimProcess,
    at_least,
    expect,
    expect_within,
    for_the_prompt,
    requires,
)
from boxspec.api import programs as P
from boxspec.judge.verdict import NotApplicable
from contracts.exec.answers import ObservedRun
from contracts.exec.caller_signals import CODE, after_the_childs_exit
from contracts.exec.client import ExecCase
from contracts.exec.moments import (
    LINGER_MS,
    SH,
    elapsed_ms,
    over_before_signal,
    pass_time,
    send,
    until,
)
from contracts.exec.spawn_io import outcome, shell, shell_request
from contracts.shared.after_effects import expect_acts_as_before
from contracts.shared.runs import RunResult
from contracts.shared.signals import ignoring

PAYLOAD = b"x" * 2**20

# For each label: the capabilities that it needs, and the options of a run whose child waits without
# reading.
OPTIONS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "a deadline": ((), {"timeout_ms": 60_000}),
    "a payload": ((), {"stdin": PAYLOAD}),
    "a payload that may fail": (
        ("exec.stdin_failure",),
        {"stdin": PAYLOAD, "stdin_failure": "ignore"},
    ),
    "debug": (("exec.debug",), {"debug": True}),
    "a cap": (("exec.cap",), {"max_output_bytes": 2**20}),
    "all of them": (
        ("exec.debug", "exec.cap"),
        {"timeout_ms": 60_000, "stdin": PAYLOAD, "debug": True, "max_output_bytes": 2**20},
    ),
}


def expect_signal_reaches_child(case: ExecCase, name: str, option: str) -> None:
    needed, fields = OPTIONS[option]
    for each in needed:
        if each not in case.capabilities:
            raise NotApplicable.without(each)
    events = case.events()
    args = [events.path, "--on", f"{name}:print:4"]
    with case.exec.start(program=P.siglog, args=args, within_s=20, **fields) as shim:
        child = events.wait("ready").pid
        # Wait until the caller sleeps, so that only the signal wakes it.
        pass_time(4 * case.tick_ms)
        shim.signal(name)
        arrived = until(lambda: bool(events.all("signal")), 8)
        if not arrived:
            send(child, "KILL")
        seen = shim.finish()
    got = (arrived, seen.result["exit_code"], seen.stdout)
    with for_the_prompt(case):
        expect(
            "whether the child got the signal, exit_code, stdout", got, (True, CODE[name], b"abcd")
        )


@pytest.mark.parametrize("option", OPTIONS)
@requires("EXEC-SIGNAL-01", overlap=0.5)
def test_the_callers_sigterm_reaches_the_child_with_any_option(case: ExecCase, option: str) -> None:
    expect_signal_reaches_child(case, "TERM", option)


@pytest.mark.parametrize("option", OPTIONS)
@requires("EXEC-SIGNAL-02", overlap=0.5)
def test_the_callers_sigint_reaches_the_child_with_any_option(case: ExecCase, option: str) -> None:
    expect_signal_reaches_child(case, "INT", option)


# Ends of a run that only some implementations support, each with the capability that it needs.
ENDS: dict[str, tuple[str, dict[str, Any]]] = {
    "debug": ("exec.debug", {"program": P.emit, "args": ["--out", b"copied".hex()], "debug": True}),
    "a cap": ("exec.cap", {"program": P.flood, "args": ["1000", "0"], "max_output_bytes": 10}),
    "a payload that failed": (
        "exec.stdin_failure",
        {
            **{"program": P.close_early, "args": ["/dev/null", "--in", "--then", "exit:0"]},
            **{"stdin": b"x" * 200_000, "stdin_failure": "ignore"},
        },
    ),
}


@pytest.mark.parametrize("name", CODE)
@pytest.mark.parametrize("how", ENDS)
@requires("EXEC-SIGNAL-09", overlap=0.3)
def test_after_a_run_with_an_option_a_signal_acts_on_the_caller_as_before(
    case: ExecCase, how: str, name: str
) -> None:
    needed, request = ENDS[how]
    if needed not in case.capabilities:
        raise NotApplicable.without(needed)
    shim = case.exec.start(hold=True, expect_result=False, within_s=12, **request)
    shim.wait_response()
    expect_acts_as_before(case, shim, name)


@pytest.mark.parametrize(("first", "second"), [("TERM", "INT"), ("INT", "TERM"), ("TERM", "TERM")])
@requires("EXEC-SIGNAL-07", capability="exec.termination", overlap=1.0, needs=["EXEC-SIGNAL-05"])
def test_a_signal_after_the_one_that_decided_the_result_is_listed(
    case: ExecCase, first: str, second: str
) -> None:
    events = case.events()
    args = [events.path, "--on", "USR1:exit:0"]
    with case.exec.start(program=P.siglog, args=args, within_s=20) as shim:
        child = events.wait("ready").pid
        shim.signal(first)
        events.wait("signal")
        shim.signal(second)
        # The child waits before it ends, because an implementation may handle signals in another
        # thread, which takes time.
        pass_time(3 * case.tick_ms)
        send(child, "USR1")
        result = shim.finish().result
    got = (result["signal"], result["pending_signals"])
    expect("signal and pending_signals", got, (f"SIG{first}", [f"SIG{second}"]))


def finished_after_late_signal(
    case: ExecCase, shim: ShimProcess[ObservedRun], name: str
) -> ObservedRun:
    """Send a signal to a caller whose child has ended, and return the finished run."""
    sent = shim.signal(name)
    seen = shim.finish()
    # The run may return at once, before the caller has noticed the signal.
    is_listed = seen.raw is not None and seen.result["pending_signals"]
    if not is_listed and elapsed_ms(sent.t_ns, shim.exchange.answered_ns()) < case.tick_ms / 4:
        raise over_before_signal(shim.t_started_ns, sent)
    return seen


@pytest.mark.parametrize("name", CODE)
@requires("EXEC-SIGNAL-07", capability="exec.termination", overlap=1.5, needs=["EXEC-RESULT-03"])
def test_a_signal_after_the_childs_exit_is_listed(case: ExecCase, name: str) -> None:
    with after_the_childs_exit(case, code=7) as shim:
        seen = finished_after_late_signal(case, shim, name)
    with for_the_prompt(case):
        expect("pending_signals", seen.result["pending_signals"], [f"SIG{name}"])


@requires("EXEC-RESULT-01", overlap=1.5, needs=["EXEC-RESULT-03"])
def test_a_signal_after_exit_code_0_leaves_a_success(case: ExecCase) -> None:
    with after_the_childs_exit(case, code=0) as shim:
        sent = shim.signal("TERM")
        seen = shim.finish()
    if seen.raw is None:
        raise over_before_signal(shim.t_started_ns, sent)
    got = (seen.result["success"], seen.result["exit_code"])
    with for_the_prompt(case):
        expect("success and exit_code", got, (True, 0))


def result_of_signal_after_the_cap(case: ExecCase, name: str) -> RunResult:
    """Send a signal to the caller after output beyond the cap has ended the child.

    A process outside the group holds stderr, so that the run lasts longer than its child.
    """
    events = case.events()
    line = '"$1" "$2" --setsid --keep err; exec "$3" 101 0'
    words = (P.orphan, events.path, P.flood)
    leader = ([SH], [os.fsencode(P.flood)])
    request = shell_request(line, *words) | {"max_output_bytes": 100}
    with case.exec.start(**request, expect_result=False, within_s=15) as shim:
        events.wait("orphan")
        until(lambda: not any(each.alive and each.cmdline[:1] in leader for each in shim.tree()))
        pass_time(2 * case.tick_ms)
        return finished_after_late_signal(case, shim, name).result


@pytest.mark.parametrize("name", CODE)
@requires("EXEC-CAP-01", capability=("exec.cap", "exec.termination"), overlap=1.5)
def test_a_signal_after_the_cap_does_not_change_the_result(case: ExecCase, name: str) -> None:
    result = result_of_signal_after_the_cap(case, name)
    got = (result["success"], result["exit_code"], result["truncated"], result["termination"])
    expect("success, exit_code, truncated and termination", got, (False, None, True, "cap"))


@requires("EXEC-SIGNAL-07", capability=("exec.cap", "exec.termination"), overlap=1.5)
def test_a_signal_after_the_cap_is_listed(case: ExecCase) -> None:
    pending = result_of_signal_after_the_cap(case, "TERM")["pending_signals"]
    expect("pending_signals", pending, ["SIGTERM"])


@requires("EXEC-RESULT-10", capability=("exec.cap", "exec.termination"), overlap=1.5)
def test_the_duration_covers_the_reading_of_output_after_the_cap(case: ExecCase) -> None:
    duration_ms = result_of_signal_after_the_cap(case, "INT")["duration_ms"]
    # The signal came two ticks after the end of the child, before the run returned.
    expect("duration_ms", duration_ms, at_least(2 * case.tick_ms))


@requires("EXEC-SIGNAL-07", capability="exec.termination", overlap=1.5, needs=["EXEC-SIGNAL-06"])
def test_each_signal_that_did_not_decide_the_result_is_listed(case: ExecCase) -> None:
    events = case.events()
    args = [events.path, "--on", "USR1:exit:0"]
    with case.exec.start(program=P.siglog, args=args, timeout_ms=300, within_s=20) as shim:
        child = events.wait("ready").pid
        events.wait("signal")
        for name in CODE:
            shim.signal(name)
            pass_time(case.tick_ms)
        send(child, "USR1")
        result = shim.finish().result
    expect("pending_signals", sorted(result["pending_signals"]), ["SIGINT", "SIGTERM"])


@requires("EXEC-DRAIN-08", overlap=1.8, timing=True)
def test_a_signal_does_not_extend_the_time_for_the_rest_of_the_output(case: ExecCase) -> None:
    events = case.events()
    args = [events.path, "--setsid", "--keep", "out"]
    with case.exec.start(program=P.orphan, args=args, expect_result=False) as shim:
        ended = events.wait("end").cause
        pass_time(LINGER_MS // 2)
        sent = shim.signal("TERM")
        seen = shim.finish()
        answered_ns = shim.exchange.answered_ns()
    # The time of an answer comes from a file, and may be a few milliseconds too early.
    if elapsed_ms(sent.t_ns, answered_ns) < -case.tick_ms / 4:
        raise over_before_signal(shim.t_started_ns, sent)
    limit_ms = LINGER_MS + case.tick_ms
    expect_within(case, "from the child's end to the return", ended, seen.end, limit_ms)


@requires("EXEC-SIGNAL-10", overlap=1.5, needs=["EXEC-DRAIN-08"])
def test_ignored_signals_are_handled_while_the_rest_of_the_output_is_read(case: ExecCase) -> None:
    # On a busy machine the run may be over before the masks are read.
    for attempt in range(4):
        read = masks_while_output_is_read(case, str(attempt))
        if read is None:
            continue
        during, after, seen = read
        if len(during) < 2:
            raise NotMeasured("no thread of the caller handles the signals: another process does")
        expect("SIGINT and SIGTERM that are handled", after, during, {"exit": outcome(seen)})
        return
    raise NotMeasured("in each attempt the run is over before the masks are read")


def masks_while_output_is_read(
    case: ExecCase, attempt: str
) -> tuple[list[int], list[int], ObservedRun] | None:
    """Return the signals that are handled while the child runs, those that are handled after its
    end, and the run.

    Return None if the run ended before its masks were read. A process outside the group holds the
    output, so that the run lasts longer than its child. The test compares masks and sends no
    signal, because a signal could arrive after the run.
    """
    events, leader = case.events(f"orphan-{attempt}"), case.events(f"leader-{attempt}")
    fifo = case.fifo(f"gate-{attempt}")
    line = '"$1" "$2" --setsid --keep out,err; exec "$3" "$4" "$5" --exit 7'
    words = (P.orphan, events.path, P.gate, leader.path, fifo)
    state = ignoring("TERM", "INT")
    with case.exec.start(**shell(line, *words), state=state, within_s=15) as shim:
        events.wait("orphan")
        child = leader.wait("ready").pid
        during = handled(shim)
        case.open_gate(fifo)
        until(lambda: child not in {each.pid for each in shim.tree() if each.alive})
        pass_time(2 * case.tick_ms)
        after = handled(shim)
        pass_time(case.tick_ms)
        is_over = bool(shim.exchange.answered_ns())
        seen = shim.finish()
    return None if is_over else (during, after, seen)


def handled(shim: ShimProcess[ObservedRun]) -> list[int]:
    """Return those of SIGINT and SIGTERM that have a handler, or are blocked so that they can be
    read."""
    status = shim.at_rest()
    return sorted({2, 15} & (status.mask("SigCgt") | status.mask("SigBlk")))
