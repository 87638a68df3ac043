"""A process that removes all files and kernel objects of a run, even if SIGKILL ends the run.

1. `Janitor()` forks this process before the run starts any thread; the process holds the read end
of a pipe.
2. `remove(path)` names a path to remove, `after(pid)` a process to wait for first.
3. When the pipe ends, because of `close` or because the run has ended, the janitor removes all.

If the janitor is killed as well, the next run removes the folders that its register names.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import secrets
import select
import signal
from pathlib import Path

from boxspec.folders import listed, lives, owner, remove, remove_listed
from boxspec.mounts import mounted_below
from boxspec.places import case_root
from boxspec.verify import objects

# How long to wait for a process of the run to end by itself, and how often to try to remove a path.
PATIENCE_MS = 30_000
TRIES = 50
# From umount(2).
MNT_DETACH, UMOUNT_NOFOLLOW = 2, 8
# The signals that end a run.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_libc = ctypes.CDLL(None, use_errno=True)


def register() -> Path:
    """Return the folder with an entry for each run: the paths and objects that it makes."""
    return case_root() / "scenes"


def registered() -> set[str]:
    """Return the paths and objects in all entries, including entries of runs that have not
    ended."""
    found: set[str] = set()
    for entry in register().glob("*-*-*-*"):
        # An entry of another user may be unreadable.
        with contextlib.suppress(OSError):
            found.update(listed(entry))
    return found


class Janitor:
    def __init__(self) -> None:
        self._register = register()
        self._register.mkdir(mode=0o700, exist_ok=True)
        remove_abandoned(self._register)
        self._entry = self._register / f"{owner()}-{secrets.token_hex(4)}"
        self._entry.touch(mode=0o600)
        theirs, self._pipe = os.pipe2(os.O_CLOEXEC)
        # Ctrl-C goes to both processes. Block it, because it must not end the janitor before the
        # janitor ignores it.
        unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        try:
            self._pid = os.fork()
            if self._pid == 0:
                status = 1
                try:
                    os.close(self._pipe)
                    _work(theirs, self._entry)
                    status = 0
                finally:
                    os._exit(status)
            os.close(theirs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)

    def remove(self, path: Path) -> None:
        """Remove the path and its contents at the end."""
        self._note(str(path))
        self._tell("remove", str(path))

    def _note(self, name: str) -> None:
        with self._entry.open("a", encoding="utf-8") as entry:
            entry.write(json.dumps(name) + "\n")

    def remove_now(self, path: Path) -> None:
        """Remove the path now, before the end of the run. No process of the run may use it any
        more."""
        self._tell("now", str(path))

    def remove_if_empty(self, path: Path) -> None:
        """Remove the folder at the end, unless another program uses it."""
        self._tell("empty", str(path))

    def remove_objects(self, key: int, name: str) -> None:
        """Remove these kernel objects at the end."""
        for each in objects.names(key, name):
            self._note(each)
        self._tell("objects", [key, name])

    def after(self, pid: int) -> None:
        """Wait for this process before anything is removed."""
        self._tell("after", pid)

    def _tell(self, what: str, value: object) -> None:
        with contextlib.suppress(BrokenPipeError):
            os.write(self._pipe, json.dumps([what, value]).encode() + b"\n")

    def close(self) -> None:
        """Return once everything is removed."""
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1
            os.waitpid(self._pid, 0)

    def __enter__(self) -> Janitor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _work(pipe: int, entry: Path) -> None:
    """Read the lines of the pipe until its end, then remove the paths that they name."""
    os.setsid()
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    paths: list[str] = []
    ends: list[int] = []
    unnamed: list[tuple[int, str]] = []
    folders: list[str] = []
    with os.fdopen(pipe, encoding="utf-8") as lines:
        for line in lines:
            what, value = json.loads(line)
            if what == "remove":
                paths.append(value)
                continue
            if what == "now":
                if _remove(Path(value)):
                    paths.remove(value)
                continue
            if what == "empty":
                folders.append(value)
                continue
            if what == "objects":
                unnamed.append(value)
                continue
            # Open a pidfd of the process now, because its number may be reused later.
            with contextlib.suppress(OSError):
                ends.append(os.pidfd_open(value))
    for end in ends:
        select.select([end], [], [], PATIENCE_MS / 1000)
    for key, name in unnamed:
        objects.remove(key, name)
    left = [path for path in paths if not _remove(Path(path))]
    for folder in folders:
        with contextlib.suppress(OSError):
            Path(folder).rmdir()
    if not left:
        entry.unlink(missing_ok=True)


def _remove(path: Path) -> bool:
    """Remove the path without following links; return True if it is gone.

    The path belongs to the kit. So a mount below it was made by the command, and is unmounted.
    """
    for _ in range(TRIES):
        for point in reversed(mounted_below(path)):
            _libc.umount2(os.fsencode(point), MNT_DETACH | UMOUNT_NOFOLLOW)
        with contextlib.suppress(OSError):
            remove(path)
        if not os.path.lexists(path):
            return True
        # A process of the run that is still ending may have added a file.
        select.select([], [], [], 0.1)
    return False


def remove_abandoned(register: Path) -> None:
    """Remove the scenes of runs that were killed together with their janitor."""
    for entry in register.glob("*-*-*-*"):
        if not lives(entry.name.rpartition("-")[0], entry):
            remove_listed(entry, _remove)
