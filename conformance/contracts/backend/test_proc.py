"""Processes outside, and processes that a program leaves."""

import pytest

from boxspec.api import (
    Failure,
    HostLacks,
    Late,
    Verdict,
    expect,
    requires,
)
from contracts.backend.answers import ObservedSession
from contracts.backend.attempt import attempt, inside, need_an_end
from contracts.backend.client import BackendCase
from contracts.backend.ground import made_ground
from contracts.backend.scene import made_scene, run_outside

DEADLINE_MS = 2000
SIGNALS = (
    *("p_kill0", "p_kill_usr1", "p_tgkill", "p_sigqueue", "p_pidfd_signal", "p_fown_sigurg"),
)
OTHERS = (
    *("p_setpriority", "p_prlimit", "p_sched_setaffinity", "p_oom_score"),
    *("p_sched_setscheduler", "p_ioprio_set"),
    *("p_ptrace_seize", "p_ptrace_supervisor", "p_process_vm_readv", "p_process_vm_writev"),
    *("p_proc_mem", "p_environ", "p_environs", "p_cmdline", "p_setns_net", "p_pidfd_getfd"),
    "p_process_madvise",
)


@requires("BACKEND-PROC-01")
@pytest.mark.parametrize("probe", SIGNALS)
def test_no_process_outside_gets_a_signal(case: BackendCase, probe: str) -> None:
    attempt(case, probe)


@requires("BACKEND-PROC-02")
@pytest.mark.parametrize("probe", OTHERS)
def test_no_process_outside_is_touched(case: BackendCase, probe: str) -> None:
    attempt(case, probe)


@requires("BACKEND-PROC-03")
@pytest.mark.parametrize("probe", ["p_daemon", "p_swarm"])
def test_no_process_outlives_its_session(case: BackendCase, probe: str) -> None:
    with made_scene(probe) as scene:
        _, left = run_outside(scene, scene.arm())
        if not left:
            raise HostLacks(
                "working escape attempts",
                f"{probe} does not survive its parent here even without a sandbox",
            )
    with made_scene(probe) as scene:
        session, attempted = inside(case, scene, "repo-write")
        # The number of processes that a swarm leaves differs from run to run.
        _expect_none_left(session, probe, at_most=1 if probe == "p_swarm" else None)
        # No process is left either if the probe never started its processes, or if it waited until
        # its time limit for their end. Then the sandbox has not ended them. So the test must know
        # how the attempt ended.
        need_an_end(scene, session, attempted)
        code = session.only.result["exit_code"]
        expect("how the call ended", code, 0, {"inside": str(attempted)}, Verdict.UNPROVEN)


# Programs that do not end at their deadline: alone, or with an orphan in a session of its own.
UNENDING = {
    "a program": ": >sibling; exec sleep 600",
    "an orphan": "(setsid sh -c \"trap '' HUP INT TERM; : >sibling; sleep 600\" </dev/null &)\n"
    "exec sleep 600",
}


@requires("BACKEND-PROC-03")
@pytest.mark.parametrize("what", UNENDING)
def test_no_process_outlives_its_session_after_a_deadline(case: BackendCase, what: str) -> None:
    # The wrapper is killed from outside. So it cannot end its program itself.
    with made_ground() as ground:
        session = case.backend.run(
            [
                {
                    "program": "/bin/sh",
                    "args": ["-c", UNENDING[what]],
                    "timeout_ms": DEADLINE_MS,
                }
            ],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
        )
        session.need_enforcement()
        if not (ground.ws / "sibling").exists():
            raise Late("the program", "it has begun before its deadline", "it has not")
        _expect_none_left(session, "a deadline")


def _expect_none_left(session: ObservedSession, what: str, at_most: int | None = None) -> None:
    lasting = [proc.describe() for proc in session.lasting]
    if not lasting:
        return
    session.excuse("process", f"{what}: {lasting[0]}")
    raise Failure(
        "processes left after the session",
        "no process is left",
        ", ".join(lasting[:at_most]),
        verdict=Verdict.CONTRADICTION,
    )
