"""The kit during a run: what is judged has the rights of its caller, and may write to the kit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from boxspec.errors import HarnessError
from boxspec.places import ROOT
from boxspec.programs import programs

# Which file it is, how long, and when its text and its facts last changed. A program can set back
# the first of both times, not the second.
Facts = tuple[int, int, int, int]


def _files(folder: Path) -> Iterator[tuple[str, Facts]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") or entry.name == "__pycache__":
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _files(Path(entry.path))
            else:
                found = entry.stat(follow_symlinks=False)
                facts = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
                yield entry.path, facts


class Kit:
    """What a verdict is made of, as it was when the run began: sources, requirements, programs."""

    def __init__(self, folders: tuple[Path, ...] | None = None) -> None:
        self._folders = folders or (ROOT / "conformance", programs.folder)
        self._before = self._now()

    def _now(self) -> dict[str, Facts]:
        return {path: facts for folder in self._folders for path, facts in _files(folder)}

    def expect_unchanged(self) -> None:
        """HarnessError that names the first file which is not what it was."""
        now = self._now()
        for path in sorted(self._before.keys() | now.keys()):
            if self._before.get(path) != now.get(path):
                raise HarnessError(
                    f"{path} was changed during the run, so nothing is scored: restore it "
                    "(git status shows more), and see what the shim did, or run again"
                )
