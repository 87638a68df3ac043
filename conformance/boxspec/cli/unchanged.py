"""The kit during a run: what is judged has the rights of its caller, and may write to the kit."""

from __future__ import annotations

import hashlib
import os
import sys
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


def _compiled(sources: Path) -> Iterator[tuple[str, str]]:
    """What the interpreter would run in place of sources. Another run may write the same again."""
    places = [sources]
    if sys.pycache_prefix is not None:
        places.append(Path(sys.pycache_prefix) / sources.relative_to("/"))
    for place in places:
        for path in place.rglob("*.pyc"):
            yield str(path), hashlib.blake2b(path.read_bytes()).hexdigest()


class Kit:
    """What a verdict is made of, as it was when the run began: sources, requirements, programs."""

    def __init__(self, folders: tuple[Path, ...] | None = None) -> None:
        self._folders = folders or (ROOT / "conformance", programs.folder)
        self._before = self._now()
        self._compiled = self._compiled_now()

    def _now(self) -> dict[str, Facts]:
        return {path: facts for folder in self._folders for path, facts in _files(folder)}

    def _compiled_now(self) -> dict[str, str]:
        return dict(_compiled(self._folders[0]))

    def expect_unchanged(self) -> None:
        """HarnessError that names the first file which is not what it was."""
        now = self._now()
        changed = {path for path, _ in self._before.items() ^ now.items()}
        # More of them is no change: what was not compiled yet is, when it is needed.
        compiled = self._compiled_now()
        changed |= {path for path, told in self._compiled.items() if compiled.get(path) != told}
        if changed:
            raise HarnessError(
                f"{min(changed)} was changed during the run, so nothing is scored: restore it "
                "(git status shows more), and see what the shim did, or run again"
            )
