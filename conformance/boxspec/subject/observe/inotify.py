"""Report without polling that a file was opened or moved into place."""

from __future__ import annotations

import ctypes
import os
import struct

OPEN = 0x20
CLOSE_WRITE = 0x8
MOVED_TO = 0x80

_libc = ctypes.CDLL(None, use_errno=True)
_HEAD = struct.Struct("iIII")


class Inotify:
    """An inotify descriptor. `read` returns (watch, mask, name) for each event, without waiting."""

    def __init__(self) -> None:
        self.fd: int = _libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.fd < 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))

    def watch(self, path: str, mask: int) -> int:
        number: int = _libc.inotify_add_watch(self.fd, os.fsencode(path), mask)
        if number < 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), path)
        return number

    def read(self) -> list[tuple[int, int, str]]:
        try:
            data = os.read(self.fd, 65536)
        except BlockingIOError:
            return []
        seen = []
        while data:
            watch, mask, _, length = _HEAD.unpack_from(data)
            name = data[_HEAD.size : _HEAD.size + length].rstrip(b"\0")
            seen.append((watch, mask, os.fsdecode(name)))
            data = data[_HEAD.size + length :]
        return seen

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
