"""What is in a workspace."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def fail(why: OSError) -> None:
    """What a walk does not see, no mount protects."""
    raise why


def entries(root: bytes) -> Iterator[bytes]:
    """All of a workspace that can be looked at, relative; links are not followed."""
    for folder, folders, files in os.walk(root, onerror=fail):
        for name in (*folders, *files):
            yield os.path.relpath(os.path.join(folder, name), root)
        folders[:] = [name for name in folders if is_open(os.path.join(folder, name))]


def is_open(folder: bytes) -> bool:
    return os.path.islink(folder) or os.access(folder, os.R_OK | os.X_OK)


def closed(root: bytes) -> Iterator[bytes]:
    """Directories that may not be looked into. Who owns one can open it from inside."""
    for relative in entries(root):
        path = os.path.join(root, relative)
        if os.path.isdir(path) and not is_open(path):
            yield path


def missing_links(root: bytes) -> list[bytes]:
    """Files with more links than names that were found."""
    seen: dict[tuple[int, int], list[bytes]] = {}
    counts: dict[tuple[int, int], int] = {}
    for relative in entries(root):
        path = os.path.join(root, relative)
        st = os.lstat(path)
        if st.st_nlink > 1 and not os.path.isdir(path):
            seen.setdefault((st.st_dev, st.st_ino), []).append(path)
            counts[st.st_dev, st.st_ino] = st.st_nlink
    return [path for key, paths in seen.items() if counts[key] > len(paths) for path in paths]


def state(root: bytes) -> dict[bytes, tuple[int, ...]]:
    """What a change would show in."""
    found: dict[bytes, tuple[int, ...]] = {}
    for relative in entries(root):
        st = os.lstat(os.path.join(root, relative))
        found[relative] = (st.st_ino, st.st_size, st.st_mtime_ns, st.st_ctime_ns, st.st_mode)
    return found
