"""What the tests of exec may miss on a host."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

# Of the pipe that a case fills. Who is not root may ask for no more than fs.pipe-max-size.
ROOM = 512 * 1024

# No distribution gives these to anybody.
USERS = range(20_000, 50_000)


def unused_user() -> int:
    """The number of a user who has no process: RLIMIT_NPROC counts all that a user has.

    Other runs of the kit may take theirs at the same time. Chance keeps them apart."""
    owners = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                owners.add(entry.stat().st_uid)
    while (user := secrets.choice(USERS)) in owners:
        pass
    return user


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
