"""One start of a command, under a warden that ends every process of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from boxspec.subject.observe.lines import Deadline, poll
from boxspec.subject.observe.warden import Warden
from boxspec.verify.janitor import Janitor
from boxspec.verify.scene import Scene

# The end of a sandbox ends its processes; the kernel may take that long.
ENDS_S = 1.0
OUTPUT_MOST = 16 << 20


@dataclass
class Ended:
    """How a start ended. left: the processes of the program that lived on."""

    status: str
    in_time: bool
    stdout: bytes
    stderr: bytes
    left: list[int] = field(default_factory=list)

    @property
    def said(self) -> str:
        """The last line of stderr, or the status."""
        lines = self.stderr.decode("utf-8", "replace").strip().splitlines()
        return f"{self.status}: {lines[-1][:120]}" if lines else self.status


def launch(
    janitor: Janitor,
    scene: Scene,
    argv: Sequence[str],
    env: dict[str, str],
    limit_s: float,
    *,
    flags: Sequence[str] = (),
    stdin: int | None = None,
) -> Ended:
    """Start it in the workspace, wait for its end, and end what is left of it."""
    files = [scene.private / name for name in ("stdout", "stderr")]
    opened = [os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC) if stdin is None else os.dup(stdin)]
    opened += [
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC) for path in files
    ]
    state = ["--cwd", str(scene.root), *flags]
    try:
        warden = Warden(
            argv, flags=state, env=env, stdin=opened[0], stdout=opened[1], stderr=opened[2]
        )
    finally:
        for fd in opened:
            os.close(fd)
    janitor.after(warden.pid)
    try:
        end = warden.wait_exit(Deadline(limit_s))
        left = _left(warden, scene.program.name) if end else []
    finally:
        warden.sweep()
    status = f"no end within {limit_s:g} s" if end is None else f"{end.how} {end.number}"
    stdout, stderr = (path.read_bytes()[:OUTPUT_MOST] for path in files)
    return Ended(status, end is not None, stdout, stderr, left)


def _left(warden: Warden, name: str) -> list[int]:
    """The processes of the program that are still there once a sandbox had time to end them."""
    limit = Deadline(ENDS_S)
    while True:
        warden.pump()
        found = [each for each in warden.tree() if each.alive and each.name == name]
        if not found or limit.over():
            return [each.pid for each in found]
        poll([], 0.02)
