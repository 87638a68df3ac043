"""Refuse to open a file of a run if that could wait for ever.

A test reads and writes files that the judged program can reach. A hostile program replaces one of
them by a fifo, whose opening waits for the other end, or by a link to an endless device. So each
ordinary open of such a file below the folder of a run raises ShimBroke. Not refused are opens with
O_NONBLOCK or O_PATH, and those inside `expect_fifo`.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from boxspec.errors import ShimBroke

_NEVER_WAITS = os.O_NONBLOCK | os.O_PATH
# The guarded folders, each with a slash at its end.
_guarded: tuple[str, ...] = ()
_changed = threading.Lock()
_this_thread = threading.local()


def guard(folder: Path) -> None:
    """Guard the files below this folder in the whole process."""
    global _guarded
    with _changed:
        first = not _guarded
        _guarded = (*_guarded, f"{folder}/")
    if first:
        # Python cannot remove an audit hook.
        sys.addaudithook(_on_event)


def release(folder: Path) -> None:
    """Guard this folder no longer."""
    global _guarded
    with _changed:
        _guarded = tuple(each for each in _guarded if each != f"{folder}/")


@contextlib.contextmanager
def expect_fifo() -> Iterator[None]:
    """Let this thread wait for the other end of a fifo."""
    _this_thread.waits = True
    try:
        yield
    finally:
        _this_thread.waits = False


def _on_event(event: str, args: tuple[object, ...]) -> None:
    if event != "open" or not _guarded:
        return
    place, _, flags = args
    if not isinstance(place, str | bytes | os.PathLike) or not isinstance(flags, int):
        return
    name = os.fsdecode(place)
    if flags & _NEVER_WAITS or not name.startswith(_guarded):
        return
    # A missing file is reported by the open itself.
    with contextlib.suppress(OSError, ValueError):
        mode = os.stat(name).st_mode  # noqa: PTH116  a Path for each open takes too long
        if stat.S_ISREG(mode) or stat.S_ISDIR(mode) or getattr(_this_thread, "waits", False):
            return
        raise ShimBroke(f"{os.path.basename(name)} is no regular file any more")  # noqa: PTH119
