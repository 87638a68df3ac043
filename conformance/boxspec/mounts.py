"""Read the mounts that this process sees from /proc/self/mountinfo."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple


class Mount(NamedTuple):
    """One mount.

    inner: the mounted directory, as a path of its file system.
    at: the mount point.
    """

    inner: Path
    at: Path


def mounts() -> list[Mount]:
    """Return all mounts in the order in which they were made; no mounts if /proc is not mounted."""
    return _parsed(_content())


def cgroup_mounts() -> list[Mount]:
    """Return the mounts of hierarchies of control groups."""
    return [each for each in mounts() if os.access(each.at / "cgroup.procs", os.F_OK)]


def cgroup_folders(
    names: Collection[str], hierarchies: Sequence[Mount] | None = None
) -> list[Path]:
    """Return the folders of these control groups, in each hierarchy that contains them.

    names: as in /proc/PID/cgroup. `/` is the top of each hierarchy.
    hierarchies: by default those that are mounted. In a container, `inner` may be its own group.
    """
    mounted = cgroup_mounts() if hierarchies is None else hierarchies
    tops = [each.at for each in mounted if "/" in names]
    return tops + [
        each.at / Path(name).relative_to(each.inner)
        for each in mounted
        for name in names
        if name != "/" and Path(name).is_relative_to(each.inner)
    ]


def least_limit(groups: Iterable[Path], limits_of: Callable[[Path], list[int]]) -> int | None:
    """Return the lowest limit of these control groups and their parents; None without a limit.

    groups: their folders. limits_of: reads the limits in a folder.
    """
    folders = [folder for group in groups for folder in (group, *group.parents)]
    return min((limit for folder in folders for limit in limits_of(folder)), default=None)


def _content() -> bytes:
    try:
        return Path("/proc/self/mountinfo").read_bytes()
    except OSError:
        return b""


def _parsed(content: bytes) -> list[Mount]:
    # A name may contain any character but a line feed, which the kernel escapes.
    lines = os.fsdecode(content).split("\n")
    return [Mount(*map(_decoded, line.split(" ")[3:5])) for line in lines if line]


def mounted_below(folder: Path) -> list[Path]:
    """Return the mount points at this folder or below it, as paths that begin with `folder`."""
    content = _content()
    # A quick test: a host may have thousands of mounts, and few folders contain one.
    if os.fsencode(_encoded(folder.name)) not in content:
        return []
    place = folder.parent.resolve() / folder.name
    found = [each.at for each in _parsed(content) if each.at.is_relative_to(place)]
    return [folder / at.relative_to(place) for at in found]


def inner_path(path: Path) -> str:
    """Return the path of a file in its own file system.

    The mount point is replaced by the directory of the file system that is mounted there.
    """
    place = path.parent.resolve() / path.name
    around = [Mount(Path("/"), Path("/")), *mounts()]
    around = [each for each in around if place.is_relative_to(each.at)]
    # If there are several mounts at one place, the last one covers the others.
    mount = max(reversed(around), key=lambda each: len(each.at.parts))
    return str(mount.inner / place.relative_to(mount.at))


def _encoded(name: str) -> str:
    return re.sub(r"[ \t\n\\]", lambda found: f"\\{ord(found[0]):03o}", name)


def _decoded(word: str) -> Path:
    """Decode a word, in which a blank, tab, newline or backslash is \\ and three octal digits."""
    return Path(re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), word))
