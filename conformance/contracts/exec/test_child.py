"""EXEC-CHILD: group, session, signals and limits that the child starts with."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from boxspec.api import Box, Idle, expect, requires
from boxspec.api import programs as P
from boxspec.subject.observe import procs
from contracts.exec.spawn_io import outcome, report, reported, shell
from contracts.shared.signals import THREE, expect_the_three_at_default, ignoring, signals_in

T = TypeVar("T")


@requires("EXEC-CHILD-01", pitfalls=["B1"])
@pytest.mark.parametrize("stdin", ["inherit", "null", b"x" * 10], ids=["inherit", "null", "bytes"])
def test_the_child_leads_its_own_group(box: Box, stdin: str | bytes) -> None:
    place = box.tmp / "report"
    line = 'test -p /dev/stdin && cat >/dev/null; exec "$0" "$1"'
    box.exec.run(program="/bin/sh", args=["-c", line, P.report, str(place)], stdin=stdin)
    said = reported(place)
    expect("the child's group, against its pid", said["pgid"], said["pid"])


@requires("EXEC-CHILD-01", pitfalls=["B1"])
def test_the_group_is_the_childs_at_its_first_instruction(box: Box) -> None:
    said = report(box)
    expect("group and pid as a static program reads them first", said["pgid"], said["pid"])


@requires("EXEC-CHILD-02", pitfalls=["B9"])
@pytest.mark.parametrize("state", [[], ["--setsid"]], ids=["in-a-session", "leads-one"])
def test_the_child_stays_in_the_callers_session(box: Box, state: list[str]) -> None:
    events, fifo = box.events(), box.fifo("gate")
    with box.exec.start(program=P.gate, args=[events.path, str(fifo)], state=state) as live:
        child = events.wait("ready").pid
        sessions = os.getsid(child), os.getsid(live.shim_pid)
    expect("the child's session, against the caller's", sessions[0], sessions[1])


@requires("EXEC-CHILD-06", pitfalls=["D4", "D1"])
@pytest.mark.parametrize(
    "names",
    [[], ["INT"], ["TERM"], ["PIPE"], ["INT", "TERM", "PIPE"]],
    ids=["none", "INT", "TERM", "PIPE", "all"],
)
def test_int_term_and_pipe_are_at_their_default_in_the_child(box: Box, names: list[str]) -> None:
    expect_the_three_at_default(report(box, state=ignoring(*names)))


@requires("EXEC-CHILD-06", pitfalls=["D1"])
def test_a_pipeline_ends_quietly_under_a_caller_that_ignores_sigpipe(box: Box) -> None:
    line = "yes | head -n 1"
    seen = box.exec.run(
        program="/bin/sh", args=["-c", line], state=["--ignore", "PIPE"], within_s=10
    )
    expect(
        f"what `{line}` prints on both streams",
        (outcome(seen), seen.stdout, seen.stderr),
        ("exit 0", b"y\n", b""),
    )


# EXEC-CHILD-06 is about the first three; the C library keeps the others for itself.
NOT_ASKED = {*THREE, 32, 33}


def of_the_caller(box: Box, state: list[str], look: Callable[[Idle], T]) -> T:
    """What a shim that was started in this state has when it is idle.

    A run-time may change that before any run. Its child has either, signal by signal: some give
    back what they changed.
    """
    with box.idle(*state) as idle:
        return look(idle)


@requires("EXEC-CHILD-07")
@pytest.mark.parametrize(
    "names",
    [[], ["HUP"], ["QUIT"], ["USR1", "USR2", "ALRM"], ["TSTP", "TTIN", "TTOU", "CONT"], ["RTMAX"]],
    ids=["none", "HUP", "QUIT", "user", "job-control", "real-time"],
)
def test_other_signals_are_ignored_in_the_child_as_by_the_caller(
    box: Box, names: list[str]
) -> None:
    state = ignoring(*names)
    got = signals_in(report(box, state=state)["sigign"]) - NOT_ASKED
    wanted = {int(signal.Signals["SIG" + name]) for name in names}
    if got != wanted:
        changed = wanted ^ (of_the_caller(box, state, lambda idle: idle.mask("SigIgn")) - NOT_ASKED)
        got, wanted = got - changed, wanted - changed
    expect("signals that the child ignores", got, wanted)


@requires("EXEC-CHILD-07", pitfalls=["D2"])
@pytest.mark.parametrize(
    "names",
    [[], ["USR1"], ["HUP", "QUIT", "ALRM"], ["PIPE"], ["INT", "USR2"], ["RTMAX"]],
    ids=["none", "USR1", "three", "PIPE", "INT", "real-time"],
)
def test_the_childs_mask_is_the_callers(box: Box, names: list[str]) -> None:
    state = [word for name in names for word in ("--block", name)]
    got = signals_in(report(box, state=state)["sigblk"])
    wanted = {int(signal.Signals["SIG" + name]) for name in names}
    if got != wanted:
        changed = wanted ^ of_the_caller(box, state, lambda idle: idle.mask("SigBlk"))
        got, wanted = got - changed, wanted - changed
    expect("signals that are blocked in the child", got, wanted)


@requires("EXEC-CHILD-08", pitfalls=["C12"])
def test_limits_umask_and_priority_are_the_callers(box: Box) -> None:
    nice = min(os.getpriority(os.PRIO_PROCESS, 0) + 3, 19)
    state = ["--nofile", "211", "--core", "0", "--umask", "027", "--nice", str(nice)]
    said = report(box, state=state)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    got = (*said["rlimits"]["nofile"], said["rlimits"]["core"][0], said["umask"], said["nice"])
    wanted = (211, hard, 0, 0o027, nice)
    if got != wanted:
        wanted = of_the_caller(box, state, what_it_passes_on)
    expect("open files soft and hard, core size, umask, niceness", got, wanted)


LIMITS = {
    "nofile": resource.RLIMIT_NOFILE,
    "core": resource.RLIMIT_CORE,
    "nproc": resource.RLIMIT_NPROC,
}


def what_it_passes_on(idle: Idle) -> tuple[int, int, int, int, int]:
    files, core = idle.limits(resource.RLIMIT_NOFILE), idle.limits(resource.RLIMIT_CORE)
    return (*files, core[0], idle.umask, idle.nice)


@requires("EXEC-CHILD-08", pitfalls=["C12"])
def test_without_special_limits_the_child_has_the_callers_own(box: Box) -> None:
    events, fifo, place = box.events(), box.fifo("gate"), box.tmp / "report"
    line = '"$1" "$2"; exec "$3" "$4" "$5"'
    with box.exec.start(**shell(line, P.report, place, P.gate, events.path, fifo)) as live:
        events.wait("ready")
        # A run-time may raise a limit for itself, and give its children what it was started with.
        own, first = (
            {name: list(procs.limits(pid, each)) for name, each in LIMITS.items()}
            for pid in (live.shim_pid, live.warden.pid)
        )
        umask = int(live.status()["Umask"], 8)
    said = reported(place)
    got = {name: said["rlimits"][name] for name in LIMITS}
    wanted = {name: got[name] if got[name] == first[name] else own[name] for name in LIMITS}
    expect(
        "limits and umask of the child, against the caller's",
        (got, said["umask"]),
        (wanted, umask),
        {"what the caller was started with": first},
    )


# Of a process, as /proc tells it: the field of status or stat, or the file.
PASSED_ON: dict[str, Callable[[dict[str, str]], str]] = {
    "processors": lambda told: told["Cpus_allowed"],
    "scheduling": lambda told: told["policy"],
    "out-of-memory": lambda told: told["oom_score_adj"],
    "no-new-privileges": lambda told: told["NoNewPrivs"],
}
# Of /proc/PID/stat, counted behind the name.
POLICY = 41 - 3


def passed_on(told: str) -> dict[str, str]:
    """What `TELL` printed, or the same files as the kit reads them."""
    score, stat, *status = told.splitlines()
    fields = dict(line.split(":", 1) for line in status if ":" in line)
    fields["policy"] = stat.rpartition(")")[2].split()[POLICY]
    return {**{key: value.strip() for key, value in fields.items()}, "oom_score_adj": score}


TOLD = ("oom_score_adj", "stat", "status")
TELL = "; ".join(f"cat /proc/$$/{name}" for name in TOLD)


@requires("EXEC-CHILD-11")
@pytest.mark.parametrize("what", PASSED_ON)
def test_what_a_child_inherits_by_itself_is_the_callers(box: Box, what: str) -> None:
    with box.exec.start(program="/bin/sh", args=["-c", f"{TELL}; :"], hold=True) as live:
        live.wait_response()
        caller = "".join(Path(f"/proc/{live.shim_pid}/{name}").read_text() for name in TOLD)
        seen = live.finish()
    look = PASSED_ON[what]
    got, wanted = look(passed_on(seen.stdout.decode())), look(passed_on(caller))
    expect(f"{what} of the child, against the caller's", got, wanted)
