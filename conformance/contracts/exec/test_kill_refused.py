"""Members of the group that the caller may not signal, as behind sudo: a run ends all the same."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from boxspec.api import Box, HostLacks, Late, expect, expect_within, requires
from boxspec.api import programs as P
from contracts.exec.answers import ObservedRun
from contracts.exec.moments import FOREVER_MS, settled, until
from contracts.exec.spawn_io import of_another_user, outcome
from contracts.shared.files import program_at

CALLER = 54332
# The child must have become somebody else's before its deadline, also on a machine that is busy.
SETTLED_MS = 900
# From SIGKILL to the return, if somebody lives on.
GIVEN_UP_MS = 1000
# Where a child gains no privileges, a deadline ends nothing, or an end is noticed late, and where
# the rest of a group is not looked after, whoever may be signalled is told of first.
EXITED = ["EXEC-CHILD-11", "EXEC-WAIT-01"]
PAST = [*EXITED, "EXEC-TIMEOUT-01"]
BEHIND = [*EXITED, "EXEC-ORPHAN-02", "EXEC-ORPHAN-03", "EXEC-ORPHAN-04", "EXEC-ORPHAN-05"]


def becomes_roots(box: Box) -> str:
    """A program that starts as the caller's and is root's from then on."""
    if os.geteuid() != 0:
        raise HostLacks("root", "a child of another user needs root")
    box.open_to_others()
    place = program_at(box.tmp / "become-owner", P.become_owner)
    place.chmod(0o4755)
    tried = subprocess.run([place, P.exit_with, "0"], user=CALLER, check=False)
    if tried.returncode != 0:
        why = "no program becomes another user's in the folder of cases"
        raise HostLacks("other users", f"{why} (status {tried.returncode})")
    return str(place)


def past_its_deadline(box: Box, life_ms: str) -> ObservedRun:
    """A run past its deadline; its child is out of reach and lives for so long."""
    events = box.events()
    line = 'exec "$0" "$@" </dev/null >/dev/null 2>&1'
    seen = of_another_user(
        box.exec.run(
            program="/bin/sh",
            args=["-c", line, becomes_roots(box), P.slow_exit, events.path, life_ms],
            timeout_ms=SETTLED_MS,
            state=["--uid", str(CALLER)],
            within_s=20,
            expect_result=False,
        )
    )
    settled(events)
    expect("the end of the run", outcome(seen), "no exit code")
    return seen


@requires("EXEC-KILL-15", overlap=8.0, timing=True, needs=PAST)
def test_a_child_that_may_not_be_signalled_does_not_hold_the_run(box: Box) -> None:
    seen = past_its_deadline(box, FOREVER_MS)
    limit_ms = SETTLED_MS + box.grace_ms + GIVEN_UP_MS + box.tick_ms
    ready = box.events().wait("ready")
    what = "from the child's ready to the end of the run"
    expect_within(box, what, ready.cause, seen.end, limit_ms)


@pytest.mark.parametrize("beyond_ms", [-2500, 500], ids=["in_the_grace", "after_the_grace"])
@requires("EXEC-KILL-15", overlap=7.0, timing=True, needs=PAST)
def test_the_end_of_a_child_that_may_not_be_signalled_ends_the_run(
    box: Box, beyond_ms: int
) -> None:
    # After the grace it is given a second more: the later end falls into the middle of that.
    events = box.events()
    seen = past_its_deadline(box, str(SETTLED_MS + box.grace_ms + beyond_ms))
    if not events.all("end"):
        raise Late("the child ends before it is given up", "its end", "the end of the run first")
    end = events.wait("end")
    what = "from the child's end to the end of the run"
    expect_within(box, what, end.cause, seen.end, box.tick_ms)


@requires("EXEC-KILL-15", overlap=0.5, timing=True, needs=EXITED)
def test_the_exit_of_a_child_that_may_not_be_signalled_ends_the_run(box: Box) -> None:
    events = box.events()
    seen = of_another_user(
        box.exec.run(
            program=becomes_roots(box),
            args=[P.slow_exit, events.path, "100"],
            state=["--uid", str(CALLER)],
            within_s=20,
            expect_result=False,
        )
    )
    expect("the child's end", outcome(seen), "exit 0")
    end = events.wait("end")
    what = "from the child's end to the end of the run"
    expect_within(box, what, end.cause, seen.end, box.tick_ms)


def leave_behind(box: Box, members: int) -> ObservedRun:
    """A child that exits 7 and leaves so many members that the caller may not signal."""
    events, fifo = box.events(), box.fifo("open")
    start = f'"$0" "$1" "$2" {FOREVER_MS} </dev/null >/dev/null 2>&1 & ' * members
    words = [becomes_roots(box), P.slow_exit, events.path, P.gate, str(fifo)]
    with box.exec.start(
        program="/bin/sh",
        args=["-c", f'{start}exec "$3" "$2" "$4" --exit 7', *words],
        state=["--uid", str(CALLER)],
        within_s=20,
        expect_result=False,
    ) as live:
        until(lambda: len(events.all("ready")) > members or not live.running)
        if live.running:
            box.open_gate(fifo)
        seen = of_another_user(live.finish())
    settled(events, count=members + 1)
    expect("the child's end", outcome(seen), "exit 7")
    return seen


@requires("EXEC-KILL-15", overlap=2.5, timing=True, needs=BEHIND)
def test_a_member_that_may_not_be_signalled_does_not_hold_the_end_of_a_child(box: Box) -> None:
    seen = leave_behind(box, 1)
    end = box.events().wait("end")
    what = "from the child's end to the end of the run"
    expect_within(box, what, end.cause, seen.end, GIVEN_UP_MS + box.tick_ms)


@pytest.mark.parametrize("members", [0, 1, 2])
@requires("EXEC-KILL-16", capability="exec.termination", overlap=2.5, needs=BEHIND)
def test_members_that_live_on_are_counted(box: Box, members: int) -> None:
    if re.search("hidepid=(?!0|off)", Path("/proc/self/mountinfo").read_text()):
        raise HostLacks("other users", "/proc shows nobody the processes of others")
    seen = leave_behind(box, members)
    expect("group_left", seen.result["group_left"], members)
