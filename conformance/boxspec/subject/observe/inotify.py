"""Report without polling that a file was opened or moved into place."""

from __future__ import annotations

import ctypes
import errno
import os
import struct

from boxspec.judge.verdict import NotMeasured

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
            raise _error(errno.EMFILE, "fs.inotify.max_user_instances")

    def watch(self, path: str, mask: int) -> int:
        number: int = _libc.inotify_add_watch(self.fd, os.fsencode(path), mask)
        if number < 0:
            raise _error(errno.ENOSPC, "fs.inotify.max_user_watches", path)
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


def _error(code_at_limit: int, limit: str, path: str | None = None) -> Exception:
    """Return the exception for the last error of the C library.

    limit: the setting of the kernel that limits each user, inotify(7). With `code_at_limit`, other
        programs of the user may have used all that it allows.
    """
    code = ctypes.get_errno()
    if code == code_at_limit:
        return NotMeasured(f"this user has too many inotify descriptors or watches: raise {limit}")
    return OSError(code, os.strerror(code), path)
