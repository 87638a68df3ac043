"""Find the names in some folders that a command looks up when it starts.

A trace of a start shows them. Names of missing files are important: a program inside could make
these files.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

TRACER = "strace"
# Matches a traced call: its name, the folder from which a relative name starts, and the name.
CALL = re.compile(r'\b(\w+)\((?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"')
# Matches a change of the working directory: the process, and an absolute name.
CHANGED = re.compile(r'^(\d+) +chdir\("(/[^"\\]*)"\) += 0')
# Matches the start of a program that succeeded.
EXECUTED = re.compile(r'\bexecve\("([^"\\]+)".* = 0$', re.MULTILINE)
# The first name of these calls may be a text that names no file.
NO_FILES = ("mount", "symlink", "symlinkat")
# Files with these suffixes contain data. A command does not execute them, so no script is planted
# there.
DATA = {".json", ".toml", ".yaml", ".yml", ".ini", ".xml", ".lock", ".md"}
# A larger file is not replaced by a script that also contains the content of the file.
MOST = 1 << 16
# The name of the planted script in a folder that a command lists.
IN_FOLDER = "00-first.sh"
NAMED_LIKE_FOLDERS = (".d", "hooks", "plugins")


def tracer(log: Path) -> list[str]:
    """Return the words that trace a command if they precede it; no words if strace is missing."""
    if shutil.which(TRACER) is None:
        return []
    return [TRACER, "-f", "-y", "-qq", "-s", "4096", "-e", "trace=%file", "-o", str(log)]


@dataclass(frozen=True)
class Lookup:
    """A path that a command looked up.

    is_listed: True if the command opened the path as a folder.
    """

    path: Path
    is_listed: bool

    @property
    def script(self) -> Path:
        """Return the file that a command would execute."""
        if self.is_listed or self.path.name.endswith(NAMED_LIKE_FOLDERS):
            return self.path / IN_FOLDER
        return self.path


def lookups(log: str, starts: Iterable[Path], others: Iterable[Path] = ()) -> list[Lookup]:
    """Return the lookups below these folders, each once, in the order of the trace.

    starts: folders from which a relative name may start, if its call names no folder, and its
        process has not changed its working directory.
    """
    starts = list(starts)
    bases = [*starts, *others]
    found: dict[Lookup, None] = {}
    folders: dict[str, list[Path]] = {}
    for line in log.splitlines():
        if changed := CHANGED.match(line):
            folders[changed[1]] = [Path(changed[2])]
        if (call := CALL.search(line)) is None:
            continue
        name = call[3].encode().decode("unicode_escape").encode("latin-1")
        if call[1] in NO_FILES and not name.startswith(b"/"):
            continue
        known = folders.get(line.partition(" ")[0], starts)
        for start in [Path(call[2])] if call[2] else known:
            path = Path(os.path.normpath(start / os.fsdecode(name)))
            if any(path == base or base in path.parents for base in bases):
                found[Lookup(path, "O_DIRECTORY" in line or name.endswith(b"/"))] = None
    return list(found)


def executed(log: str) -> set[str]:
    """Return the names of the programs that the command executes."""
    return {name.rpartition("/")[2] for name in EXECUTED.findall(log)}


def reads_words(log: str) -> bool:
    """True if a program is started that reads words, separated by null bytes, from a descriptor.

    This is the option --args of bubblewrap.
    """
    return '"--args", "' in log


def folders_to_make(found: Iterable[Lookup]) -> list[Path]:
    """Return missing paths that may be names of folders in which a command would look further."""
    paths = dict.fromkeys(each.path for each in found)
    missing = [path for path in paths if path.suffix == "" and not path.name.startswith(".")]
    return [path for path in missing if not os.path.lexists(path) and path.parent.is_dir()]


def deepest(paths: Iterable[Path]) -> list[Path]:
    """Return each path once, without those above another path: one name cannot be a file and a
    folder."""
    kept = dict.fromkeys(paths)
    above = {parent for path in kept for parent in path.parents}
    return [path for path in kept if path not in above]


def could_be_planted(lookup: Lookup) -> bool:
    """True if a program could make a script at this path.

    Of the files of git only its settings are used, because git reads the others all the time.
    """
    path = lookup.script
    of_git = ".git" in path.parts and path.parts[-2:] != (".git", "config")
    if path.suffix in DATA or of_git or path.is_symlink():
        return False
    if path.exists():
        return path.is_file() and path.stat().st_size <= MOST
    # Missing folders can be made, but a file on the way cannot become a folder.
    return next(each for each in path.parents if os.path.lexists(each)).is_dir()
