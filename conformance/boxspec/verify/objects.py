"""Kernel objects without a path, by their random names: shared memory and a message queue."""

from __future__ import annotations

import ctypes
import os

REMOVE = 0
# A segment has no path. In registers and messages its key stands below this file.
SEGMENTS = "/proc/sysvipc/shm"
QUEUES = "/dev/mqueue"

_libc = ctypes.CDLL(None, use_errno=True)


def names(key: int, name: str) -> list[str]:
    """Return the names of memory with this key and of this queue, as registers have them."""
    return [f"{SEGMENTS}/{key}", f"{QUEUES}/{name}"]


def has_memory(key: int) -> bool:
    """True if there is System V shared memory with this key."""
    return _memory(key) >= 0


def has_queue(name: str) -> bool:
    """True if there is a POSIX message queue with this name, which has no slash here."""
    queue = _libc.mq_open(_path(name), os.O_RDONLY | os.O_NONBLOCK)
    if queue >= 0:
        _libc.mq_close(queue)
    return bool(queue >= 0)


def remove(key: int, name: str) -> None:
    """Remove both, as far as they exist."""
    if (memory := _memory(key)) >= 0:
        _libc.shmctl(memory, REMOVE, None)
    _libc.mq_unlink(_path(name))


def _memory(key: int) -> int:
    return int(_libc.shmget(key, 0, 0))


def _path(name: str) -> bytes:
    return f"/{name}".encode()
