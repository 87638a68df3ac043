"""What is in a workspace."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def fail(why: OSError) -> None:
    """What a walk does not see, no mount protects."""
    raise why


def entries(root: bytes) -> Iterator[bytes]:
    """All of a workspace that can be looked at, relative; links are not followed."""
    for folder, folders, files in os.walk(root, onerror=fail):
        for name in (*folders, *files):
            yield os.path.relpath(os.path.join(folder, name), root)
        folders[:] = [name for name in folders if is_open(os.path.join(folder, name))]


def is_below(path: bytes, folder: bytes) -> bool:
    """Whether a path without links is the folder or lies in it."""
    return (path + b"/").startswith(folder.rstrip(b"/") + b"/")


def is_open(folder: bytes) -> bool:
    return os.path.islink(folder) or os.access(folder, os.R_OK | os.X_OK)


def closed(root: bytes) -> Iterator[bytes]:
    """Directories that may not be looked into. Who owns one can open it from inside."""
    for relative in entries(root):
        path = os.path.join(root, relative)
        if os.path.isdir(path) and not is_open(path):
            yield path


def other_names(root: bytes, paths: Iterable[bytes]) -> Iterator[bytes]:
    """Further names of these files in the workspace: what is done under one is done to all."""
    files = {file_of(path) for path in paths} - {None}
    for relative in entries(root) if files else ():
        path = os.path.join(root, relative)
        if file_of(path) in files:
            yield path


class InnerLinks:
    """Links of a workspace that lead into it: a file has one more name below each of them."""

    MOST_IN_A_NAME = 8
    MOST_NAMES = 1024

    def __init__(self, root: bytes) -> None:
        self.targets: dict[bytes, list[bytes]] = {}
        for relative in entries(root):
            path = os.path.join(root, relative)
            real = os.path.realpath(path)
            if os.path.islink(path) and is_below(real, root):
                self.targets.setdefault(real[len(root) + 1 :], []).append(relative)

    def names(self, relative: bytes, used: tuple[bytes, ...] = ()) -> Iterator[bytes]:
        """Other names of a path. Each goes through a link at most once."""
        parts = relative.split(b"/") if relative else []
        for n in range(len(parts) + 1) if self.targets else ():
            for link in self.targets.get(b"/".join(parts[:n]), ()):
                if link in used or len(used) == self.MOST_IN_A_NAME:
                    continue
                name = b"/".join([link, *parts[n:]])
                yield name
                yield from self.names(name, (*used, link))


def file_of(path: bytes) -> tuple[int, int] | None:
    """What it is, where it has more names."""
    st = os.lstat(path)
    many = st.st_nlink > 1 and not stat.S_ISDIR(st.st_mode) and not stat.S_ISLNK(st.st_mode)
    return (st.st_dev, st.st_ino) if many else None


def is_channel(path: bytes) -> bool:
    """Whoever opens one for writing needs no mount that may be written to."""
    mode = os.lstat(path).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def missing_links(root: bytes) -> list[bytes]:
    """Files with more links than names that were found."""
    seen: dict[tuple[int, int], list[bytes]] = {}
    counts: dict[tuple[int, int], int] = {}
    # Looked at behind a run, in which a program may have removed it.
    for relative in entries(root) if os.path.isdir(root) else ():
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
