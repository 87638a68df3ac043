"""The start of a program inside.

The start includes its descriptors, its session and its privileges. The report of its end is in
test_launch_results.py.
"""

import contextlib
import fcntl
import os
import resource
import struct
import subprocess
import termios
import tty
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from boxspec.api import (
    Failure,
    HostLacks,
    NotMeasured,
    Verdict,
    expect,
    programs,
    requires,
    written,
)
from boxspec.subject.observe.lines import Deadline, poll
from boxspec.subject.observe.procs import Proc
from boxspec.subject.observe.terminals import open_terminal
from contracts.backend.attempt import attempt, control, inside, judge, need_an_end
from contracts.backend.client import BackendCase
from contracts.backend.ground import made_ground
from contracts.backend.scene import Scene, made_scene, run_outside


@requires("BACKEND-LAUNCH-01")
@pytest.mark.parametrize(
    "probe", ["e_fds", "w_inherited_dirfd", "w_inherited_rwfd", "w_mmap_shared"]
)
def test_no_descriptor_comes_along(case: BackendCase, probe: str) -> None:
    attempt(case, probe)


@requires("BACKEND-LAUNCH-01")
@pytest.mark.parametrize("number", [3, 9, 300, 1024, 8000])
def test_no_descriptor_is_inherited_whatever_its_number(case: BackendCase, number: int) -> None:
    # The numbers are below and above those that a wrapper uses itself. The greatest ones are beyond
    # the end of an incomplete closing loop.
    _leave_open(case, number)


@requires("BACKEND-LAUNCH-01")
def test_no_descriptor_above_the_limit_is_inherited(case: BackendCase) -> None:
    # The caller lowers its limit after it has opened the descriptor.
    _leave_open(case, 300, "--nofile", "256")


def _leave_open(case: BackendCase, number: int, *state: str) -> None:
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most <= number:
        raise HostLacks(
            "descriptors", f"the soft limit is {most}: no process has a descriptor {number}"
        )
    with made_scene("e_fds") as scene:
        scene.state = ["--leave-open", f"{number}={scene.ground.out / 'file'}", *state]
        attempted, _ = run_outside(scene, scene.arm())
        if f"descriptor {number}" not in attempted.leaked:
            raise HostLacks(
                "working escape attempts", f"descriptor {number} is not open even without a sandbox"
            )
        session, attempted = inside(case, scene, "repo-write")
        judge(scene, session, attempted)


class Terminal:
    """A terminal. `typed` returns how many bytes the next reader would get."""

    def __init__(self) -> None:
        self.ours, self.theirs = open_terminal()
        tty.setraw(self.theirs)
        self.name = os.ttyname(self.theirs)

    def typed(self) -> int:
        got = fcntl.ioctl(self.theirs, termios.FIONREAD, struct.pack("i", 0))
        return int(struct.unpack("i", got)[0])

    def be_controlling(self, scene: Scene) -> None:
        """Make it the controlling terminal of the program's session, as a shell would."""
        scene.state += ["--setsid", "--leave-open", f"30={self.name}"]
        # A process that opens a terminal by name may get it as its controlling terminal. So the
        # test passes a descriptor.
        scene.stdin = self.theirs

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.ours)
        os.close(self.theirs)


@requires("BACKEND-LAUNCH-02")
def test_no_input_is_put_into_a_terminal(case: BackendCase) -> None:
    with made_scene("i_tiocsti") as scene, Terminal() as terminal:
        terminal.be_controlling(scene)
        attempted, _ = run_outside(scene, scene.arm())
        if not terminal.typed():
            raise HostLacks(
                "working escape attempts",
                f"TIOCSTI does nothing here even without a sandbox: {attempted}",
            )
    with made_scene("i_tiocsti") as scene, Terminal() as terminal:
        terminal.be_controlling(scene)
        session, attempted = inside(case, scene, "repo-write")
        if typed := terminal.typed():
            raise Failure(
                "input into the caller's terminal",
                "nothing is typed",
                f"{typed} bytes",
                verdict=Verdict.ESCAPED,
            )
        # The probe may have typed into a terminal of the sandbox. That does not reach this
        # terminal.
        need_an_end(scene, session, attempted)


@requires("BACKEND-LAUNCH-02")
def test_the_callers_terminal_is_not_the_controlling_terminal(case: BackendCase) -> None:
    with made_scene("e_tty") as scene, Terminal() as terminal:
        terminal.be_controlling(scene)
        attempted, _ = run_outside(scene, scene.arm())
        if attempted.outcome != "did":
            raise HostLacks(
                "working escape attempts",
                f"the test gets no controlling terminal here even without a sandbox: {attempted}",
            )
    with made_scene("e_tty") as scene, Terminal() as terminal:
        terminal.be_controlling(scene)
        session, attempted = inside(case, scene, "repo-write")
        judge(scene, session, attempted)


@requires("BACKEND-LAUNCH-02")
def test_a_program_is_in_a_session_of_its_own(case: BackendCase) -> None:
    with made_ground() as ground:
        gates = [ground.ws / name for name in ("gate", "held")]
        for gate in gates:
            os.mkfifo(gate)
        with case.backend.start(
            [{"program": "/bin/sh", "args": ["-c", ": <gate; : <held"]}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
        ) as shim:
            case.open_gate(gates[0])
            inner = [proc.pid for proc in shim.descendants() if _stands_in(proc.pid, ground.ws)]
            shims, found = os.getsid(shim.shim_pid), {os.getsid(pid) for pid in inner}
            case.open_gate(gates[1])
            session = shim.finish()
        session.need_enforcement()
        if not inner:
            raise NotMeasured("no process of the shim has the workspace as its working directory")
        expect("whether the program is in the shim's session", shims in found, False)


def _stands_in(pid: int, folder: Path) -> bool:
    """True if this process is the program itself: a wrapper has the directory of its caller."""
    try:
        return (
            Path(f"/proc/{pid}/cwd").readlink() == folder
            and Path(f"/proc/{pid}/comm").read_text(errors="replace").strip() == "sh"
        )
    except OSError:
        return False


@requires("BACKEND-LAUNCH-03")
@pytest.mark.parametrize("probe", ["k_nnp", "e_caps"])
def test_no_privilege_is_left(case: BackendCase, probe: str) -> None:
    attempt(case, probe)


@requires("BACKEND-LAUNCH-05")
def test_a_library_that_the_request_preloads_runs_confined(case: BackendCase) -> None:
    # The library records the processes that load it in a file. The file must be in the workspace.
    library = programs.preload("no_pidfd")
    with made_ground() as ground:
        preloaded = ground.out / "preloaded"
        env = {"LD_PRELOAD": library, "BOXSPEC_PRELOADED": str(preloaded)}
        preloaded.touch()
        subprocess.run(["/bin/true"], env=env, check=True)
        if not written(preloaded):
            raise HostLacks(
                "working escape attempts", "/bin/true loads no library that LD_PRELOAD names"
            )
        preloaded.write_text("")
        session = case.backend.run(
            [{"program": "/bin/true", "env": list(env.items())}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
        )
        session.need_enforcement()
        expect("exit code of the program", session.only.result["exit_code"], 0)
        expect(
            "processes that wrote outside",
            written(preloaded).decode(errors="replace"),
            "",
            verdict=Verdict.ESCAPED,
        )


@requires("BACKEND-LAUNCH-10", stress=64)
def test_calls_that_start_at_once_are_all_confined(case: BackendCase) -> None:
    control("w_create")
    count = 64 if case.stress else 6
    with contextlib.ExitStack() as stack:
        scenes = [stack.enter_context(made_scene("w_create")) for _ in range(count)]
        with ThreadPoolExecutor(count) as pool:
            found = [*pool.map(lambda scene: inside(case, scene, "repo-write"), scenes)]
        for scene, (session, attempted) in zip(scenes, found, strict=True):
            judge(scene, session, attempted)


# Each child starts a process, which loses its parent and then ends. The shell does not wait in this
# time: as process 1 it would reap these processes.
ORPHANS = 'for n in 1 2 3 4 5 6 7 8; do (sleep 0.3 &) ; done; : <"$0"; : <"$1"'


@requires("BACKEND-LAUNCH-11")
def test_ended_orphans_do_not_remain(case: BackendCase) -> None:
    with made_ground() as ground:
        gates = [ground.ws / name for name in ("gate", "held")]
        for gate in gates:
            os.mkfifo(gate)
        with case.backend.start(
            [{"program": "/bin/sh", "args": ["-c", ORPHANS, *map(str, gates)]}],
            root=ground.ws,
            profile="repo-write",
            on_unavailable="degrade",
        ) as shim:
            case.open_gate(gates[0])
            limit = Deadline(5)
            # A parent may need a moment to reap.
            while (left := _orphans(shim.descendants())) and not limit.over():
                poll([], 0.02)
            case.open_gate(gates[1])
            session = shim.finish()
        session.need_enforcement()
        expect("exit code of the program", session.only.result["exit_code"], 0)
        expect("orphans that run or are zombies", left, [])


def _orphans(found: Sequence[Proc]) -> list[str]:
    return [proc.describe() for proc in found if proc.name == "sleep"]
