"""The folders of runs: made, kept, deleted, and those that a killed run left."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

# Whose folder it is: the pid, and when that process was started, in ticks since the boot.
_OWNED = re.compile(r"boxspec-([0-9]+)-([0-9]+)-")
_KEPT = ".kept"


def make(parent: Path) -> Path:
    """A folder of this process, which the next run there removes if this one is killed."""
    _remove_abandoned(parent)
    pid = os.getpid()
    return Path(tempfile.mkdtemp(prefix=f"boxspec-{pid}-{_born(pid)}-", dir=parent))


def leave(folder: Path) -> None:
    """The end of a run: an empty folder goes, any other one is for people."""
    with contextlib.suppress(OSError):
        try:
            folder.rmdir()
        except OSError:
            (folder / _KEPT).touch()


def delete(folder: Path) -> None:
    """With everything in it, as far as it goes; links are not followed."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except RecursionError:
        # It goes down by recursion, and how deep is up to the target.
        subprocess.run(["rm", "-rf", "--", folder], stderr=subprocess.DEVNULL, check=False)


def _born(pid: int) -> int | None:
    try:
        line = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The name in parentheses may hold blanks and parentheses itself.
    return int(line[line.rindex(b")") + 2 :].split()[19])


def _remove_abandoned(parent: Path) -> None:
    with os.scandir(parent) as entries:
        found = [(each, _OWNED.match(each.name)) for each in entries]
    for entry, owned in found:
        if owned is None or _born(int(owned[1])) == int(owned[2]):
            continue
        with contextlib.suppress(OSError):
            mine = entry.stat(follow_symlinks=False).st_uid == os.geteuid()
            if mine and not Path(entry.path, _KEPT).exists():
                delete(Path(entry.path))
