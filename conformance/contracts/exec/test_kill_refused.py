"""Group members that the caller cannot signal, for example after sudo.

The run must end nevertheless.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from boxspec.api import HostLacks, Late, expect, expect_within, requires
from boxspec.api import programs as P
from contracts.exec.answers import ObservedRun
from contracts.exec.client import ExecCase
from contracts.exec.host import need_other_users
from contracts.exec.moments import FOREVER_MS, settled, until
from contracts.exec.spawn_io import of_another_user, outcome
from contracts.shared.files import program_at

CALLER = 54332
# In this time the child must change its user, even on a busy machine. The deadline comes after it.
SETTLED_MS = 900
# If a member survives SIGKILL, the run returns this long after SIGKILL.
GIVEN_UP_MS = 1000
# These tests rely on requirements: a child may gain privileges, its end is noticed, deadlines work,
# and the rest of a group is killed. If one of them is broken, it is reported in place of these
# tests.
NEEDED_FOR_EXIT = ["EXEC-CHILD-11", "EXEC-WAIT-01"]
NEEDED_FOR_DEADLINE = [*NEEDED_FOR_EXIT, "EXEC-TIMEOUT-01"]
NEEDED_FOR_MEMBERS = [
    *NEEDED_FOR_EXIT,
    "EXEC-ORPHAN-02",
    "EXEC-ORPHAN-03",
    "EXEC-ORPHAN-04",
    "EXEC-ORPHAN-05",
]


def becomes_roots(case: ExecCase) -> str:
    """Return a set-user-ID program. The caller starts it, and it runs as root."""
    need_other_users("only root can start a child as another user")
    case.open_to_others()
    place = program_at(case.tmp / "become-owner", P.become_owner)
    place.chmod(0o4755)
    tried = subprocess.run([place, P.exit_with, "0"], user=CALLER, check=False)
    if tried.returncode != 0:
        why = "a set-user-ID program has no effect in the folder of the tests"
        raise HostLacks("other users", f"{why} (status {tried.returncode})")
    return str(place)


def past_its_deadline(case: ExecCase, life_ms: str) -> ObservedRun:
    """Run past the deadline, with a child that cannot be signalled and lives for `life_ms`."""
    events = case.events()
    line = 'exec "$0" "$@" </dev/null >/dev/null 2>&1'
    seen = of_another_user(
        case.exec.run(
            program="/bin/sh",
            args=["-c", line, becomes_roots(case), P.slow_exit, events.path, life_ms],
            timeout_ms=SETTLED_MS,
            state=["--uid", str(CALLER)],
            within_s=20,
            expect_result=False,
        )
    )
    settled(events)
    expect("how the run ended", outcome(seen), "no exit code")
    return seen


@requires("EXEC-KILL-15", overlap=8.0, timing=True, needs=NEEDED_FOR_DEADLINE)
def test_a_child_that_cannot_be_signalled_does_not_block_the_run(case: ExecCase) -> None:
    seen = past_its_deadline(case, FOREVER_MS)
    limit_ms = SETTLED_MS + case.grace_ms + GIVEN_UP_MS + case.tick_ms
    ready = case.events().wait("ready")
    what = "from the child's ready to the end of the run"
    expect_within(case, what, ready.cause, seen.end, limit_ms)


@pytest.mark.parametrize("beyond_ms", [-2500, 500], ids=["in_the_grace", "after_the_grace"])
@requires("EXEC-KILL-15", overlap=7.0, timing=True, needs=NEEDED_FOR_DEADLINE)
def test_the_end_of_a_child_that_cannot_be_signalled_ends_the_run(
    case: ExecCase, beyond_ms: int
) -> None:
    # After the grace period the run waits for one more second. The later end lies in the middle of
    # this second.
    events = case.events()
    seen = past_its_deadline(case, str(SETTLED_MS + case.grace_ms + beyond_ms))
    if not events.all("end"):
        raise Late("the child ends before the run", "its end", "the end of the run first")
    end = events.wait("end")
    what = "from the child's end to the end of the run"
    expect_within(case, what, end.cause, seen.end, case.tick_ms)


@requires("EXEC-KILL-15", overlap=0.5, timing=True, needs=NEEDED_FOR_EXIT)
def test_the_exit_of_a_child_that_cannot_be_signalled_ends_the_run(case: ExecCase) -> None:
    events = case.events()
    seen = of_another_user(
        case.exec.run(
            program=becomes_roots(case),
            args=[P.slow_exit, events.path, "100"],
            state=["--uid", str(CALLER)],
            within_s=20,
            expect_result=False,
        )
    )
    expect("how the child ended", outcome(seen), "exit 0")
    end = events.wait("end")
    what = "from the child's end to the end of the run"
    expect_within(case, what, end.cause, seen.end, case.tick_ms)


def exit_leaving_members(case: ExecCase, members: int) -> ObservedRun:
    """Run a child that exits with 7 and leaves this many members that the caller cannot signal."""
    events, fifo = case.events(), case.fifo("open")
    start = f'"$0" "$1" "$2" {FOREVER_MS} </dev/null >/dev/null 2>&1 & ' * members
    # The caller's user may not be able to enter the folder of the programs.
    gate = program_at(case.tmp / "gate", P.gate)
    words = [becomes_roots(case), P.slow_exit, events.path, str(gate), str(fifo)]
    with case.exec.start(
        program="/bin/sh",
        args=["-c", f'{start}exec "$3" "$2" "$4" --exit 7', *words],
        state=["--uid", str(CALLER)],
        within_s=20,
        expect_result=False,
    ) as shim:
        until(lambda: len(events.all("ready")) > members or not shim.running)
        if shim.running:
            case.open_gate(fifo)
        seen = of_another_user(shim.finish())
    settled(events, count=members + 1)
    expect("how the child ended", outcome(seen), "exit 7")
    return seen


@requires("EXEC-KILL-15", overlap=2.5, timing=True, needs=NEEDED_FOR_MEMBERS)
def test_a_member_that_cannot_be_signalled_does_not_block_the_run(case: ExecCase) -> None:
    seen = exit_leaving_members(case, 1)
    end = case.events().wait("end")
    what = "from the child's end to the end of the run"
    expect_within(case, what, end.cause, seen.end, GIVEN_UP_MS + case.tick_ms)


@pytest.mark.parametrize("members", [0, 1, 2])
@requires("EXEC-KILL-16", capability="exec.termination", overlap=2.5, needs=NEEDED_FOR_MEMBERS)
def test_surviving_members_are_counted(case: ExecCase, members: int) -> None:
    if re.search("hidepid=(?!0|off)", Path("/proc/self/mountinfo").read_text(errors="replace")):
        raise HostLacks("other users", "/proc is mounted with hidepid: it hides other users")
    seen = exit_leaving_members(case, members)
    expect("group_left", seen.result["group_left"], members)
