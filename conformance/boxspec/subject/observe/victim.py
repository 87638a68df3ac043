"""Run a victim: a process outside the sandbox that reports signals and changes of its memory."""

from __future__ import annotations

import ctypes
import os
import platform
import subprocess
from pathlib import Path

from boxspec.subject.observe.lines import poll

Params = dict[str, object]
IOPRIO_GET = 31 if platform.machine() == "aarch64" else 252
OF_A_PROCESS = 1
ANSWERS_S = 10.0


def _share_of_disks(pid: int) -> int:
    return int(ctypes.CDLL(None).syscall(IOPRIO_GET, OF_A_PROCESS, pid))


class Victim:
    """Runs the victim inside the with-block, as a child of the kit. The shim neither starts nor
    sees it.

    program: the path of the fixture program `victim`.
    """

    def __init__(self, program: str, cwd: Path, token: str) -> None:
        self._process = subprocess.Popen(
            [program, token],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=cwd,
            env={"VICTIM": token},
            # The victim has its own session, because signals to the process group of the kit must
            # not reach it.
            start_new_session=True,
        )
        address = self._line()
        self.params: Params = {"victim": self._process.pid, "memory": address}
        self._before = self._state()

    def _line(self) -> str:
        assert self._process.stdout is not None
        # Wait only for a limited time, because a stopped victim does not answer.
        ready = poll([self._process.stdout.fileno()], ANSWERS_S)
        return self._process.stdout.readline().decode("ascii").strip() if ready else ""

    def _state(self) -> dict[str, str]:
        """Return the state of the victim, as reported by the victim itself and by the kernel."""
        assert self._process.stdin is not None
        if self._process.poll() is not None:
            return {"alive": "no"}
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()
        signals, changed = [*self._line().split(), "?", "?"][:2]
        place = Path("/proc") / str(self._process.pid)
        return {
            "signals": signals,
            "memory": changed,
            "priority": str(os.getpriority(os.PRIO_PROCESS, self._process.pid)),
            "policy": str(os.sched_getscheduler(self._process.pid)),
            "share of disks": str(_share_of_disks(self._process.pid)),
            "processors": str(sorted(os.sched_getaffinity(self._process.pid))),
            "limits": (place / "limits").read_text(),
            "oom_score_adj": (place / "oom_score_adj").read_text().strip(),
        }

    def effects(self) -> list[str]:
        """Return the changes since its start."""
        now = self._state()
        both = sorted({*now, *self._before})
        return [
            f"the victim's {name} changed"
            for name in both
            if now.get(name) != self._before.get(name)
        ]

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def __enter__(self) -> Victim:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
