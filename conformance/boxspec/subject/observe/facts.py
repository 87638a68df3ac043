"""Collect facts about a file. An observer compares them before and after an attempt.

The files belong to a program that may be hostile. It may have replaced a file by a fifo, by a link
to a device or by a file of many gigabytes, and may have made a tree of any depth. No function here
waits for the program or needs much memory.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from pathlib import Path

from boxspec.errors import ShimBroke
from boxspec.file_flags import flags

Facts = tuple[object, ...]
# At most this many bytes of a file are read and compared.
BYTES_MOST = 16 << 20
WRITTEN_MOST = 1 << 28
# At most this many paths and levels of a tree are examined.
PATHS_MOST, LEVELS_MOST = 100_000, 64


def content(path: Path, most: int = BYTES_MOST) -> bytes | None:
    """Return the first bytes of a regular file, following links; None for other kinds of files."""
    with contextlib.suppress(OSError):
        # Opening some devices has effects, so the kind is checked before.
        if not stat.S_ISREG(path.stat().st_mode):
            return None
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            return file.read(most) if stat.S_ISREG(os.fstat(fd).st_mode) else None
    return None


def holds(path: Path, text: str) -> bool:
    """True if this is a regular file with the text near its beginning (BYTES_MOST)."""
    return os.fsencode(text) in (content(path) or b"")


def written(path: Path) -> bytes:
    """Return the content of a file that a judged program has written.

    Raise FileNotFoundError if it is missing, and ShimBroke if it is no regular file.
    """
    found = content(path, WRITTEN_MOST)
    if found is None:
        path.lstat()
        raise ShimBroke(f"{path.name} is no regular file, or cannot be read")
    return found


def tree(folder: Path) -> list[Path]:
    """Return the paths below a folder, without following links.

    The result is limited by PATHS_MOST and LEVELS_MOST.
    """
    found: list[Path] = []
    folders = [(folder, 1)]
    while folders and len(found) < PATHS_MOST:
        place, level = folders.pop()
        # A folder may be unreadable, or may be removed meanwhile.
        with contextlib.suppress(OSError), os.scandir(place) as entries:
            for each in entries:
                found.append(Path(each.path))
                if each.is_dir(follow_symlinks=False) and level < LEVELS_MOST:
                    folders.append((found[-1], level + 1))
    return sorted(found)


def facts_of(path: Path) -> Facts:
    """Return the facts about a path, without following links; () if the path cannot be examined.

    The times of a directory are left out, because the facts about its entries show the same
    changes.
    """
    try:
        st = path.lstat()
    except OSError:
        # The path does not exist or is too long.
        return ()
    facts: Facts = (st.st_mode, st.st_uid, st.st_gid, st.st_ino)
    if stat.S_ISDIR(st.st_mode):
        return facts
    facts += (st.st_size, st.st_nlink, st.st_mtime_ns)
    if stat.S_ISLNK(st.st_mode):
        return (*facts, os.readlink(path))  # noqa: PTH115  bytes and all
    if stat.S_ISREG(st.st_mode):
        with contextlib.suppress(OSError):
            names = sorted(os.listxattr(path))
            facts += tuple((name, os.getxattr(path, name)) for name in names)
        facts += (hashlib.sha256(content(path) or b"").hexdigest(), flags(path))
    return facts
