"""Make and find kernel objects that have no path: shared memory and a message queue."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

REMOVE = 0
GETPID = 11
# A segment of shared memory has no path. So registers and messages write its key as if the key were
# a file below this one.
SEGMENTS = "/proc/sysvipc/shm"
QUEUES = "/dev/mqueue"

_libc = ctypes.CDLL(None, use_errno=True)


def names(key: int, name: str) -> list[str]:
    """Return the names that registers use for the memory with this key and for this queue."""
    return [f"{SEGMENTS}/{key}", f"{QUEUES}/{name}"]


def has_memory(key: int) -> bool:
    """True if there is System V shared memory with this key."""
    return _memory(key) >= 0


def has_queue(name: str) -> bool:
    """True if there is a POSIX message queue of this name, which is given without its slash."""
    queue = _libc.mq_open(_path(name), os.O_RDONLY | os.O_NONBLOCK)
    if queue >= 0:
        _libc.mq_close(queue)
    return bool(queue >= 0)


def remove(key: int, name: str) -> None:
    """Remove the memory and the queue, if they exist."""
    if (memory := _memory(key)) >= 0:
        _libc.shmctl(memory, REMOVE, None)
    _libc.mq_unlink(_path(name))


def ipc_of_this_user() -> list[tuple[str, list[int]]]:
    """Return the System V queues and semaphores of this user.

    Each has the ids of the processes that used it last.
    """
    found = []
    for _, number, _, _, _, sender, receiver, owner, *_ in _table("msg"):
        if int(owner) == os.geteuid():
            used = [int(pid) for pid in (sender, receiver) if pid != "0"]
            found.append((f"System V message queue {number}", used))
    for _, number, _, _, owner, *_ in _table("sem"):
        if int(owner) == os.geteuid():
            pid = int(_libc.semctl(int(number), 0, GETPID))
            found.append((f"System V semaphores {number}", [pid] if pid > 0 else []))
    return found


def _table(kind: str) -> list[list[str]]:
    place = Path("/proc/sysvipc", kind)
    # A kernel without System V IPC has no such file.
    lines = place.read_text().splitlines() if place.exists() else []
    return [line.split() for line in lines[1:]]


def _memory(key: int) -> int:
    return int(_libc.shmget(key, 0, 0))


def _path(name: str) -> bytes:
    return f"/{name}".encode()
