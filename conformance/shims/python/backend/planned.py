"""The planned mounts of bubblewrap. inner.py compares them with the mounts that were made.

bubblewrap looks up the source and the place of a mount by name, at different times. In between,
another process that may write to the workspace can replace a directory by a link. The mount would
then show another directory, or lie at another place.
"""

from __future__ import annotations

import os

import backend.tree as tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    # True if read-only; device and inode of the file, None for a new file system; the place.
    Mount = tuple[bool, tuple[int, int] | None, bytes]


def mounts(binds: Sequence[bytes], root: bytes) -> list[Mount]:
    """Return the mounts below the root that no later mount covers.

    Raise OSError if a source or a place lies behind a link.
    """
    found: dict[bytes, Mount] = {}
    for read_only, source, place in _each(binds):
        if place == root or not tree.is_below(place, root):
            continue
        for earlier in [each for each in found if tree.is_below(each, place)]:
            del found[earlier]
        file = None if source is None else _file(source, root)
        found[place] = (read_only, file, place)
    return list(found.values())


def _each(binds: Sequence[bytes]) -> Iterator[tuple[bool, bytes | None, bytes]]:
    for at, word in enumerate(binds):
        if word in (b"--bind", b"--ro-bind"):
            yield word == b"--ro-bind", binds[at + 1], binds[at + 2]
        elif word == b"--tmpfs":
            yield False, None, binds[at + 1]


def _file(path: bytes, root: bytes) -> tuple[int, int]:
    """Return device and inode. A path below the root must not lead through a link."""
    names = path.split(b"/") if tree.is_below(path, root) else []
    fd = os.open(b"/" if names else path, os.O_PATH)
    for name in names:
        above = fd
        try:
            fd = os.open(name or b".", os.O_PATH | os.O_NOFOLLOW, dir_fd=above)
        finally:
            os.close(above)
    try:
        found = os.fstat(fd)
    finally:
        os.close(fd)
    if found.st_mode & 0o170000 == 0o120000:
        raise OSError(f"{os.fsdecode(path)} is a link, which was not there before")
    return found.st_dev, found.st_ino
