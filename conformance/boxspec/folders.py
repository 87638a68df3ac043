"""The folders of runs: made, kept, deleted, and those that a killed run left."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

# Whose folder it is: the pid, and when that process was started, in ticks since the boot.
_OWNED = re.compile(r"boxspec-([0-9]+)-([0-9]+)-")
_KEPT = ".kept"
# ioctl_iflags(2): FS_IOC_GETFLAGS, and what keeps a file where it is: immutable, append-only.
_GET_FLAGS, _HELD = 0x80086601, 0x10 | 0x20


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


def delete(folder: Path) -> bool:
    """With everything in it, as far as it goes; links are not followed. Whether it is gone."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except RecursionError:
        # It goes down by recursion, and how deep is up to the target.
        subprocess.run(["rm", "-rf", "--", folder], stderr=subprocess.DEVNULL, check=False)
    return not os.path.lexists(folder)


def stays(folder: Path) -> str:
    """A folder that cannot be removed: what holds it, where, and how to be rid of it."""
    remedy = f"rm -rf {shlex.quote(str(folder))}"
    for mounted in _mounts_below(folder):
        first = f"umount -R {shlex.quote(mounted)}"
        return f"{folder} is not removed: {mounted} is mounted; {first}, then {remedy}"
    # How deep it is was up to the target.
    with contextlib.suppress(RecursionError):
        for place, folders, files in os.walk(folder):
            for path in (place, *(str(Path(place, name)) for name in (*folders, *files))):
                if flags(path) & _HELD:
                    first = f"chattr -R -ia {shlex.quote(path)}"
                    why = f"{path} is immutable, or append-only"
                    return f"{folder} is not removed: {why}; {first}, then {remedy}"
    return f"{folder} is not removed; {remedy}"


def _mounts_below(folder: Path) -> list[str]:
    try:
        lines = Path("/proc/self/mountinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    # The kernel writes blanks and the like as \040.
    octal = re.compile(r"\\([0-7]{3})")
    points = [octal.sub(lambda found: chr(int(found[1], 8)), line.split(" ")[4]) for line in lines]
    return [each for each in points if each.startswith(f"{folder}/")]


def flags(path: str | Path) -> int:
    """Those of chattr(1); none where they cannot be read, as of what is no file and no folder."""
    given = bytearray(8)
    with contextlib.suppress(OSError):
        if not stat.S_ISREG(mode := os.lstat(path).st_mode) and not stat.S_ISDIR(mode):
            return 0
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            fcntl.ioctl(fd, _GET_FLAGS, given)
        finally:
            os.close(fd)
    return int.from_bytes(given[:4], sys.byteorder)


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
