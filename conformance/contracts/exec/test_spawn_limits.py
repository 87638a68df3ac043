"""EXEC-SPAWN: arguments that are too large, bytes that cannot be passed, and resource limits."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from boxspec.api import (
    Failure,
    NotMeasured,
    ShimBroke,
    expect,
    expect_no_longer,
    requires,
    satisfies,
)
from boxspec.api import programs as P
from contracts.exec.answers import ObservedRun
from contracts.exec.client import ExecCase
from contracts.exec.host import need_other_users, unused_user
from contracts.exec.moments import extra_descendants
from contracts.exec.silence import answers, crash
from contracts.exec.spawn_io import SPAWN_FAILURE, error_of, outcome, shell
from contracts.shared.callers import many_descriptors, need_descriptors
from contracts.shared.requests import Command, ExecRequest

PAGE = os.sysconf("SC_PAGE_SIZE")
# The kernel's limit for one argument or variable, without its NUL.
LARGEST = 32 * PAGE - 1
PIECE = 65_536
# Arguments and environment together may use a quarter of the stack limit, and at most 6 MiB.
ROOM = os.sysconf("SC_ARG_MAX")
FITTING, TOO_MANY = max(1, min(8, ROOM // 2 // PIECE)), 104
TOO_FEW = "the shim does not start with two processes of its user"


def length_of(word: str) -> Command:
    return shell("echo ${#1}", word)


@requires("EXEC-SPAWN-05", pitfalls=["A21"])
@pytest.mark.parametrize("fill", ["x", "é"])
def test_the_largest_argument_works_and_one_byte_more_is_a_spawn_failure(
    case: ExecCase, fill: str
) -> None:
    if ROOM < 2 * LARGEST:
        raise NotMeasured(f"the stack limit leaves {ROOM} bytes for arguments")
    word = fill * (LARGEST // len(fill.encode()))
    word = "x" * (LARGEST - len(word.encode())) + word
    works, refused = (
        case.exec.run(**shell('printf %s "$1" | wc -c', word)),
        case.exec.run(**length_of(word + "x")),
    )
    expect(
        f"length of an argument of {LARGEST} bytes in the child, and the run with one more",
        (works.stdout.split(), outcome(refused)),
        ([b"%d" % LARGEST], SPAWN_FAILURE),
    )


@requires("EXEC-SPAWN-05", pitfalls=["A22"])
def test_an_argument_list_above_the_limit_is_a_spawn_failure(case: ExecCase) -> None:
    piece = "x" * PIECE
    works, refused = (
        case.exec.run(**shell("echo $#", *[piece] * FITTING)),
        case.exec.run(**shell(":", *[piece] * TOO_MANY)),
    )
    expect(
        f"the run with {FITTING} arguments of 64 KiB, and with {TOO_MANY}",
        (works.stdout, outcome(refused)),
        (b"%d\n" % FITTING, SPAWN_FAILURE),
    )


@requires("EXEC-SPAWN-05", pitfalls=["A22"])
def test_an_environment_above_the_limit_is_a_spawn_failure(case: ExecCase) -> None:
    def pairs(count: int) -> list[tuple[str, str]]:
        return [(f"N{i}", "x" * PIECE) for i in range(count)]

    works = case.exec.run(program="/bin/true", env=pairs(FITTING))
    refused = case.exec.run(program="/bin/true", env=pairs(TOO_MANY))
    expect(
        f"the run with {FITTING} variables of 64 KiB, and with {TOO_MANY}",
        (outcome(works), outcome(refused)),
        ("exit 0", SPAWN_FAILURE),
    )


@requires("EXEC-SPAWN-06", pitfalls=["A18"])
@pytest.mark.parametrize("where", ["program", "args", "name", "value", "current_dir"])
def test_a_nul_byte_is_a_spawn_failure_and_cuts_nothing(case: ExecCase, where: str) -> None:
    starts = case.tmp / "starts"
    good: ExecRequest = {
        "program": P.count_start,
        "args": [str(starts)],
        "env": [("A", "1")],
        "current_dir": str(case.tmp),
    }
    bad: dict[str, ExecRequest] = {
        "program": {"program": f"{P.count_start}\0x"},
        "args": {"args": [f"{starts}\0x"]},
        "name": {"env": [("A\0B", "1")]},
        "value": {"env": [("A", "1\0EVIL=1")]},
        "current_dir": {"current_dir": f"{case.tmp}\0x"},
    }
    refused = case.exec.run(**(good | bad[where]))
    before = starts.exists()
    allowed = case.exec.run(**good)
    expect(
        "the run with a NUL, whether it started, and the run without",
        (outcome(refused), before, outcome(allowed)),
        (SPAWN_FAILURE, False, "exit 0"),
    )


@requires("EXEC-SPAWN-07")
@pytest.mark.parametrize("name", ["", "=", "A=B", "=A", "A="])
def test_an_impossible_variable_name_is_a_spawn_failure(case: ExecCase, name: str) -> None:
    starts = case.tmp / "starts"
    request: Command = {"program": P.count_start, "args": [str(starts)]}
    refused = case.exec.run(**request, env=[("GOOD", "1"), (name, "x")])
    before = starts.exists()
    allowed = case.exec.run(**request, env=[("GOOD", "1"), ("A_B", "x")])
    expect(
        "the run with the bad name, whether it started, and a run with a good name",
        (outcome(refused), before, outcome(allowed)),
        (SPAWN_FAILURE, False, "exit 0"),
    )


def held_run(case: ExecCase, *state: str) -> tuple[ObservedRun, dict[str, str]]:
    """Run with three pipes, and return the answer.

    Return also the files of the caller's descriptors, or an empty dict if they are unknown.
    """
    with case.exec.start(
        program=P.exit_with,
        args=["7"],
        stdin=b"",
        state=state,
        expect_result=False,
        within_s=10,
        hold=True,
    ) as shim:
        shim.wait_response()
        known = shim.exchange.held and shim.running
        if known:
            shim.at_rest()
        place = Path(f"/proc/{shim.shim_pid}/fd")
        found = {each.name: str(each.readlink()) for each in place.iterdir()} if known else {}
        return shim.finish(), found


def kind_of(target: str) -> str:
    """Return the target of a link in /proc/PID/fd without the number of a pipe or socket."""
    return target.partition("[")[0]


def outcome_with_descriptors(
    case: ExecCase, limit: int, usual: dict[str, str], refused: list[ObservedRun]
) -> str:
    """Return the outcome of a run with this many descriptors; empty if the shim does not start.

    A run that ends in a spawn failure is added to `refused`.
    """
    state = ["--nofile", str(limit)]
    try:
        seen, descriptors = held_run(case, *state)
    except (Failure, ShimBroke) as why:
        return f"{limit}: {why}" if answers(case, state) else ""
    if seen.survivors or seen.zombies:
        return f"{limit}: a child is left: {[each.describe() for each in seen.survivors]}"
    if seen.raw is None:
        crashed = crash(case, seen, state)
        return crashed and f"{limit}: {crashed}"
    if len(descriptors) > len(usual):
        return f"{limit}: {len(descriptors)} descriptors are left, after another run {len(usual)}"
    # Another file may have the number of a closed descriptor. Descriptors 1 and 2 differ in each
    # run, so only 0 is compared.
    if descriptors and kind_of(descriptors.get("0", "")) != kind_of(usual.get("0", "")):
        return f"{limit}: descriptor 0 of the caller was closed"
    if outcome(seen) == SPAWN_FAILURE:
        refused.append(seen)
    # A result and a spawn failure are both correct.
    elif error_of(seen).get("kind") is not None:
        return f"{limit}: {outcome(seen)}"
    return outcome(seen)


RIGHT = {SPAWN_FAILURE, "exit 7"}

# How much longer than another run a run may take that is refused at once.
AT_ONCE_MS = 400

# After this number of successes in a row, more descriptors do not change the outcome.
ENOUGH = 6


def sweep(
    case: ExecCase, limits: range, usual: dict[str, str], refused: list[ObservedRun]
) -> Iterator[str]:
    """Yield the outcomes up to the first wrong one. A shim that hangs may hang at each limit."""
    right = 0
    for limit in limits:
        each = outcome_with_descriptors(case, limit, usual, refused)
        if each:
            yield each
        if each not in {*RIGHT, ""}:
            return
        right = right + 1 if each == "exit 7" else 0
        if right == ENOUGH:
            return


@requires("EXEC-SPAWN-11", pitfalls=["A24"], overlap=True, timing=True)
def test_running_out_of_descriptors_is_an_error_at_every_step(case: ExecCase) -> None:
    control, usual = held_run(case)
    refused: list[ObservedRun] = []
    decided = list(sweep(case, range(3, 36), usual, refused))
    if not decided:
        raise NotMeasured("the shim needs more than 35 descriptors to start")
    expect(
        "how the run ended under each RLIMIT_NOFILE from 3 on",
        set(decided),
        satisfies(
            lambda got: got <= RIGHT and "exit 7" in got,
            "spawn failures first, then the child's own end",
        ),
    )
    expect_at_once(case, refused, control)


def expect_at_once(case: ExecCase, refused: list[ObservedRun], control: ObservedRun) -> None:
    """Expect that the slowest of the refused runs took little longer than a usual run."""
    if refused:
        slowest = max(refused, key=lambda seen: seen.elapsed_ms)
        what = "how much longer a refused run took than a run that was not refused"
        expect_no_longer(case, what, slowest, control, AT_ONCE_MS)


def witness(case: ExecCase, user: int) -> subprocess.Popen[bytes]:
    """Start a process of the same user that logs signals. The limit counts this process too."""
    case.open_to_others()
    # Copy the program: the kit may be in root's home directory, which that user cannot read.
    program = shutil.copy(P.siglog, case.tmp)
    path = case.events("witness").path
    return subprocess.Popen([program, path], user=user, group=user, extra_groups=[])


@requires("EXEC-SPAWN-12", pitfalls=["A25", "A26"])
def test_a_refused_process_is_a_spawn_error_and_signals_no_process(case: ExecCase) -> None:
    need_other_users("only root can set a process limit for another user")
    user = unused_user()
    other = witness(case, user)
    try:
        case.events("witness").wait("ready")
        free = ["--uid", str(user), "--block", "USR2"]
        state = [*free, "--nproc", "2"]
        if not answers(case, state):
            raise NotMeasured(TOO_FEW)
        # Some implementations start a server for their children if the limit permits it.
        with case.exec.start(program="/bin/true", state=free, hold=True) as shim:
            shim.wait_response()
            servers = extra_descendants(shim)
        with case.exec.start(
            program="/bin/true", state=state, hold=True, expect_result=False
        ) as shim:
            shim.wait_response()
            mask = shim.status().mask("SigBlk")
            left = extra_descendants(shim, len(servers))
            seen = shim.finish()
        crashed = "" if seen.raw is not None else crash(case, seen, state)
        if seen.raw is None and not crashed:
            raise NotMeasured(TOO_FEW)
        alive, signals = other.poll() is None, case.events("witness").all("signal")
    finally:
        other.kill()
        other.wait()
    expect(
        "the run, its children, the caller's mask, and a bystander of the same user",
        (crashed or outcome(seen), left, mask, alive, signals),
        (SPAWN_FAILURE, [], {12}, True, []),
        error_of(seen),
    )


def outcome_with_processes(case: ExecCase, processes: int, ended: list[ObservedRun]) -> str:
    """Return the outcome of a run with this many processes and threads, or a text about
    leftovers. A run with an answer is added to `ended`."""
    # The child lives for 0.6 s, so a run that gives up early would leave it.
    state = ["--uid", str(unused_user()), "--nproc", str(processes)]
    if not answers(case, state):
        return ""
    try:
        seen: ObservedRun = case.exec.run(
            program="/bin/sleep",
            args=["0.6"],
            stdin=b"",
            state=state,
            expect_result=False,
            within_s=10,
        )
    except (Failure, ShimBroke) as why:
        return f"{processes}: {why}"
    if seen.lasting:
        return f"{processes}: a child is left: {[each.describe() for each in seen.lasting]}"
    if seen.raw is None:
        crashed = crash(case, seen, state)
        return crashed and f"{processes}: {crashed}"
    ended.append(seen)
    return error_of(seen).get("kind") or outcome(seen)


@requires("EXEC-SPAWN-15", pitfalls=["A25"], overlap=6.0, timing=True, needs=["EXEC-LEAK-02"])
def test_running_out_of_processes_leaves_nothing_at_every_step(case: ExecCase) -> None:
    need_other_users("only root can set a process limit for another user")
    decided: list[str] = []
    ended: list[ObservedRun] = []
    # Stop at the second success in a row: one success is not enough, because threads that start
    # later may need one more process.
    for processes in range(1, 40):
        if each := outcome_with_processes(case, processes, ended):
            decided.append(each)
        if len(decided) > 1 and decided[-2:] == ["exit 0"] * 2:
            break
    if not decided:
        raise NotMeasured("the shim needs more than 39 processes and threads to start")
    expect(
        "outcomes with a growing RLIMIT_NPROC, from the lowest limit at which the shim starts",
        decided,
        satisfies(
            lambda got: set(got) <= {"execution", "exit 0"} and got[-1] == "exit 0",
            "execution errors first, then the child's own end",
        ),
    )
    state = ["--uid", str(unused_user())]
    control = case.exec.run(program="/bin/true", stdin=b"", state=state, within_s=10)
    expect_at_once(case, [seen for seen in ended if error_of(seen)], control)


@requires("EXEC-SPAWN-16", pitfalls=["C1"])
def test_descriptors_are_not_closed_one_by_one_up_to_the_limit(case: ExecCase) -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    need_descriptors(4096)
    # No caller has a descriptor of this number. An implementation that closes it tries all numbers.
    state = ["--nofile", str(most), "--deny-closing", str(most // 2)]
    run: Command = {"program": P.exit_with, "args": ["7"]}
    control = case.exec.run(**run, state=state[:2], within_s=10)
    seen = case.exec.run(**run, state=state, expect_result=False, within_s=10)
    got = outcome(seen) if seen.raw is not None else f"the shim was {seen.shim_exit}"
    expect(
        f"a run where {most} descriptors may be open, and where no number above half may be closed",
        (outcome(control), got),
        ("exit 7", "exit 7"),
    )


@requires("EXEC-SPAWN-17", needs=["EXEC-STDIN-03"])
def test_a_run_works_with_more_descriptors_than_select_supports(case: ExecCase) -> None:
    # The run has a distant deadline, because a timer may need a descriptor too.
    seen = case.exec.run(
        **shell("cat; cat /dev/null >&2; exit 7"),
        stdin=b"abc",
        timeout_ms=600_000,
        state=many_descriptors(),
    )
    expect("how the child ended, and its output", (outcome(seen), seen.stdout), ("exit 7", b"abc"))
