"""Create, keep and delete the folders of runs, and remove the folders of killed runs."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from boxspec.file_flags import flags
from boxspec.mounts import mounted_below

# The owner of a folder is the process that made it. The name of the folder contains three numbers
# of the owner: its pid; its start time in ticks since boot, because pids are reused; its pid
# namespace, because each container has its own pids.
_OWNER = re.compile("([0-9]+)-([0-9]+)-([0-9]+)")
_OWNED = re.compile(rf"boxspec-({_OWNER.pattern})-")
# The kit cannot see whether a process of another pid namespace lives. So its folder counts as used
# until this time in seconds has passed after the last change.
UNSEEN_S = 24 * 3600
_KEPT = ".kept"
# From ioctl_iflags(2): the two flags that prevent removal, immutable and append-only.
_HELD = 0x10 | 0x20


def make(parent: Path) -> Path:
    """Make a folder for this process. If the process is killed, the next run removes the folder."""
    _remove_abandoned(parent)
    return Path(tempfile.mkdtemp(prefix=f"boxspec-{owner()}-", dir=parent))


def make_registered(parent: Path, name: str, register: Path) -> Path:
    """Make a folder whose name does not show its owner.

    `register` names the folder, so that the next run can remove it.
    """
    register.mkdir(mode=0o700, parents=True, exist_ok=True)
    _remove_registered(register)
    made = parent / name
    with (register / owner()).open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(str(made)) + "\n")
    made.mkdir(mode=0o700)
    return made


@cache
def _remove_registered(register: Path) -> None:
    """Remove the folders of killed processes. This is done only once in this process."""
    for entry in register.iterdir():
        if not lives(entry.name, entry):
            remove_listed(entry, delete)


def listed(entry: Path) -> list[str]:
    """Return the paths in an entry of a register, or an empty list if another run removed the
    entry."""
    found = []
    with contextlib.suppress(FileNotFoundError):
        for line in entry.read_text(encoding="utf-8").splitlines():
            # The last line may be incomplete.
            with contextlib.suppress(ValueError):
                found.append(json.loads(line))
    return found


def remove_listed(entry: Path, remove: Callable[[Path], bool]) -> None:
    """Remove the paths that an entry of a register names, and the entry when all are gone."""
    left = [name for name in listed(entry) if not remove(Path(name))]
    if not left:
        entry.unlink(missing_ok=True)


def keep(folder: Path) -> None:
    """Keep the folder for the user, even if this process is killed."""
    (folder / _KEPT).touch()


def is_kept(folder: Path) -> bool:
    return (folder / _KEPT).exists()


def move(folder: Path, to: Path) -> None:
    """Copy files, directories and links to `to`, if they can be read, and remove the folder.

    Fifos, sockets and devices cannot be copied. They are left out, and mounts too.
    """

    points = mounted_below(folder)

    def special(place: str, names: list[str]) -> list[str]:
        modes = {name: os.lstat(Path(place, name)).st_mode for name in names}
        plain = (stat.S_ISREG, stat.S_ISDIR, stat.S_ISLNK)
        return [
            name
            for name, mode in modes.items()
            if not any(kind(mode) for kind in plain) or Path(place, name) in points
        ]

    # A shim can make a tree that is too deep for a recursive walk.
    with contextlib.suppress(OSError, shutil.Error, RecursionError):
        shutil.copytree(folder, to, symlinks=True, ignore=special)
    delete(folder)


@dataclass(frozen=True)
class Left:
    """A folder that a run has left.

    is_used: True if the run has not ended.
    """

    path: Path
    is_used: bool

    def size(self) -> int:
        return size(self.path)


def size(folder: Path) -> int:
    """Return the size on the disk in bytes, without files that cannot be read."""
    total = 0
    with contextlib.suppress(RecursionError):
        for place, _, names in os.walk(folder):
            for name in names:
                with contextlib.suppress(OSError):
                    total += os.lstat(Path(place, name)).st_blocks * 512
    return total


def left_by_runs(parents: Iterable[Path]) -> list[Left]:
    """Return the folders of this user's runs below these folders, kept ones included."""
    found = []
    for parent in dict.fromkeys(parents):
        try:
            entries = sorted(os.scandir(parent), key=lambda each: each.name)
        except OSError:
            continue
        for entry in entries:
            owned = _OWNED.match(entry.name)
            if owned and _is_mine(entry):
                path = Path(entry.path)
                found.append(Left(path, is_used=lives(owned[1], path)))
    return found


def _is_mine(entry: os.DirEntry[str]) -> bool:
    try:
        facts = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid()


def owner() -> str:
    """Return the three numbers that name this process as the owner of a folder."""
    pid = os.getpid()
    return f"{pid}-{_born(pid)}-{_namespace()}"


def lives(owner: str, made: Path) -> bool:
    """True if the owner of `made` lives, or if this cannot be known."""
    words = _OWNER.fullmatch(owner)
    if words is None:
        return True
    pid, born, namespace = (int(word) for word in words.groups())
    if namespace == _namespace():
        found = _born(pid)
        # /proc may hide the process (hidepid).
        return found == born or (found is None and _exists(pid))
    with contextlib.suppress(OSError):
        return time.time() - made.stat().st_mtime < UNSEEN_S
    return False


def _namespace() -> int:
    """Return the number of the pid namespace of this process; 0 if it cannot be read."""
    with contextlib.suppress(OSError):
        return Path("/proc/self/ns/pid").stat().st_ino
    return 0


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def leave(folder: Path) -> None:
    """Remove the folder at the end of a run if it is empty; otherwise keep it for the user."""
    with contextlib.suppress(OSError):
        try:
            folder.rmdir()
        except OSError:
            keep(folder)


def remove(path: Path) -> None:
    """Remove a folder with its content, or a file of another kind. It is no error if nothing is
    there."""
    if path.is_dir() and not path.is_symlink():
        delete(path)
    else:
        path.unlink(missing_ok=True)


def delete(folder: Path) -> bool:
    """Delete a folder with its content, without following links; return True if it is gone.

    A program may have mounted a directory of the host below the folder. The content of a mount does
    not change, and the folders above it stay.
    """
    _remove(folder)
    if os.path.lexists(folder):
        # Only root with all capabilities can empty a directory without permissions.
        give_permissions(folder)
        _remove(folder)
    return not os.path.lexists(folder)


def _remove(folder: Path) -> None:
    for tree in _unmounted(folder):
        try:
            shutil.rmtree(tree, ignore_errors=True)
        except RecursionError:
            # rmtree is recursive, and a shim can make a tree that is too deep for it.
            subprocess.run(["rm", "-rf", "--", tree], stderr=subprocess.DEVNULL, check=False)


def _unmounted(folder: Path) -> Iterator[Path]:
    """Yield the trees below a folder that contain no mount.

    Without a mount this is the folder itself. Files next to a mount point are left out: their
    folder cannot be removed, so they stay too.
    """
    points = mounted_below(folder)
    above = {each for point in points for each in point.parents}
    if not points:
        yield folder
        return
    folders = [folder]
    while folders:
        place = folders.pop()
        if place in points:
            continue
        if place not in above:
            yield place
            continue
        with contextlib.suppress(OSError), os.scandir(place) as entries:
            folders += [Path(each) for each in entries if each.is_dir(follow_symlinks=False)]


def give_permissions(folder: Path) -> None:
    """Let the owner read, enter and change each directory of this tree.

    Mounts and targets of links are left unchanged.
    """
    for tree in _unmounted(folder):
        _open(tree)
        with contextlib.suppress(RecursionError):
            for place, names, _ in os.walk(tree):
                for name in names:
                    _open(Path(place, name))


def _open(directory: Path) -> None:
    with contextlib.suppress(OSError):
        if stat.S_ISDIR(directory.lstat().st_mode):
            directory.chmod(0o700)


def stays(folder: Path) -> str:
    """Return a line about a folder that cannot be removed: the cause, the place and the remedy."""
    remedy = f"rm -rf {shlex.quote(str(folder))}"
    if mounted := mounted_below(folder):
        first = f"umount -R {shlex.quote(str(mounted[0]))}"
        return f"{folder} is not removed: {mounted[0]} is mounted; {first}, then {remedy}"
    # A shim can make a tree that is too deep for a recursive walk.
    with contextlib.suppress(RecursionError):
        for place, folders, files in os.walk(folder):
            for path in (place, *(str(Path(place, name)) for name in (*folders, *files))):
                if flags(path) & _HELD:
                    first = f"chattr -R -ia {shlex.quote(path)}"
                    why = f"{path} is immutable, or append-only"
                    return f"{folder} is not removed: {why}; {first}, then {remedy}"
    return f"{folder} is not removed; {remedy}"


def _born(pid: int) -> int | None:
    """Return the start time of a process in ticks since boot; None if /proc does not show it."""
    try:
        line = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The fields are counted from the last parenthesis: the name of the program is in parentheses,
    # and may itself contain blanks and parentheses.
    return int(line[line.rindex(b")") + 2 :].split()[19]) - _boot_offset()


@cache
def _boot_offset() -> int:
    """Return how many ticks the time namespace of this process adds to the time since boot.

    A process in another time namespace reads other start times of the same processes
    (time_namespaces(7)).
    """
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/timens_offsets").read_text(encoding="ascii").splitlines():
            name, seconds, nanoseconds = line.split()
            if name == "boottime":
                ns = int(seconds) * 10**9 + int(nanoseconds)
                return ns * os.sysconf("SC_CLK_TCK") // 10**9
    return 0


def _remove_abandoned(parent: Path) -> None:
    for left in left_by_runs([parent]):
        if not left.is_used and not is_kept(left.path):
            delete(left.path)
