"""Collect facts about a file, which an observer outside compares before and after an attempt."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from pathlib import Path

from boxspec.folders import flags

Facts = tuple[object, ...]


def facts_of(path: Path) -> Facts:
    """Return the facts about a path, without following links; () if the path does not exist.

    The times of a directory are left out, because the facts about its entries show the same
    changes.
    """
    try:
        st = path.lstat()
    except FileNotFoundError:
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
        facts += (hashlib.sha256(path.read_bytes()).hexdigest(), flags(path))
    return facts
