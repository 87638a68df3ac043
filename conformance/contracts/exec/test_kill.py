"""EXEC-KILL: the order and the times of SIGTERM, grace period and SIGKILL for a process group."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from boxspec.api import Event, Late, NotApplicable, Stamp, at_least, expect, expect_within, requires
from boxspec.api import programs as P
from contracts.exec.answers import ObservedRun
from contracts.exec.caller_signals import signal_caller
from contracts.exec.client import ExecCase
from contracts.exec.moments import SETTLED_MS, expect_none_left, settled, until
from contracts.exec.spawn_io import shell
from contracts.shared.files import program_at
from contracts.shared.moments import attempted


def terms_by_process(events: list[Event]) -> Counter[int]:
    """Count the SIGTERMs that each process has logged, by process id."""
    return Counter(event.pid for event in events if event.rest[:1] == ["TERM"])


@requires("EXEC-KILL-01", pitfalls=["B5"], overlap=1.2)
def test_every_member_of_the_group_gets_the_deadlines_sigterm(case: ExecCase) -> None:
    events = case.events()
    members = [word for _ in range(3) for word in ("--member-on", "TERM:exit:0:120")]
    case.exec.run(
        program=P.siglog,
        args=[events.path, "--on", "TERM:exit:0:120", "--members", "3", *members],
        timeout_ms=SETTLED_MS,
        within_s=20,
    )
    leader = settled(case.events(), member=3).pid
    group = {leader, *(event.pid for event in events.all("member"))}
    expect(
        "members of the group that logged no SIGTERM",
        sorted(group - set(terms_by_process(events.all("signal")))),
        [],
        evidence={"events": [str(event) for event in events.all()]},
    )


@requires("EXEC-KILL-02", pitfalls=["G2"], overlap=6.0, timing=True)
def test_a_group_that_ignores_sigterm_is_not_killed_before_the_grace_is_over(
    case: ExecCase,
) -> None:
    events = case.events()
    seen = case.exec.run(
        program=P.siglog, args=[events.path, "--ignore", "TERM"], timeout_ms=300, within_s=20
    )
    # Without its handler the child would end at SIGTERM. So check that it was ready before the
    # deadline.
    settled(events)
    # Both bounds are exact, because the spawn comes after the shim's start, and SIGKILL comes
    # before the shim's end.
    expect(
        "how long the shim lived after the deadline, in ms",
        seen.elapsed_ms - 300,
        at_least(case.grace_ms),
    )


@requires("EXEC-KILL-02", pitfalls=["G2"], overlap=6.0, timing=True)
def test_a_group_that_survives_sigterm_is_ended_when_the_grace_is_over(case: ExecCase) -> None:
    events = case.events()
    with case.exec.start(program=P.siglog, args=[events.path], timeout_ms=300, within_s=20) as shim:
        sigterm = events.wait("signal", timeout_s=15)
        seen = shim.finish()
    expect_within(
        case,
        "from the child's SIGTERM to the end of the run",
        sigterm.effect,
        seen.end,
        case.grace_ms + case.tick_ms,
    )


@requires("EXEC-KILL-02", pitfalls=["G2"], overlap=6.0, timing=True)
def test_a_group_that_goes_on_writing_has_the_same_grace(case: ExecCase) -> None:
    events = case.events()
    line = '(trap "" TERM; while echo x; do sleep 0.2; done) & exec "$1" "$2"'
    run = shell(line, P.siglog, events.path)
    with case.exec.start(**run, timeout_ms=SETTLED_MS, within_s=20) as shim:
        sigterm = events.wait("signal", timeout_s=15)
        seen = shim.finish()
    if not seen.stdout.startswith(b"x\n"):
        raise Late("the member writes", "a first line", str(seen.stdout[:20]))
    what = "how long the shim lives after the deadline, in ms"
    expect(what, seen.elapsed_ms - SETTLED_MS, at_least(case.grace_ms))
    limit_ms = case.grace_ms + case.tick_ms
    what = "from the child's SIGTERM to the end of the run"
    expect_within(case, what, sigterm.effect, seen.end, limit_ms)


@requires("EXEC-KILL-02", pitfalls=["G2", "G24"], overlap=6.5, timing=True)
def test_members_that_end_one_by_one_do_not_extend_the_grace(case: ExecCase) -> None:
    events = case.events()
    members = [f"TERM:exit:0:{ms}" for ms in (900, 2000, 3200, 4300)]
    rules = [word for rule in members for word in ("--member-on", rule)]
    words = [events.path, "--members", str(len(members) + 1), *rules]
    with case.exec.start(program=P.siglog, args=words, timeout_ms=SETTLED_MS, within_s=20) as shim:
        sigterm = events.wait("signal", timeout_s=15)
        seen = shim.finish()
    settled(events, member=len(members) + 1)
    what = "from the first SIGTERM to the end of the run"
    limit_ms = case.grace_ms + case.tick_ms
    expect_within(case, what, sigterm.effect, seen.end, limit_ms)
    what = "how long the shim lives after the deadline, in ms"
    expect(what, seen.elapsed_ms - SETTLED_MS, at_least(case.grace_ms))


@requires("EXEC-KILL-02", pitfalls=["H8"], overlap=2.5)
def test_a_signal_to_the_caller_does_not_shorten_the_grace_of_a_deadline(case: ExecCase) -> None:
    events = case.events()
    words = [events.path, "--on", "TERM:exit:0:900"]
    with case.exec.start(program=P.siglog, args=words, timeout_ms=SETTLED_MS, within_s=20) as shim:
        events.wait("signal", timeout_s=15)
        shim.signal("INT")
        shim.finish()
    expect("how often the child ended without being killed", len(events.all("end")), 1)


@requires("EXEC-KILL-02", pitfalls=["G2"], overlap=6.0)
def test_sigkill_ends_all_members_that_ignore_sigterm(case: ExecCase) -> None:
    events = case.events()
    seen = case.exec.run(
        program=P.siglog,
        args=[events.path, "--ignore", "TERM", "--members", "2", "--member-ignore", "TERM"],
        timeout_ms=SETTLED_MS,
        within_s=20,
    )
    settled(case.events())
    expect_none_left(seen, events, member=2)


@requires("EXEC-KILL-03", pitfalls=["G4"], overlap=2.2)
def test_a_member_has_the_grace_although_the_leader_is_gone(case: ExecCase) -> None:
    events = case.events()
    member = ["--members", "1", "--member-on", "TERM:exit:0:800"]
    case.exec.run(
        program=P.siglog,
        args=[events.path, "--leader-exits-on", "TERM", *member],
        timeout_ms=SETTLED_MS,
        within_s=20,
    )
    settled(case.events())
    member_pid = events.all("member")[0].pid
    expect(
        "how often the slow member ended without being killed",
        len(events.all("end", pid=member_pid)),
        1,
        evidence={"events": [str(event) for event in events.all()]},
    )


@requires("EXEC-KILL-03", pitfalls=["G4", "H5"], overlap=2.2)
def test_after_a_signal_to_the_caller_a_member_has_the_grace_too(case: ExecCase) -> None:
    events = case.events()
    member = ["--members", "1", "--member-on", "TERM:exit:0:800"]
    args = [events.path, "--leader-exits-on", "TERM", *member]
    with case.exec.start(program=P.siglog, args=args, expect_result=False, within_s=20) as shim:
        events.wait("ready")
        signal_caller(case, shim)
    member_pid = events.all("member")[0].pid
    ends = len(events.all("end", pid=member_pid))
    expect("how often the slow member ended without being killed", ends, 1)


def outlived_leader(case: ExecCase) -> ObservedRun:
    """Run past the deadline, with a leader that ends on SIGTERM and a member that ignores it."""
    events = case.events()
    member = ["--members", "1", "--member-ignore", "TERM"]
    seen = case.exec.run(
        program=P.siglog,
        args=[events.path, "--leader-exits-on", "TERM", *member],
        timeout_ms=SETTLED_MS,
        within_s=20,
    )
    settled(case.events())
    return seen


@requires("EXEC-KILL-03", pitfalls=["G4", "I11"], overlap=6.5)
def test_a_member_that_ignores_sigterm_is_killed_although_the_leader_is_gone(
    case: ExecCase,
) -> None:
    seen = outlived_leader(case)
    expect_none_left(seen, case.events(), member=1)


@requires("EXEC-KILL-03", pitfalls=["G4"], overlap=6.5, timing=True)
def test_the_grace_is_the_groups_and_not_the_leaders(case: ExecCase) -> None:
    seen = outlived_leader(case)
    expect(
        "how long the shim lived after the deadline, in ms",
        seen.elapsed_ms - SETTLED_MS,
        at_least(case.grace_ms),
    )


@requires("EXEC-KILL-03", pitfalls=["G4", "G2"], overlap=6.0, timing=True)
def test_a_leader_that_ends_late_gives_its_group_no_second_grace(case: ExecCase) -> None:
    events = case.events()
    late = ["--on", "TERM:exit:0:2500", "--members", "1", "--member-ignore", "TERM"]
    args = [events.path, *late]
    with case.exec.start(program=P.siglog, args=args, timeout_ms=SETTLED_MS, within_s=20) as shim:
        sigterm = events.wait("signal", timeout_s=15)
        seen = shim.finish()
    attempted(events, member=1)
    limit_ms = case.grace_ms + case.tick_ms
    what = "from the leader's SIGTERM to the end of the run"
    expect_within(case, what, sigterm.effect, seen.end, limit_ms)


def last_end(case: ExecCase) -> Stamp:
    """Return the time of the last `end` event of the group.

    A process that is killed does not log it.
    """
    attempted(case.events(), end=1)
    return max(case.events().all("end"), key=lambda event: event.t_ns).cause


# Names that confuse a parser which splits the line in /proc/PID/stat at blanks or parentheses.
NAMES = ["x) Z 1 1", "a b c", "((", ") R (", "1 2 3 4 5 6 7"]


@pytest.mark.parametrize("name", NAMES)
@requires("EXEC-KILL-03", pitfalls=["G4"], overlap=2.2)
def test_a_member_with_any_name_has_the_grace(case: ExecCase, name: str) -> None:
    events, member = case.events(), program_at(case.tmp / name, P.siglog)
    # The member does not hold the pipes: otherwise the run would wait for it anyway, to read to end
    # of file.
    member_of = '"$1" "$0" --on TERM:exit:0:700 >/dev/null 2>&1'
    script = f'{member_of} & exec "$2" "$0" --leader-exits-on TERM'
    seen = case.exec.run(
        program="/bin/sh",
        args=["-c", script, events.path, str(member), P.siglog],
        timeout_ms=SETTLED_MS,
        within_s=20,
    )
    settled(events, 2)
    ends = [event.t_ns < seen.end.t_ns for event in events.all("end")]
    expect(
        "for each end of leader and member: whether it came before the end of the run",
        ends,
        [True, True],
    )


ENDING = {
    "at_once": ["--on", "TERM:exit:0"],
    "after_a_second": ["--on", "TERM:exit:0:1000"],
    "one_after_the_other": [
        *["--on", "TERM:exit:0:200", "--members", "2"],
        *["--member-on", "TERM:exit:0:700", "--member-on", "TERM:exit:0:1200"],
    ],
}


@pytest.mark.parametrize("how", ENDING)
@requires("EXEC-KILL-04", pitfalls=["G3", "G24"], overlap=2.5, timing=True, needs=["EXEC-KILL-01"])
def test_a_group_that_ends_early_ends_the_wait(case: ExecCase, how: str) -> None:
    events = case.events()
    seen = case.exec.run(
        program=P.siglog, args=[events.path, *ENDING[how]], timeout_ms=SETTLED_MS, within_s=20
    )
    settled(case.events())
    last = last_end(case)
    expect_within(case, "from the last member's end to the shim's", last, seen.end, case.tick_ms)


@requires("EXEC-KILL-05", pitfalls=["G5"], overlap=1.0, timing=True, needs=["EXEC-KILL-01"])
def test_a_leader_that_is_a_zombie_does_not_block_the_run(case: ExecCase) -> None:
    # The caller reaps late. While the leader is a zombie, a signal to its group is still possible.
    events = case.events()
    seen = case.exec.run(
        program=P.siglog,
        args=[events.path, "--on", "TERM:exit:3"],
        timeout_ms=500,
        within_s=20,
        state=["--lazy"],
    )
    settled(case.events())
    last = last_end(case)
    expect_within(case, "from the leader's end to the shim's", last, seen.end, case.tick_ms)


@pytest.mark.parametrize("count", [1, 3])
@requires("EXEC-KILL-05", pitfalls=["G6"], overlap=1.5, timing=True, needs=["EXEC-KILL-01"])
def test_unreaped_orphans_do_not_block_the_run(case: ExecCase, count: int) -> None:
    events = case.events()
    members = [word for _ in range(count) for word in ("--member-on", "TERM:exit:0:150")]
    seen = case.exec.run(
        program=P.siglog,
        args=[events.path, "--leader-exits-on", "TERM", "--members", str(count), *members],
        timeout_ms=SETTLED_MS,
        within_s=20,
        state=["--lazy"],
    )
    settled(case.events())
    last = last_end(case)
    expect_within(case, "from the last member's end to the shim's", last, seen.end, case.tick_ms)


NO_PROC = ["--no-proc"] if os.geteuid() == 0 else ["--own-user", "--no-proc"]


@requires("EXEC-KILL-13", needs=["EXEC-SIGNAL-01"])
def test_without_proc_no_member_runs_on(case: ExecCase) -> None:
    """Without /proc the implementation cannot list the members of the group. It may refuse the
    run."""
    place = case.tmp / "member"
    member = "trap '' TERM; : >\"$1\"; exec sleep 60"
    line = f'({member}) & trap "exit 0" TERM; while :; do sleep 1 & wait; done'
    with case.exec.start(
        **shell(line, place), state=NO_PROC, expect_result=False, within_s=20
    ) as shim:
        if not until(lambda: place.exists() or not shim.running, 10) or not place.exists():
            raise NotApplicable("the shim cannot run a program without /proc")
        shim.signal("TERM")
        seen = shim.finish()
    expect("members that are still alive", [each.describe() for each in seen.lasting], [])
