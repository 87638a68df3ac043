"""Files of the system that a program must not change."""

from __future__ import annotations

import os
import stat
from collections.abc import Container
from pathlib import Path

from boxspec.mounts import mounts

# No program executes these files: a file that is being executed cannot be opened for writing.
SYSTEM = (
    *("/etc/passwd", "/usr/share/zoneinfo/tzdata.zi", "/usr/share/terminfo/x/xterm"),
    *("/usr/lib/os-release", "/var/lib/dpkg/status", "/var/lib/rpm/rpmdb.sqlite"),
    *("/var/log/wtmp", "/var/log/dpkg.log", "/boot/grub/grub.cfg"),
)
# A command may make one of these folders writable. Their files differ from host to host.
FOLDERS = (
    *("/home", "/usr/local", "/opt", "/srv"),
    *("/var/backups", "/var/cache", "/var/spool", "/var/www"),
)
# Folders from which the system, or later sessions of all users, run programs or read settings. Some
# have no file that can be opened for writing, so a new file is tried.
OF_PROGRAMS = (
    *("/usr/local/bin", "/usr/local/sbin", "/usr/local/lib", "/usr/bin", "/usr/lib", "/opt"),
    *("/etc/cron.d", "/etc/cron.daily", "/etc/profile.d", "/etc/init.d", "/etc/ld.so.conf.d"),
    *("/etc/sudoers.d", "/etc/systemd/system", "/etc/apt/apt.conf.d", "/etc/pam.d", "/etc/ssh"),
    *("/etc/xdg/autostart", "/usr/lib/systemd/system", "/var/spool/cron/crontabs", "/boot"),
)
# The depth of the search, and the number of files that it looks at in each of FOLDERS.
DEEPEST, MOST = 4, 500


def system_files(home: Path) -> list[Path]:
    """Return files of the system that the caller can write: all of SYSTEM, and one file below each
    of FOLDERS.

    home: the home directory of the caller, whose files are left out.
    """
    known = [path for path in map(Path, SYSTEM) if path.is_file() and os.access(path, os.W_OK)]
    # Another file system may be on a host that does not answer.
    left_out = {home, *(mount.at for mount in mounts())}
    found = (_first(Path(folder), left_out, DEEPEST, [MOST]) for folder in FOLDERS)
    return [*known, *(path for path in found if path)]


def folders_of_the_system() -> list[Path]:
    """Return the folders of OF_PROGRAMS in which the caller can make a file without a name.

    No other program sees such a file.
    """
    known = dict.fromkeys(path.resolve() for path in map(Path, OF_PROGRAMS) if path.is_dir())
    return [path for path in known if _takes_a_file(path)]


def _takes_a_file(folder: Path) -> bool:
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    except OSError:
        return False
    return True


def _first(folder: Path, left_out: Container[Path], levels: int, left: list[int]) -> Path | None:
    """Return the first file below the folder, in the order of the names, that can be written.

    left_out: folders that are not searched.
    levels: how many levels of folders are searched.
    left: the number of files that may still be looked at.
    """
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda each: (_is_folder(each), each.name))
    except OSError:
        return None
    for each in found:
        left[0] -= 1
        if left[0] < 0:
            return None
        path = Path(each.path)
        if _is_folder(each) and levels > 1 and path not in left_out:
            if below := _first(path, left_out, levels - 1, left):
                return below
        elif each.is_file(follow_symlinks=False) and _is_data(path) and os.access(path, os.W_OK):
            return path
    return None


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)


def _is_data(path: Path) -> bool:
    """True if no process can execute the file."""
    return not stat.S_IMODE(path.stat().st_mode) & 0o111
