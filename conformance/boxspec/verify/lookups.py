"""The names in the workspace and in the home directory that a command looks up when it starts.

A traced start shows them, with those that are missing: a program inside could make these files.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

TRACER = "strace"
# A call, the folder that a relative name starts from, and the name.
CALL = re.compile(r'\b(\w+)\((?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"')
# Names of data files. A command does not execute them, so no script is written there.
DATA = {".json", ".toml", ".yaml", ".yml", ".ini", ".xml", ".lock", ".md"}
# Largest file that is replaced by a script with the same content.
MOST = 1 << 16
# The name of a script in a folder that a command lists.
IN_FOLDER = "00-first.sh"
NAMED_LIKE_FOLDERS = (".d", "hooks", "plugins")


def tracer(log: Path) -> list[str]:
    """Return the words to put before a command, so that it is traced. Without strace: no words."""
    if shutil.which(TRACER) is None:
        return []
    return [TRACER, "-f", "-y", "-qq", "-s", "4096", "-e", "trace=%file", "-o", str(log)]


@dataclass(frozen=True)
class Lookup:
    """A path that a command looked up.

    is_listed: True if it was opened as a folder.
    """

    path: Path
    is_listed: bool

    @property
    def script(self) -> Path:
        """Return the file that a command would execute."""
        if self.is_listed or self.path.name.endswith(NAMED_LIKE_FOLDERS):
            return self.path / IN_FOLDER
        return self.path


def lookups(log: str, bases: Iterable[Path]) -> list[Lookup]:
    """Return the lookups below these folders, each once, in the order of the trace."""
    bases = list(bases)
    found: dict[Lookup, None] = {}
    for line in log.splitlines():
        if (call := CALL.search(line)) is None:
            continue
        name = call[3].encode().decode("unicode_escape").encode("latin-1")
        # A relative name of a call without a folder may start from any of them.
        starts = [Path(call[2])] if call[2] else bases
        for start in starts:
            path = Path(os.path.normpath(start / os.fsdecode(name)))
            if any(path == base or base in path.parents for base in bases):
                found[Lookup(path, "O_DIRECTORY" in line or name.endswith(b"/"))] = None
    return list(found)


def could_be_planted(lookup: Lookup) -> bool:
    """True if a script could stand at this path.

    The files of git are left out: rows of their own ask whether a program can write them.
    """
    path = lookup.script
    if path.suffix in DATA or ".git" in path.parts or path.is_symlink():
        return False
    if path.exists():
        return path.is_file() and path.stat().st_size <= MOST
    # A missing folder is made. A file cannot become a folder.
    return next(each for each in path.parents if os.path.lexists(each)).is_dir()
