"""Read the flags that chattr(1) sets."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import sys
from pathlib import Path

# FS_IOC_GETFLAGS, from ioctl_iflags(2).
_GET_FLAGS = 0x80086601


def flags(path: str | Path) -> int:
    """Return the flags that chattr(1) sets on a file or folder.

    Return 0 if they cannot be read, or for other kinds of files.
    """
    given = bytearray(8)
    with contextlib.suppress(OSError):
        if not stat.S_ISREG(mode := os.lstat(path).st_mode) and not stat.S_ISDIR(mode):
            return 0
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            fcntl.ioctl(fd, _GET_FLAGS, given)
        finally:
            os.close(fd)
    return int.from_bytes(given[:4], sys.byteorder)
