"""Create executable programs and scripts for a case."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from pathlib import Path

from boxspec.api import programs as P


def settled(path: Path) -> Path:
    """Wait until no process has the file open for writing.

    Another thread may be between fork and exec, with a copy of the descriptor. Executing the file
    would then fail with ETXTBSY, and the shim would not be at fault. The kernel gives a read lease
    only if there is no writer.
    """
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    limit = time.monotonic() + 5
    try:
        while time.monotonic() < limit:
            try:
                fcntl.fcntl(reader, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            except BlockingIOError:
                os.sched_yield()
            except OSError:
                # The file system does not support leases.
                break
            else:
                fcntl.fcntl(reader, fcntl.F_SETLEASE, fcntl.F_UNLCK)
                break
    finally:
        os.close(reader)
    return path


def _make_room(path: Path) -> None:
    """Make the parent folder, and remove a file that a shim may have put at this path: writing to a
    fifo would block."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)


def program_at(path: Path, source: str | None = None) -> Path:
    """Copy exit-with (or `source`) to this path and make it executable."""
    _make_room(path)
    shutil.copy(source or P.exit_with, path)
    path.chmod(0o755)
    return settled(path)


def script_at(path: Path, body: str, first: str = "#!/bin/sh\n", mode: int = 0o755) -> Path:
    _make_room(path)
    path.write_text(first + body + "\n")
    path.chmod(mode)
    return settled(path)
