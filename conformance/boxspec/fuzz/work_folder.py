"""Check the work folder of a run.

The folder must be writable and have space, and only one run of an engine may use it.
"""

from __future__ import annotations

import contextlib
import fcntl
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from boxspec.errors import UsageError

# An engine needs this space to save a finding and the report about it.
ROOM_BYTES = 512 * 1024
REMEDY = "--work DIR names another folder"


def no_room(folder: Path) -> UsageError | None:
    """Return an error if the disk is full. The engines themselves would continue without a
    message."""
    if shutil.disk_usage(folder).free >= ROOM_BYTES:
        return None
    return UsageError(str(folder), "disk is full", f"free space, or {REMEDY}")


@contextlib.contextmanager
def claimed(folder: Path, *engines: str) -> Iterator[None]:
    """Create the folder and lock it for these engines.

    Two runs of one engine would overwrite each other's logs. The kernel releases the locks when the
    process ends.
    """
    with contextlib.ExitStack() as locks:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            files = [_lock_file(folder, engine) for engine in engines]
        except OSError as why:
            problem = f"cannot be written: {why.strerror}"
            raise UsageError(str(folder), problem, REMEDY) from None
        for file in files:
            _lock(locks.enter_context(file), folder)
        full = no_room(folder)
        if full is not None:
            raise full
        yield


def _lock_file(folder: Path, engine: str) -> IO[str]:
    return (folder.parent / f".{folder.name}.{engine}.lock").open("a", encoding="utf-8")


def _lock(lock: IO[str], folder: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        remedy = f"wait until it ends, or {REMEDY}"
        raise UsageError(str(folder), "another run uses it", remedy) from None
