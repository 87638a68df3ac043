"""Tests with --backend while a resource or a system call is missing (see inside.yaml)."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from boxspec.api import Failure, NotMeasured, ShimBroke, expect, requires, satisfies
from boxspec.api import programs as P
from contracts.exec.answers import ObservedRun
from contracts.exec.client import ExecCase, RunOptions
from contracts.exec.host import need_other_users, unused_user
from contracts.exec.moments import expect_none_left, need_preload
from contracts.exec.silence import answers, crash
from contracts.exec.spawn_io import SPAWN_FAILURE, error_of, outcome, reported
from contracts.exec.test_spawn_filters import run_under
from contracts.exec.theft import Outcome, expect_wait_errors, wait_outcome
from contracts.shared.signals import signals_in

HERE = "exec.backend"
# `clone3 EPERM` is left out, because the probe of a sandbox needs a thread.
OLDER = ["all ENOSYS", "pidfd_open EPERM", "close_range EPERM", "pidfd_send_signal EPERM"]
# The command tries to write to $0, which every sandbox forbids, and always exits with 7. It starts
# no process.
WRITES = 'command : 2>/dev/null >"$0"; exit 7'
CONFINED = "exit 7"
DECLARED = "exit 7, and the result says that there was no sandbox"
UNDECLARED = "it wrote outside, and the result does not say that there was no sandbox"


@contextmanager
def file_outside(case: ExecCase) -> Iterator[Path]:
    """Yield a path in a world-writable directory that the test's sandbox does not permit."""
    place = case.folder.with_name(f"{case.folder.name}-outside")
    place.mkdir()
    place.chmod(0o777)
    try:
        yield place / "mark"
    finally:
        shutil.rmtree(place)


class Shortage:
    """Runs WRITES while a resource is missing, and describes the result."""

    def __init__(self, case: ExecCase, mark: Path) -> None:
        self._case = case
        self._mark = mark
        request = {"program": "/bin/sh", "args": ["-c", WRITES, str(mark)]}
        self._message = {"op": "exec.run", "request": request}
        control = case.send(self._message)
        got = (outcome(control), mark.exists())
        expect("the run without a sandbox, and whether its program wrote", got, (CONFINED, True))

    def run(self, state: list[str], on_unavailable: str = "degrade") -> tuple[str, int]:
        """Run once.

        Return a text about the result, and the number of descriptors that the shim has after it.
        The text is empty if the shim does not start.
        """
        around = self._case.exec.inside.use()
        around["backend"]["on_unavailable"] = on_unavailable
        self._mark.unlink(missing_ok=True)
        try:
            with self._case.launch(
                {**self._message, **around},
                ObservedRun,
                child=True,
                hold=True,
                state=state,
                expect_result=False,
                within_s=20,
            ) as shim:
                shim.wait_response()
                held = shim.at_rest().fd_count if shim.exchange.held and shim.running else 0
                seen = shim.finish()
        except (Failure, ShimBroke):
            if answers(self._case, state):
                raise
            return "", 0
        if left := [each.describe() for each in (*seen.survivors, *seen.zombies)]:
            return f"processes are left: {left}", held
        if on_unavailable == "refuse" and self._mark.exists():
            return "it wrote outside, although a run without a sandbox is refused", held
        return crash(self._case, seen, state) if seen.raw is None else self._words(seen), held

    def _words(self, seen: ObservedRun) -> str:
        if not seen.ok:
            # Only the kind of the error is compared: the message does not say whether a program ran
            # without a sandbox.
            return str(error_of(seen).get("kind"))
        if seen.result.get("enforcement") == "none":
            return f"{outcome(seen)}, and the result says that there was no sandbox"
        return UNDECLARED if self._mark.exists() else outcome(seen)


def expect_nothing_unconfined(case: ExecCase, state: list[str]) -> None:
    """Expect that no program runs without a sandbox, unless the policy and the result say so.

    Under `refuse` no run may be without a sandbox. Under `degrade` such a run is allowed if the
    result says so.
    """
    with file_outside(case) as mark:
        shortage = Shortage(case, mark)
        words = [shortage.run(state, word)[0] for word in ("refuse", "degrade")]
    if not any(words):
        raise NotMeasured("the shim itself does not start in this state")
    expect(
        "the runs under `refuse` and under `degrade`",
        words,
        satisfies(
            lambda got: (
                got[0] in {"policy_denied", "execution", CONFINED, ""}
                and got[1] in {"execution", CONFINED, DECLARED, ""}
            ),
            "refused, failed or confined; then failed, confined, or declared as unconfined",
        ),
    )


@requires("EXEC-SPAWN-11", capability=HERE, inside=True)
def test_inside_without_descriptors_for_a_sandbox_nothing_runs(case: ExecCase) -> None:
    expect_nothing_unconfined(case, ["--nofile", "9"])


EARLIER = {"execution", DECLARED}


def expect_ends(what: str, decided: list[str]) -> None:
    """Expect errors or unconfined runs while there is too little of `what`, and a run in the
    sandbox with enough.

    An unconfined run must be reported as unconfined.
    """
    expect(
        f"outcomes with more and more {what}, from the lowest limit at which the shim starts",
        decided,
        satisfies(
            lambda got: set(got) <= {*EARLIER, CONFINED} and got[-1] == CONFINED,
            "errors, or runs that say that they are not confined, and then confined ones",
        ),
    )


@requires("EXEC-SPAWN-11", capability=HERE, inside=True, overlap=True)
def test_inside_running_out_of_descriptors_is_an_error_at_every_step(case: ExecCase) -> None:
    decided: list[str] = []
    with file_outside(case) as mark:
        shortage = Shortage(case, mark)
        _, usual = shortage.run([])
        for limit in range(5, 45):
            words, held = shortage.run(["--nofile", str(limit)])
            if held > usual:
                words = f"{limit}: {held} descriptors are left, after another run {usual}"
            decided += [words] if words else []
            if words not in {"", CONFINED, *EARLIER} or decided[-3:] == [CONFINED] * 3:
                break
    if not decided:
        raise NotMeasured("the shim needs more than 44 descriptors to start")
    expect_ends("ends of runs under each RLIMIT_NOFILE", decided)


@requires("EXEC-SPAWN-15", capability=HERE, inside=True)
def test_inside_a_program_that_cannot_be_started_leaves_nothing(case: ExecCase) -> None:
    absent = case.folder / "absent"
    seen = case.exec.run(program=str(absent))
    left = [each.describe() for each in (*seen.survivors, *seen.zombies)]
    expect("the run, and processes that are left", (outcome(seen), left), (SPAWN_FAILURE, []))


@requires("EXEC-SPAWN-15", capability=HERE, inside=True, overlap=6.0)
def test_inside_running_out_of_processes_is_an_error_at_every_step(case: ExecCase) -> None:
    need_other_users("only root can set a process limit for another user")
    decided: list[str] = []
    case.open_to_others()
    with file_outside(case) as mark:
        shortage = Shortage(case, mark)
        for processes in range(1, 40):
            state = ["--uid", str(unused_user()), "--nproc", str(processes)]
            words, _ = shortage.run(state)
            decided += [words] if words else []
            if decided[-2:] == [CONFINED] * 2:
                break
    if set(decided) <= EARLIER:
        raise NotMeasured("another user has no sandbox here, whatever the limit")
    expect_ends("ends of runs under each RLIMIT_NPROC", decided)


@requires("EXEC-SPAWN-14", capability=HERE, inside=True)
def test_inside_without_a_thread_for_the_probe_nothing_runs(case: ExecCase) -> None:
    expect_nothing_unconfined(case, ["--seccomp-deny", "clone3:EPERM"])


@pytest.mark.parametrize("filter_", OLDER)
@requires("EXEC-SPAWN-14", capability=HERE, inside=True)
def test_inside_a_child_starts_in_the_same_state_except_its_group(
    case: ExecCase, filter_: str
) -> None:
    place, here = case.tmp / "report", case.tmp / "here"
    here.mkdir()
    run: RunOptions = {"program": P.report, "args": [str(place)], "stdin": "null"}
    run |= {"current_dir": str(here), "state": ["--ignore", "PIPE", "--block", "USR2"]}
    seen = run_under(case, filter_, **run)
    expect("how the child ended under the filter", outcome(seen), "exit 0", error_of(seen))
    found = reported(place)
    got = (
        signal.SIGPIPE in signals_in(found["sigign"]),
        signals_in(found["sigblk"]),
        [(each["fd"], each["type"]) for each in found["fds"]],
        found["cwd"],
    )
    expect(
        "in the caller after the run: SIGPIPE ignored, blocked signals, descriptors, directory",
        got,
        (False, {signal.SIGUSR2}, [(0, "char"), (1, "pipe"), (2, "pipe")], str(here)),
    )


@requires("EXEC-WAIT-04", capability=HERE, inside=True)
def test_inside_nothing_runs_if_another_waiter_reaps_the_probe(
    case: ExecCase,
) -> None:
    expect_nothing_unconfined(case, ["--preload", P.preload("steal_child")])


@requires("EXEC-WAIT-04", capability=HERE, inside=True, overlap=1.0)
def test_inside_a_launcher_reaped_by_another_waiter_is_a_wait_error(case: ExecCase) -> None:
    # The preload reaps children only after the program has started. Before that it could reap the
    # process that checks the sandbox.
    def run_once(turn: int) -> Outcome:
        events, gate = case.events(f"events-{turn}"), case.fifo(f"gate-{turn}")
        theft = case.fifo(f"theft-{turn}")
        with case.exec.start(
            program=P.gate,
            args=[events.path, str(gate)],
            state=["--preload", P.preload("steal_child")],
            shim_env={"BOXSPEC_STEAL_FROM": theft},
            expect_result=False,
            hold=True,
            within_s=10,
        ) as shim:
            events.wait("ready")
            need_preload(shim, "steal_child")
            case.open_gate(theft)
            case.open_gate(gate)
            shim.wait_response()
            seen = shim.finish()
        expect_none_left(seen, events, ready=1)
        return wait_outcome(seen)

    expect_wait_errors("ends of runs whose launcher another part of the caller reaped", run_once)
