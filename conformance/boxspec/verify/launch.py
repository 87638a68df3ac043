"""Start a command once, below a warden that ends all of its processes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from boxspec.errors import HarnessError
from boxspec.subject.floods import Floods
from boxspec.subject.observe import procs
from boxspec.subject.observe.facts import content
from boxspec.subject.observe.lines import Deadline, poll
from boxspec.subject.observe.warden import Warden
from boxspec.verify.janitor import Janitor
from boxspec.verify.scene import Scene
from boxspec.verify.witness import Witness

OUTPUT_MOST = 16 << 20
# How often the kit looks for the program, in seconds.
LOOK_S = 0.005


@dataclass
class Ended:
    """How a start ended.

    left: the processes of the program that outlived the command.
    others: all other processes that outlived the command, as text.
    """

    status: str
    in_time: bool
    stdout: bytes
    stderr: bytes
    left: list[int] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    @property
    def said(self) -> str:
        """Return the last line of stderr, or the exit status if there is none."""
        lines = self.stderr.decode("utf-8", "replace").strip().splitlines()
        return f"{self.status}: {lines[-1][:120]}" if lines else self.status


@dataclass(frozen=True)
class Start:
    """The parameters of one start.

    flags: options of the warden.
    stdin: a descriptor, or None.
    stdout: a descriptor for both output streams, or None for files.
    limit_s: time limit of the command.
    ends_s: how long a sandbox may take to end its processes after the command has ended.
    witness: looks for the program that the command starts.
    wait_for_all: also wait `ends_s` for processes of other programs.
    """

    argv: Sequence[str]
    env: dict[str, str]
    flags: Sequence[str]
    stdin: int | None
    limit_s: float
    ends_s: float
    witness: Witness | None = None
    wait_for_all: bool = False
    stdout: int | None = None


def launch(janitor: Janitor, scene: Scene, how: Start) -> Ended:
    """Start the program in the workspace, wait for its end, and end its remaining processes."""
    files = [scene.private / name for name in ("stdout", "stderr")]
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    out, err = (os.open(path, flags) for path in files)
    stdin = nothing if how.stdin is None else how.stdin
    state = ["--cwd", str(scene.root), *how.flags]
    try:
        both = {"stdout": out, "stderr": err}
        both = both if how.stdout is None else dict.fromkeys(both, how.stdout)
        streams = {"stdin": stdin, **both}
        program = str(scene.warden)
        warden = Warden(how.argv, program, flags=state, env=how.env, **streams)
    except HarnessError:
        return Ended("the process that observes it was killed", False, b"", b"")
    finally:
        for fd in (nothing, out, err):
            os.close(fd)
    janitor.after(warden.pid)
    floods = Floods()
    floods.watch(warden, files)
    try:
        limit = Deadline(how.limit_s)
        _wait_for_the_program(warden, scene, how, limit)
        end = warden.wait_exit(limit)
        living = _left(warden, scene.program.name, how) if end else []
    finally:
        floods.close()
        warden.sweep()
    status = f"no end within {how.limit_s:g} s" if end is None else f"{end.how} {end.number}"
    if warden.ended_for:
        end, status = None, f"the kit ended it: {warden.ended_for}"
    stdout, stderr = (content(path, OUTPUT_MOST) or b"" for path in files)
    name = scene.program.name
    left = [each.pid for each in living if each.name == name]
    others = [f"{each.name} ({each.pid})" for each in living if each.name != name]
    return Ended(status, end is not None, stdout, stderr, left, others)


def _wait_for_the_program(warden: Warden, scene: Scene, how: Start, limit: Deadline) -> None:
    """Wait until the program runs inside, give it the key, and put late decoys in their places."""
    if how.witness is None:
        return
    while not how.witness.look() and not limit.over():
        if warden.wait_exit(Deadline(LOOK_S)) is not None:
            return
    scene.after_the_start()


def _left(warden: Warden, name: str, how: Start) -> list[procs.Proc]:
    """Return the processes that are still alive after the sandbox had `ends_s` to end them."""
    limit = Deadline(how.ends_s)
    while True:
        warden.pump()
        # A process that was killed by a signal may need a moment longer in the kernel.
        alive = [each for each in warden.tree() if each.alive and not procs.is_dying(each)]
        waited_for = alive if how.wait_for_all else [each for each in alive if each.name == name]
        if not waited_for or limit.over():
            return alive
        poll([], 0.02)
