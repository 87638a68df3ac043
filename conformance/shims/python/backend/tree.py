"""Walk through the files of a workspace, and find other names of these files."""

from __future__ import annotations

import os
import re
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MOST_LINKS = 40  # the limit of links in path_resolution(7)
REPEATS = 10


def fail(why: OSError) -> None:
    """Raise the error of a walk: an entry that the walk has not seen would not be protected."""
    raise why


def entries(root: bytes) -> Iterator[bytes]:
    """Yield every entry of a workspace that can be listed, relative to the root.

    Links are not followed.
    """
    for folder, folders, files in os.walk(root, onerror=fail):
        for name in (*folders, *files):
            yield os.path.relpath(os.path.join(folder, name), root)
        folders[:] = [name for name in folders if is_open(os.path.join(folder, name))]


def attributes(root: bytes) -> list[tuple[bytes, os.stat_result]]:
    """Return the entries with their attributes.

    If another process removes an entry meanwhile, the listing is repeated.
    """
    for _ in range(REPEATS):
        try:
            return [(each, os.lstat(os.path.join(root, each))) for each in entries(root)]
        except (FileNotFoundError, NotADirectoryError) as why:
            removed = why
    raise removed


def is_below(path: bytes, folder: bytes) -> bool:
    """True if a path, which has no links, is the folder or lies in it."""
    return (path + b"/").startswith(folder.rstrip(b"/") + b"/")


def passes_link_below(path: bytes, root: bytes) -> bool:
    """True if an absolute path leads through a link in the root, or if its links form a loop."""
    for _ in range(MOST_LINKS):
        link, rest = first_link(path)
        if not link:
            return False
        place = os.path.join(os.path.realpath(os.path.dirname(link)), os.path.basename(link))
        if is_below(place, root):
            return True
        path = os.path.join(os.path.dirname(place), os.readlink(place), rest)
    return True


def first_link(path: bytes) -> tuple[bytes, bytes]:
    """Return the part of a path up to its first link, and the rest; or two empty names."""
    names = path.split(b"/")
    for end in range(2, len(names) + 1):
        if os.path.islink(part := b"/".join(names[:end])):
            return part, b"/".join(names[end:])
    return b"", b""


def is_open(folder: bytes) -> bool:
    return os.path.islink(folder) or os.access(folder, os.R_OK | os.X_OK)


def closed(root: bytes) -> Iterator[bytes]:
    """Yield the directories that cannot be listed.

    Their owner could change their mode from inside.
    """
    for relative in entries(root):
        path = os.path.join(root, relative)
        if os.path.isdir(path) and not is_open(path):
            yield path


def other_names(root: bytes, paths: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the other names of these files in the workspace.

    A change under one name changes the file under all names.
    """
    files = {file_of(path) for path in paths} - {None}
    for relative in entries(root) if files else ():
        path = os.path.join(root, relative)
        if file_of(path) in files:
            yield path


class InnerLinks:
    """The links of a workspace that lead into the workspace.

    If a link leads to a directory above a file, the file has one more name.
    """

    MOST_IN_A_NAME = 8
    MOST_NAMES = 256  # of one path; links in circles give a path very many names

    def __init__(self, root: bytes, mounted: Iterable[tuple[bytes, bytes]] = ()) -> None:
        """Find the links below the root.

        mounted: pairs of paths in the root. Because of a mount, the two paths of a pair are names
            of one file.
        """
        self.cut = False  # some names were left out
        self.left = 0
        self.targets: dict[bytes, list[bytes]] = {}
        for path, other in mounted:
            self.targets.setdefault(path[len(root) + 1 :], []).append(other[len(root) + 1 :])
        for relative in entries(root):
            path = os.path.join(root, relative)
            real = os.path.realpath(path)
            if os.path.islink(path) and is_below(real, root):
                self.targets.setdefault(real[len(root) + 1 :], []).append(relative)

    def names(self, relative: bytes, used: tuple[bytes, ...] = ()) -> Iterator[bytes]:
        """Yield other names of a path. Each name uses a link at most once."""
        if not used:
            self.left = self.MOST_NAMES
        parts = relative.split(b"/") if relative else []
        for n in range(len(parts) + 1) if self.targets else ():
            for link in self.targets.get(b"/".join(parts[:n]), ()):
                if link in used or len(used) == self.MOST_IN_A_NAME:
                    continue
                if self.left == 0:
                    self.cut = True
                    return
                self.left -= 1
                name = b"/".join([*filter(None, [link]), *parts[n:]])
                yield name
                yield from self.names(name, (*used, link))


def mounted_names(root: bytes) -> list[tuple[bytes, bytes]]:
    """Return pairs of paths of one file: a path in the root, and another path that a mount gives
    the file.

    If both paths are in the root, there are two pairs, one for each order.
    """
    mounts = mount_points()
    around = max((each for each in mounts if is_below(root, each[2])), key=lambda it: len(it[2]))
    inner = moved(root, around[2], around[1])
    places = [(around[0], inner, root)]
    places += [each for each in mounts if is_below(each[2], root) and each != around]
    found: dict[tuple[bytes, bytes], None] = {}
    for device, inner, path in places:
        for other_device, other_inner, at in mounts:
            if other_device != device:
                continue
            if is_below(inner, other_inner):
                found[path, moved(inner, other_inner, at)] = None
            elif is_below(other_inner, inner):
                found[moved(other_inner, inner, path), at] = None
    return [(path, other) for path, other in found if path != other and is_same(path, other)]


def mount_points() -> list[tuple[bytes, bytes, bytes]]:
    """Return for each mount: the device, the path in the file system, and the mount point."""
    found = []
    with open("/proc/self/mountinfo", "rb") as lines:
        for line in lines:
            _, _, device, inner, at, *_ = (
                re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m[1], 8)]), word)
                for word in line.removesuffix(b"\n").split(b" ")
            )
            found.append((device, inner, at))
    return found


def moved(path: bytes, folder: bytes, to: bytes) -> bytes:
    """Return the path with `folder`, in which it lies, replaced by another folder."""
    return os.path.normpath(os.path.join(to, os.path.relpath(path, folder)))


def is_same(path: bytes, other: bytes) -> bool:
    """True if both are names of one file. This is False if another mount covers one of them."""
    try:
        return os.path.samestat(os.lstat(path), os.lstat(other))
    except OSError:
        return False


def seen_through(mounted: tuple[bytes, bytes], path: bytes) -> bytes | None:
    """Return the path that this file, or a file below it, has through a mount.

    Return None if there is no such path.
    mounted: a pair of mounted_names().
    """
    place, other = mounted
    if is_below(place, path):
        return other
    name = moved(path, place, other) if is_below(path, place) else None
    return name if name is not None and is_same(path, name) else None


def file_of(path: bytes) -> tuple[int, int] | None:
    """Return device and inode of a file if it has several names, otherwise None."""
    st = os.lstat(path)
    many = st.st_nlink > 1 and not stat.S_ISDIR(st.st_mode) and not stat.S_ISLNK(st.st_mode)
    return (st.st_dev, st.st_ino) if many else None


def is_channel(path: bytes) -> bool:
    """True for a pipe or a socket. A read-only mount does not prevent writing to these."""
    mode = os.lstat(path).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def missing_links(root: bytes) -> list[bytes]:
    """Return files that have more hard links than names in the workspace."""
    try:
        mounted = [pair for pair in mounted_names(root) if is_below(pair[1], root)]
    except OSError:
        mounted = []  # the caller has no /proc
    seen: dict[tuple[int, int], list[bytes]] = {}
    counts: dict[tuple[int, int], int] = {}
    # The program may have removed the root during the run.
    for relative, st in attributes(root) if os.path.isdir(root) else ():
        path = os.path.join(root, relative)
        if st.st_nlink > 1 and not os.path.isdir(path):
            seen.setdefault((st.st_dev, st.st_ino), []).append(path)
            counts[st.st_dev, st.st_ino] = st.st_nlink
    found: list[bytes] = []
    for key, paths in seen.items():
        if counts[key] > sum(not repeats(path, mounted) for path in paths):
            found += paths
    return found


def repeats(path: bytes, mounted: Sequence[tuple[bytes, bytes]]) -> bool:
    """True if mounts in the workspace show this file also under another path, and the other path
    represents the file.

    Of several paths to one file, the first in the order of bytes represents the file.
    """
    others = (seen_through(pair, path) for pair in mounted)
    return any(other is not None and other < path for other in others)


def state(root: bytes) -> dict[bytes, tuple[int, ...]]:
    """Return for every entry those attributes that change when the entry is changed."""
    found: dict[bytes, tuple[int, ...]] = {}
    for relative, st in attributes(root):
        found[relative] = (st.st_ino, st.st_size, st.st_mtime_ns, st.st_ctime_ns, st.st_mode)
    return found
