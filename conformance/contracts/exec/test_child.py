"""EXEC-CHILD: process group, session, signals and limits of a child at its start."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from boxspec.api import Idle, expect, requires
from boxspec.api import programs as P
from boxspec.subject.observe import procs
from contracts.exec.client import ExecCase
from contracts.exec.spawn_io import outcome, report, reported, shell
from contracts.shared import inherited
from contracts.shared.caller_state import expect_passed_on
from contracts.shared.inherited import UNUSUAL_LIMITS, expect_the_callers
from contracts.shared.signals import THREE, expect_the_three_at_default, ignoring, signals_in

T = TypeVar("T")


@requires("EXEC-CHILD-01", pitfalls=["B1"])
@pytest.mark.parametrize("stdin", ["inherit", "null", b"x" * 10], ids=["inherit", "null", "bytes"])
def test_the_child_leads_its_own_group(case: ExecCase, stdin: str | bytes) -> None:
    place = case.tmp / "report"
    line = 'test -p /dev/stdin && cat >/dev/null; exec "$0" "$1"'
    case.exec.run(program="/bin/sh", args=["-c", line, P.report, str(place)], stdin=stdin)
    found = reported(place)
    expect("the child's process group, compared with its pid", found["pgid"], found["pid"])


@requires("EXEC-CHILD-01", pitfalls=["B1"])
def test_the_group_is_the_childs_at_its_first_instruction(case: ExecCase) -> None:
    found = report(case)
    expect(
        "process group and pid that a static program reads before anything else",
        found["pgid"],
        found["pid"],
    )


@requires("EXEC-CHILD-02", pitfalls=["B9"])
@pytest.mark.parametrize("state", [[], ["--setsid"]], ids=["in-a-session", "leads-one"])
def test_the_child_stays_in_the_callers_session(case: ExecCase, state: list[str]) -> None:
    events, fifo = case.events(), case.fifo("gate")
    with case.exec.start(program=P.gate, args=[events.path, str(fifo)], state=state) as shim:
        child = events.wait("ready").pid
        sessions = os.getsid(child), os.getsid(shim.shim_pid)
    expect("the child's session, compared with the caller's", sessions[0], sessions[1])


@requires("EXEC-CHILD-06", pitfalls=["D4", "D1"])
@pytest.mark.parametrize(
    "names",
    [[], ["INT"], ["TERM"], ["PIPE"], ["INT", "TERM", "PIPE"]],
    ids=["none", "INT", "TERM", "PIPE", "all"],
)
def test_int_term_and_pipe_are_at_their_default_in_the_child(
    case: ExecCase, names: list[str]
) -> None:
    expect_the_three_at_default(report(case, state=ignoring(*names)))


@requires("EXEC-CHILD-06", pitfalls=["D1"])
def test_a_pipeline_ends_quietly_under_a_caller_that_ignores_sigpipe(case: ExecCase) -> None:
    line = "yes | head -n 1"
    seen = case.exec.run(
        program="/bin/sh", args=["-c", line], state=["--ignore", "PIPE"], within_s=10
    )
    expect(
        f"what `{line}` prints on both streams",
        (outcome(seen), seen.stdout, seen.stderr),
        ("exit 0", b"y\n", b""),
    )


# SIGINT, SIGTERM and SIGPIPE belong to EXEC-CHILD-06. The C library reserves signals 32 and 33.
EXCLUDED = {*THREE, 32, 33}


def of_the_caller(case: ExecCase, state: list[str], read: Callable[[Idle], T]) -> T:
    """Return an attribute of an idle shim that was started in this state.

    A runtime may change its own signals before any run, and may restore them in its children. So in
    a child each signal may have the changed or the original value.
    """
    with case.idle(*state) as idle:
        return read(idle)


@requires("EXEC-CHILD-07")
@pytest.mark.parametrize(
    "names",
    [[], ["HUP"], ["QUIT"], ["USR1", "USR2", "ALRM"], ["TSTP", "TTIN", "TTOU", "CONT"], ["RTMAX"]],
    ids=["none", "HUP", "QUIT", "user", "job-control", "real-time"],
)
def test_other_signals_are_ignored_in_the_child_as_by_the_caller(
    case: ExecCase, names: list[str]
) -> None:
    state = ignoring(*names)
    got = signals_in(report(case, state=state)["sigign"]) - EXCLUDED
    wanted = {int(signal.Signals["SIG" + name]) for name in names}
    if got != wanted:
        changed = wanted ^ (of_the_caller(case, state, lambda idle: idle.mask("SigIgn")) - EXCLUDED)
        got, wanted = got - changed, wanted - changed
    expect("signals that the child ignores", got, wanted)


@requires("EXEC-CHILD-07", pitfalls=["D2"])
@pytest.mark.parametrize(
    "names",
    [[], ["USR1"], ["HUP", "QUIT", "ALRM"], ["PIPE"], ["INT", "USR2"], ["RTMAX"]],
    ids=["none", "USR1", "three", "PIPE", "INT", "real-time"],
)
def test_the_childs_mask_is_the_callers(case: ExecCase, names: list[str]) -> None:
    state = [word for name in names for word in ("--block", name)]
    got = signals_in(report(case, state=state)["sigblk"])
    wanted = {int(signal.Signals["SIG" + name]) for name in names}
    if got != wanted:
        changed = wanted ^ of_the_caller(case, state, lambda idle: idle.mask("SigBlk"))
        got, wanted = got - changed, wanted - changed
    expect("signals that are blocked in the child", got, wanted)


@requires("EXEC-CHILD-08", pitfalls=["C12"])
def test_limits_umask_and_priority_are_the_callers(case: ExecCase) -> None:
    found = report(case, state=UNUSUAL_LIMITS)
    expect_the_callers(case, found, UNUSUAL_LIMITS, inherited.LIMITS)


LIMITS = {
    "nofile": resource.RLIMIT_NOFILE,
    "core": resource.RLIMIT_CORE,
    "nproc": resource.RLIMIT_NPROC,
}


@requires("EXEC-CHILD-08", pitfalls=["C12"])
def test_without_special_limits_the_child_has_the_callers_own(case: ExecCase) -> None:
    events, fifo, place = case.events(), case.fifo("gate"), case.tmp / "report"
    line = '"$1" "$2"; exec "$3" "$4" "$5"'
    with case.exec.start(**shell(line, P.report, place, P.gate, events.path, fifo)) as shim:
        events.wait("ready")
        # A runtime may raise its own limit and still pass the original one to its children.
        own, first = (
            {name: list(procs.limits(pid, each)) for name, each in LIMITS.items()}
            for pid in (shim.shim_pid, shim.warden.pid)
        )
        umask = int(shim.status()["Umask"], 8)
    found = reported(place)
    got = {name: found["rlimits"][name] for name in LIMITS}
    wanted = {name: got[name] if got[name] == first[name] else own[name] for name in LIMITS}
    expect(
        "limits and umask of the child, compared with the caller's",
        (got, found["umask"]),
        (wanted, umask),
        {"what the caller was started with": first},
    )


# Attributes of a process, each with the function that finds it in the output of `passed_on`.
PASSED_ON: dict[str, Callable[[dict[str, str]], str]] = {
    "processors": lambda fields: fields["Cpus_allowed"],
    "scheduling": lambda fields: fields["policy"],
    "out-of-memory": lambda fields: fields["oom_score_adj"],
    "no-new-privileges": lambda fields: fields["NoNewPrivs"],
}
# Position of the scheduling policy in /proc/PID/stat, counted after the program's name.
POLICY = 41 - 3


def passed_on(text: str) -> dict[str, str]:
    """Parse the content of PROC_FILES, which a child has printed or the test has read."""
    score, stat, *status = text.splitlines()
    fields = dict(line.split(":", 1) for line in status if ":" in line)
    fields["policy"] = stat.rpartition(")")[2].split()[POLICY]
    return {**{key: value.strip() for key, value in fields.items()}, "oom_score_adj": score}


PROC_FILES = ("oom_score_adj", "stat", "status")
PRINT_FILES = "; ".join(f"cat /proc/$$/{name}" for name in PROC_FILES)


@requires("EXEC-CHILD-11")
@pytest.mark.parametrize("what", PASSED_ON)
def test_attributes_that_a_child_inherits_are_the_callers(case: ExecCase, what: str) -> None:
    with case.exec.start(program="/bin/sh", args=["-c", f"{PRINT_FILES}; :"], hold=True) as shim:
        shim.wait_response()
        caller = "".join(Path(f"/proc/{shim.shim_pid}/{name}").read_text() for name in PROC_FILES)
        seen = shim.finish()
    read = PASSED_ON[what]
    got, wanted = read(passed_on(seen.stdout.decode())), read(passed_on(caller))
    expect(f"{what} of the child, compared with the caller's", got, wanted)


@requires("EXEC-CHILD-11")
def test_a_running_child_has_the_identity_and_the_place_of_its_caller(case: ExecCase) -> None:
    events, fifo = case.events(), case.fifo("gate")
    with case.exec.start(program=P.gate, args=[events.path, str(fifo)]) as shim:
        expect_passed_on(shim.shim_pid, events.wait("ready").pid, case.exec.inside.name)
