"""Processes outside, and what stays of a program."""

import pytest

from boxspec.api import Box, Declared, Failure, HostLacks, Verdict, requires
from contracts.backend.attempt import attempt, inside
from contracts.backend.scene import made_scene, run_outside

SIGNALS = (
    *("p_kill0", "p_kill_usr1", "p_tgkill", "p_sigqueue", "p_pidfd_signal", "p_fown_sigurg"),
)
OTHERS = (
    *("p_setpriority", "p_prlimit", "p_sched_setaffinity", "p_oom_score"),
    *("p_ptrace_seize", "p_ptrace_supervisor", "p_process_vm_readv", "p_process_vm_writev"),
    *("p_proc_mem", "p_environ", "p_cmdline", "p_setns_net", "p_pidfd_getfd"),
)


@requires("BACKEND-PROC-01")
@pytest.mark.parametrize("probe", SIGNALS)
def test_no_process_outside_gets_a_signal(box: Box, probe: str) -> None:
    attempt(box, probe)


@requires("BACKEND-PROC-02")
@pytest.mark.parametrize("probe", OTHERS)
def test_no_process_outside_is_touched(box: Box, probe: str) -> None:
    attempt(box, probe)


@requires("BACKEND-PROC-03")
@pytest.mark.parametrize("probe", ["p_daemon", "p_swarm"])
def test_nothing_lives_on(box: Box, probe: str) -> None:
    with made_scene(probe) as scene:
        _, left = run_outside(scene, scene.arm())
        if not left:
            raise HostLacks("escape probes", f"{probe} does not live on even outside")
    with made_scene(probe) as scene:
        session, _ = inside(box, scene, "repo-write")
        lasting = [proc.describe() for proc in session.lasting]
        declared = session.claim("process")
        if lasting and declared["claim"] != "fully":
            raise Declared("process", declared["claim"], f"{probe}: {lasting[0]}")
        if lasting:
            raise Failure(
                "what a program started ends with its session",
                "nobody is left",
                # How many of a swarm are still there is another number each time.
                lasting[0] if probe == "p_swarm" else ", ".join(lasting),
                verdict=Verdict.CONTRADICTION,
            )
