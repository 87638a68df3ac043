"""What the tests of exec may miss on a host."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator

# Of the pipe that a case fills. Who is not root may ask for no more than fs.pipe-max-size.
ROOM = 512 * 1024


@contextlib.contextmanager
def pipe_with_room() -> Iterator[tuple[int, int]]:
    """Both ends; OSError where a pipe may not have that much."""
    ours, theirs = os.pipe2(os.O_CLOEXEC)
    try:
        fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, ROOM)
        yield ours, theirs
    finally:
        os.close(ours)
        os.close(theirs)


def without_pipes() -> str | None:
    """Why no pipe has that much room here, if that is so."""
    try:
        with pipe_with_room():
            return None
    except OSError as why:
        return f"a pipe may not have room for {ROOM} bytes: {why}"
