"""The scene of one attempt: its ground, and the observers that its probe needs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boxspec.errors import HarnessError
from boxspec.subject.observe.lines import Deadline
from boxspec.subject.observe.listeners import Listeners
from boxspec.subject.observe.probes import Probe, Said, table
from boxspec.subject.observe.victim import Victim
from boxspec.subject.observe.warden import Warden
from contracts.backend.giver import Giver
from contracts.backend.ground import CANARY, Ground, made_ground
from contracts.backend.hostipc import HostIpc
from contracts.backend.pipereader import PipeReader

WITHIN_S = 20.0
# The success of these probes is the only observation, because they change no file outside.
BY_OUTCOME = frozenset(
    {
        *("p_kill0", "p_ptrace_seize", "p_ptrace_supervisor", "p_setns_net", "p_pidfd_getfd"),
        *("w_etc", "z_remount_rw"),
    }
)
PIPES = ("i_fifo", "i_fifo_ws")
# A variable of the caller that a program inside must not get.
SECRET = "BOXSPEC_SECRET"
PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass
class Scene:
    """The surroundings of an attempt, and its effects."""

    probe: Probe
    ground: Ground
    observers: list[Any] = field(default_factory=list)
    params: dict[str, object] = field(default_factory=dict)
    # Flags of the warden, and the stdin that the program gets: a file, or a descriptor.
    state: list[str] = field(default_factory=list)
    stdin: Path | int | None = None

    def arm(self, **params: object) -> list[str]:
        return self.ground.write_params(self.probe.name, **{**self.params, **params})

    def effects(self, attempted: Said) -> list[str]:
        """Return the changes outside, and the secrets and accesses that the attempt obtained."""
        found = self.ground.changes()
        for observer in self.observers:
            found += observer.hits() if isinstance(observer, Listeners) else observer.harm()
        if any(self.ground.token in each for each in attempted.leaked):
            found.append("a secret from outside was read")
        if self._by_outcome and attempted.outcome == "did" and self._is_file_of_the_host(attempted):
            found.append(f"{self.probe.tries}: done")
        return found

    @property
    def _by_outcome(self) -> bool:
        name, aspect = self.probe.name, self.probe.aspect
        return name in BY_OUTCOME or name.startswith("k_") or aspect in ("kernel", "launch")

    def _is_file_of_the_host(self, attempted: Said) -> bool:
        """True unless w_etc opened the sandbox's own copy of /etc/passwd, which does no harm."""
        if self.probe.name != "w_etc":
            return True
        st = Path("/etc/passwd").stat()
        return f"file {st.st_dev}:{st.st_ino}" in attempted.leaked


def mounted(scene: Scene, at: Path) -> Path:
    """Mount a directory with a canary at `at`, for the program only, and watch its files.

    The mount is in a namespace of the warden's child and ends with it. Its source is visible
    outside and is watched. Only root can mount; for other users the warden reports that, and the
    test is not measured.
    """
    below = scene.ground.folder / "mounted"
    below.mkdir()
    (below / "file").write_text(CANARY)
    at.mkdir(parents=True)
    scene.state += ["--bind", f"{below}={at}"]
    scene.ground.watch(below)
    return at


@contextlib.contextmanager
def made_scene(name: str) -> Iterator[Scene]:
    probe = table()[name]
    with contextlib.ExitStack() as stack:
        ground = stack.enter_context(made_ground())
        scene = Scene(probe, ground)
        if name.startswith("n_"):
            scene.observers.append(stack.enter_context(Listeners(ground.out, ground.token)))
        if name == "n_scm_rights":
            scene.observers.append(stack.enter_context(Giver(ground.ws, ground.out / "file")))
        if name in PIPES:
            folder = ground.ws if name == "i_fifo_ws" else ground.out
            scene.observers.append(stack.enter_context(PipeReader(folder)))
        elif name.startswith("i_") and probe.aspect == "ipc":
            scene.observers.append(stack.enter_context(HostIpc(ground.token)))
        if probe.aspect == "process" or "victim" in name:
            scene.observers.append(stack.enter_context(Victim(ground.out, ground.token)))
        for observer in scene.observers:
            scene.params |= observer.params
        if "inherited" in name or name in ("e_fds", "w_mmap_shared"):
            scene.state += ["--leave-open", f"20={ground.out}"]
            scene.state += ["--leave-open", f"21={ground.out / 'file'}"]
        if name == "w_proc_reopen":
            scene.stdin = ground.out / "file"
        if name == "e_env":
            scene.params["variable"] = SECRET
        # A change of the sandbox's own copy of the workspace is not a change of the workspace.
        own = [ground.ws / "file", ground.ws / "made"] if name.startswith("w_ws") else []
        ground.watch(ground.out, ground.home, *own)
        yield scene


def run_outside(scene: Scene, words: Sequence[str]) -> tuple[Said, list[str]]:
    """Make the attempt without a sandbox; return its report and the processes that it left."""
    out = scene.ground.folder / "said"
    given = scene.stdin
    if isinstance(given, int):
        stdin = os.dup(given)
    else:
        stdin = os.open(given or "/dev/null", os.O_RDONLY | os.O_CLOEXEC)
    stdout = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    flags = ["--cwd", str(scene.ground.ws), *scene.state]
    env = {"PATH": PATH, "HOME": str(scene.ground.home), "TMPDIR": "/tmp"}
    env[SECRET] = scene.ground.token
    try:
        warden = Warden(
            list(words), flags=flags, env=env, stdin=stdin, stdout=stdout, stderr=stdout
        )
    finally:
        os.close(stdin)
        os.close(stdout)
    try:
        if warden.wait_exit(Deadline(WITHIN_S)) is None:
            raise HarnessError(f"{scene.probe.name}: does not end without a sandbox")
        left = [
            proc.describe() for proc in warden.tree() if proc.alive and proc.pid != warden.shim_pid
        ]
    finally:
        warden.sweep()
    return Said.of(out.read_bytes()), left
