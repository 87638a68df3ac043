"""The kit during a run: what is judged has the rights of its caller, and may write to the kit."""

from __future__ import annotations

import hashlib
import os
import struct
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
    """What the interpreter runs in place of sources. Another run may write the same again, and what
    is older than its source is compiled anew."""
    places = [(path, path.parent.parent) for path in sources.rglob("__pycache__/*.pyc")]
    if sys.pycache_prefix is not None:
        apart = Path(sys.pycache_prefix)
        found = (apart / sources.relative_to("/")).rglob("*.pyc")
        places += [(path, Path("/") / path.parent.relative_to(apart)) for path in found]
    for path, folder in places:
        code = path.read_bytes()
        if _is_of(code, folder / f"{path.name.partition('.')[0]}.py"):
            yield str(path), hashlib.blake2b(code).hexdigest()


def _is_of(code: bytes, source: Path) -> bool:
    """By its header: which interpreter, which kind (0 here), when and how long the source was."""
    _, kind, changed, size = struct.unpack_from("<4I", code.ljust(16, b"\0"))
    try:
        facts = source.stat()
    except OSError:
        return False
    now = (int(facts.st_mtime) & 0xFFFFFFFF, facts.st_size & 0xFFFFFFFF)
    return kind != 0 or (changed, size) == now


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
