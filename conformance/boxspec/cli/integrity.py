"""Check that the kit does not change during a run.

A shim has the rights of the caller, so it could write to the files of the kit.
"""

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

# Inode, size, mtime and ctime. A program can set back the mtime, but not the ctime.
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
    """Yield the compiled files that the interpreter runs in place of the sources, with their
    digests.

    Another run may write equal files again, so the content is compared. If a compiled file does not
    match its source, the interpreter compiles the source again; such a file is left out.
    """
    places = [(path, path.parent.parent) for path in sources.rglob("__pycache__/*.pyc")]
    if sys.pycache_prefix is not None:
        apart = Path(sys.pycache_prefix)
        found = (apart / sources.relative_to("/")).rglob("*.pyc")
        places += [(path, Path("/") / path.parent.relative_to(apart)) for path in found]
    for path, folder in places:
        try:
            code = path.read_bytes()
        except PermissionError:
            # Another user wrote the file. The interpreter cannot read it, so it does not run it.
            continue
        if _is_of(code, folder / f"{path.name.partition('.')[0]}.py"):
            yield str(path), hashlib.blake2b(code).hexdigest()


def _is_of(code: bytes, source: Path) -> bool:
    """True if a compiled file belongs to its source. If its kind is 0 (checked by time), its header
    must have the mtime and the size of the source."""
    _, kind, changed, size = struct.unpack_from("<4I", code.ljust(16, b"\0"))
    try:
        facts = source.stat()
    except OSError:
        return False
    now = (int(facts.st_mtime) & 0xFFFFFFFF, facts.st_size & 0xFFFFFFFF)
    return kind != 0 or (changed, size) == now


class Kit:
    """The state of sources, requirements and programs at the beginning of the run."""

    def __init__(self, folders: tuple[Path, ...] | None = None) -> None:
        self._folders = folders or (ROOT / "conformance", programs.folder)
        self._before = self._now()
        self._compiled = self._compiled_now()

    def _now(self) -> dict[str, Facts]:
        return {path: facts for folder in self._folders for path, facts in _files(folder)}

    def _compiled_now(self) -> dict[str, str]:
        return dict(_compiled(self._folders[0]))

    def expect_unchanged(self) -> None:
        """Raise a HarnessError that names the first changed file."""
        now = self._now()
        changed = {path for path, _ in self._before.items() ^ now.items()}
        # Additional compiled files are no change, because the interpreter compiles a module at its
        # first import.
        compiled = self._compiled_now()
        changed |= {path for path, digest in self._compiled.items() if compiled.get(path) != digest}
        if changed:
            raise HarnessError(
                f"{min(changed)} was changed during the run, so the results are invalid: restore "
                "it (see git status), check whether the shim did this, and run again"
            )
