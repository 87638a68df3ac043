"""The ground of an attempt: a workspace, a tree outside it and a home, with their changes.

It lies below BOXSPEC_CASE_ROOT or XDG_CACHE_HOME, never under /tmp, because many sandboxes have a
/tmp of their own. The home is a directory of the ground too, so that no profile grants access to
files outside the ground.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from boxspec.places import case_root
from boxspec.programs import programs
from boxspec.subject.observe.facts import Facts, facts_of
from contracts.shared.files import program_at

CANARY = "canary\n"
SHARED = ("/tmp", "/var/tmp", "/dev/shm")


def ground_root() -> Path:
    root = case_root()
    _remove_abandoned(root)
    return root


@cache
def _remove_abandoned(root: Path) -> None:
    """Remove the grounds of kits that were killed: their names begin with the pid of no process."""
    for folder in root.glob("*-*"):
        pid = folder.name.partition("-")[0]
        if pid.isdigit() and not Path("/proc", pid).exists():
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def made_ground() -> Iterator[Ground]:
    folder = Path(tempfile.mkdtemp(dir=ground_root(), prefix=f"{os.getpid()}-"))
    with contextlib.ExitStack() as stack:
        # Registered before the first write, which fails if the disk is full.
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        folder.chmod(0o755)
        ground = Ground(folder)
        stack.callback(ground.remove_shared)
        yield ground


class Ground:
    """Directories with canaries; `changes` returns the differences from the start."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # A program cannot guess the token, so a program that reports it has read a canary.
        self.token = secrets.token_hex(8)
        self.ws, self.out, self.home = (folder / name for name in ("ws", "out", "home"))
        for path in (self.ws, self.out, self.home, self.out / "empty", self.home / ".ssh"):
            path.mkdir()
        (self.out / "file").write_text(CANARY)
        (self.ws / "file").write_text(CANARY)
        (self.home / ".profile").write_text(CANARY)
        (self.home / ".ssh" / "authorized_keys").write_text(CANARY)
        (self.out / "linked").mkdir()
        (self.ws / "planted").symlink_to(self.out / "linked")
        with contextlib.suppress(OSError):
            os.setxattr(self.out / "file", "user.canary", b"1")
        self.program = program_at(self.ws / "probe", programs.probe)
        self.params = self.ws / "params"
        self._before: dict[str, Facts] = {}
        self._watched: list[Path] = []

    def watch(self, *paths: Path) -> None:
        """Record the state of these trees; without any, of the trees outside the workspace."""
        self._watched = list(paths or (self.out, self.home))
        self._before = self._facts()

    def changes(self) -> list[str]:
        """Return the changes in the watched trees, and new files in world-writable directories."""
        now = self._facts()
        both = sorted({*self._before, *now})
        changed = [path for path in both if self._before.get(path) != now.get(path)]
        made = [f"{_how(path, self._before, now)}: {self._short(path)}" for path in changed]
        made += [f"made: {path}" for path in self._in_shared() if path.exists()]
        return made

    def _in_shared(self) -> list[Path]:
        return [Path(folder) / f"boxspec-{self.token}" for folder in SHARED]

    def _short(self, path: str) -> str:
        return path.removeprefix(f"{self.folder}/")

    def _facts(self) -> dict[str, Facts]:
        found: dict[str, Facts] = {}
        for root in self._watched:
            found |= {str(path): facts_of(path) for path in (root, *sorted(root.rglob("*")))}
        return found

    def write_params(self, probe: str, **params: object) -> list[str]:
        """Write the parameters of one probe; return the words that start it."""
        known = {"ws": self.ws, "out": self.out, "home": self.home, "token": self.token}
        every = {"armed": probe, **known, **params}
        lines = [f"{name}={value}\n" for name, value in every.items()]
        self.params.write_text("".join(lines))
        return [str(self.program), probe, str(self.params)]

    def remove_shared(self) -> None:
        for path in self._in_shared():
            path.unlink(missing_ok=True)


def _how(path: str, before: dict[str, Facts], now: dict[str, Facts]) -> str:
    if path not in before:
        return "made"
    return "changed" if path in now else "gone"
