"""The scene of an attempt: its ground, and the observers that its probe needs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from boxspec.judge.verdict import NotMeasured
from boxspec.programs import programs
from boxspec.random_names import random_variable_name
from boxspec.subject.observe.host_ipc import HostIpc
from boxspec.subject.observe.lines import Deadline
from boxspec.subject.observe.listeners import Listeners
from boxspec.subject.observe.pipe_reader import PipeReader
from boxspec.subject.observe.probes import Probe, ProbeResult, table
from boxspec.subject.observe.victim import Victim
from boxspec.subject.observe.warden import Warden
from contracts.backend.descriptor_sender import DescriptorSender
from contracts.backend.ground import CANARY, Ground, made_ground
from contracts.backend.sysctl import Sysctl

WITHIN_S = 20.0
# An environment variable of the caller. No program inside may get it.
SECRET = random_variable_name()
PATH = "/usr/local/bin:/usr/bin:/bin"

# For each word in the column `needs` of the probes, its observer. Observers are started in this
# order.
OBSERVERS: dict[str, Callable[[Ground], Any]] = {
    "listeners": lambda ground: Listeners(ground.out, ground.token),
    "descriptor-sender": lambda ground: DescriptorSender(ground.ws, ground.out / "file"),
    "pipe": lambda ground: PipeReader(ground.out),
    "workspace-pipe": lambda ground: PipeReader(ground.ws),
    "sysctl": lambda ground: Sysctl(),
    "host-ipc": lambda ground: HostIpc(ground.token),
    "victim": lambda ground: Victim(programs.victim, ground.out, ground.token),
}
# The other words of this column. made_scene prepares the things that they name.
PREPARED = frozenset({"descriptors", "stdin", "variable", "workspace-watch"})
JUDGED = frozenset({"effect", "outcome", "host-file"})


@dataclass
class Scene:
    """The surroundings of an attempt, and the effects that it had."""

    probe: Probe
    ground: Ground
    observers: list[Any] = field(default_factory=list)
    params: dict[str, object] = field(default_factory=dict)
    # Flags of the warden, and the stdin of the program, which is a file or a descriptor.
    state: list[str] = field(default_factory=list)
    stdin: Path | int | None = None

    def arm(self, **params: object) -> list[str]:
        return self.ground.write_params(self.probe.name, **{**self.params, **params})

    def effects(self, attempted: ProbeResult) -> list[str]:
        """Return the changes outside, and the secrets and accesses that the attempt got."""
        found = self.ground.changes()
        for observer in self.observers:
            found += observer.hits() if isinstance(observer, Listeners) else observer.effects()
        if any(self.ground.token in each for each in attempted.leaked):
            found.append("a secret from outside was read")
        if attempted.outcome == "did" and self._success_counts(attempted):
            found.append(f"{self.probe.tries}: done")
        return found

    def _success_counts(self, attempted: ProbeResult) -> bool:
        """True if the success of the call is an effect by itself.

        The column `judged` of the probe says this.
        """
        if self.probe.judged == "host-file":
            # The sandbox may have its own file under this name. Opening that file does not harm the
            # host.
            st = Path("/etc/passwd").stat()
            return f"file {st.st_dev}:{st.st_ino}" in attempted.leaked
        return self.probe.judged == "outcome"


def mounted(scene: Scene, at: Path) -> Path:
    """Mount a directory with a canary at `at`, and watch its files.

    Only the program sees the mount: the mount is in a namespace that ends with the warden's child.
    The source of the mount is visible outside, where it is watched. Only root can mount; for other
    users the warden reports an error, and the test is not measured.
    """
    below = scene.ground.folder / "mounted"
    below.mkdir()
    (below / "file").write_text(CANARY)
    at.mkdir(parents=True)
    scene.state += ["--bind", f"{below}={at}"]
    scene.ground.watch(below)
    return at


@contextlib.contextmanager
def made_scene(name: str, parent: Path | None = None) -> Iterator[Scene]:
    with made_scenes([name], parent) as (scene,):
        yield scene


@contextlib.contextmanager
def made_scenes(names: Sequence[str], parent: Path | None = None) -> Iterator[list[Scene]]:
    """Make one ground for several attempts, with common observers.

    parent: see `made_ground`.
    """
    probes = [table()[name] for name in names]
    needs = frozenset[str]().union(*(probe.needs for probe in probes))
    with contextlib.ExitStack() as stack:
        ground = stack.enter_context(made_ground(parent))
        first = Scene(probes[0], ground)
        for need, start in OBSERVERS.items():
            if need in needs:
                first.observers.append(stack.enter_context(start(ground)))
        for observer in first.observers:
            first.params |= observer.params
        if "descriptors" in needs:
            first.state += ["--leave-open", f"20={ground.out}"]
            first.state += ["--leave-open", f"21={ground.out / 'file'}"]
        if "stdin" in needs:
            first.stdin = ground.out / "file"
        if "variable" in needs:
            first.params["variable"] = SECRET
        # Only these two files of the workspace are watched. If the sandbox changes its own copy,
        # they do not change. The workspace itself also gets the parameters of the probe.
        own = [ground.ws / "file", ground.ws / "made"] if "workspace-watch" in needs else []
        ground.watch(ground.out, ground.home, *own)
        yield [replace(first, probe=probe) for probe in probes]


def run_outside(scene: Scene, words: Sequence[str]) -> tuple[ProbeResult, list[str]]:
    """Make the attempt without a sandbox; return its result, and the processes that it has left."""
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
            raise NotMeasured(
                f"without a sandbox, {scene.probe.name} took more than {WITHIN_S:g} s"
            )
        left = [
            proc.describe() for proc in warden.tree() if proc.alive and proc.pid != warden.shim_pid
        ]
    finally:
        warden.sweep()
    return ProbeResult.of(out.read_bytes()), left
