"""Features of the host that some tests of exec need."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

# Capacity in bytes of a pipe that a test fills. Only root may exceed fs.pipe-max-size.
ROOM = 512 * 1024

# User ids that no distribution assigns.
USERS = range(20_000, 50_000)


def unused_user() -> int:
    """Return the id of a user without any process: RLIMIT_NPROC counts all processes of a user.

    The choice is random, so that two runs of the kit at the same time rarely pick the same id.
    """
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
    """Yield both ends of a pipe with ROOM bytes; raise OSError if the host allows less."""
    ours, theirs = os.pipe2(os.O_CLOEXEC)
    try:
        fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, ROOM)
        yield ours, theirs
    finally:
        os.close(ours)
        os.close(theirs)


def without_pipes() -> str | None:
    """Return why a pipe cannot have ROOM bytes on this host, or None if it can."""
    try:
        with pipe_with_room():
            return None
    except OSError as why:
        return f"a pipe may not have room for {ROOM} bytes: {why}"
