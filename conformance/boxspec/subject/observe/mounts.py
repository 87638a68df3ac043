"""The mounts of this host."""

from __future__ import annotations

import re
from pathlib import Path


def inner_path(path: Path) -> str:
    """Return the path of a file in its own file system: without the mount point, and with the
    directory that is mounted there."""
    place = path.parent.resolve() / path.name
    around = [each for each in _mounts() if place.is_relative_to(each[1])]
    # Of several mounts at one place the last one covers the others.
    inner, at = max(reversed(around), key=lambda each: len(each[1].parts))
    return str(inner / place.relative_to(at))


def _mounts() -> list[tuple[Path, Path]]:
    """Return for each mount the directory of its file system, and the mount point."""
    found = []
    for line in Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines():
        _, _, _, inner, at, *_ = (_decoded(word) for word in line.split(" "))
        found.append((Path(inner), Path(at)))
    return found


def _decoded(word: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), word)
