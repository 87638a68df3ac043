"""Find the changes of files by comparison: before the start of the command, and after it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from boxspec.subject.observe.facts import Facts, facts_of, holds, tree


class Watch:
    """The watched files of one start, and the files that the command moved away during it.

    top: the folder above all decoys.
    """

    def __init__(self, top: Path) -> None:
        self._top = top
        self._watched: dict[Path, dict[str, Facts]] = {}
        # The identity of the file at each tried path before the start; and the paths at which this
        # file was missing or replaced while the program ran.
        self._identities: dict[Path, tuple[int, int] | None] = {}
        self._displaced: set[Path] = set()

    def add(self, path: Path) -> None:
        """Watch this path, and all paths below it."""
        self._watched.setdefault(path, {})

    def paths(self) -> list[Path]:
        return list(self._watched)

    def settle(self, decoys: Iterable[Path]) -> None:
        """Record the watched paths and the decoys as they are before the start."""
        for path in self._watched:
            self._watched[path] = _tree(path)
        for path in (*decoys, *self._watched):
            self._identities |= {each: _identity(each) for each in self._with_parents(path)}

    def _with_parents(self, path: Path) -> Iterator[Path]:
        """Yield the path, and the folders above it up to `top`."""
        yield path
        yield from (each for each in path.parents if each.is_relative_to(self._top))

    def note_displaced(self, tokens: Mapping[Path, str]) -> None:
        """Note which files the command has moved away. tokens: the content of each decoy."""
        known = self._identities.items()
        self._displaced = {path for path, before in known if before and before != _identity(path)}
        self._displaced |= {path for path, token in tokens.items() if not holds(path, token)}

    def is_displaced(self, path: Path) -> bool:
        """True if the command had moved the path, or a folder above it, when the program ran."""
        return not self._displaced.isdisjoint(self._with_parents(path))

    def changes(self, path: Path) -> Iterator[tuple[Path, str]]:
        """Yield each changed path at and below a watched path, with a word for the change."""
        before, now = self._watched[path], _tree(path)
        for name in sorted({*before, *now}):
            if before.get(name) != now.get(name):
                how = "created" if name not in before else "removed" if name not in now else ""
                yield Path(name), how or "changed"


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _tree(path: Path) -> dict[str, Facts]:
    found = {str(each): facts_of(each) for each in (path, *tree(path))}
    return {name: facts for name, facts in found.items() if facts}


def write_in_place(path: Path, data: bytes) -> None:
    """Write a file while the command runs. The command may have put a fifo or a link in its
    place."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o666), "wb") as file:
        file.write(data)


def is_empty(path: Path) -> bool:
    """True for a regular file without content."""
    return path.is_file() and not path.is_symlink() and path.stat().st_size == 0
