"""Make and remove the temporary directory of an execution."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from time import monotonic_ns, sleep, time_ns

REMOVE_NS = 1_000_000_000


def make() -> bytes:
    path = os.path.join(below(), b"boxspec-module-" + os.urandom(8).hex().encode())
    os.mkdir(path, 0o700)
    os.chmod(path, 0o700)  # the umask may have removed the owner's permissions
    return path


def below() -> bytes:
    """Return the directory in which the directory of an execution is made.

    A relative TMPDIR is ignored: in the child it would name another place.
    """
    named = os.environb.get(b"TMPDIR", b"")
    return named if named.startswith(b"/") else b"/tmp"


def remove(path: bytes) -> bool:
    """Remove the directory. Return False if another process kept writing to it for too long."""
    if not is_folder(path):
        unlink(path)  # the module has put another file in its place, for example a link
        return True
    limit = Limit(monotonic_ns() + REMOVE_NS, time_ns())
    if is_mounted(path):
        return False
    empty(path, limit)
    while not gone(path):
        if monotonic_ns() >= limit.until_ns:
            return False
        sleep(0.002)
        empty(path, limit)
    return True


@dataclass(frozen=True)
class Limit:
    """The limit after which the removal ends, even if the directory is not empty.

    until_ns: the time by the monotonic clock.
    began_ns: the start of the removal, by the clock of file times.
    """

    until_ns: int
    began_ns: int

    def ends_at(self, path: bytes) -> bool:
        """True if the time is over and this file was written since the removal began.

        Such a file shows that another process is writing. The removal of a directory that is only
        large may take as long as necessary.
        """
        if monotonic_ns() < self.until_ns:
            return False
        try:
            return os.lstat(path).st_mtime_ns > self.began_ns
        except OSError:
            return False


def gone(path: bytes) -> bool:
    try:
        os.rmdir(path)
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return True


def is_mounted(path: bytes) -> bool:
    """True if a file system is mounted at this directory, which is not empty.

    The mount may show a directory of the host, so its content must stay.
    """
    try:
        os.rmdir(path)
    except OSError as why:
        return why.errno == errno.EBUSY
    return False


def empty(path: bytes, limit: Limit) -> None:
    """Remove the contents, up to the limit.

    Inner directories are moved up to `path`. So no path becomes too long.
    """
    found = names(path)
    while found:
        name = found.pop()
        if not is_folder(name):
            if limit.ends_at(name):
                return
            unlink(name)
        elif not gone(name) and not is_mounted(name):
            permit(name)
            for inner in names(name):
                if is_folder(inner) and not gone(inner):
                    if is_mounted(inner):
                        continue
                    permit(inner)
                    above = os.path.join(path, os.urandom(8).hex().encode())
                    move(inner, above)
                    found.append(above)
                elif limit.ends_at(inner):
                    return
                else:
                    unlink(inner)
            gone(name)


def names(path: bytes) -> list[bytes]:
    try:
        return [os.path.join(path, name) for name in os.listdir(path)]
    except OSError:
        return []


def is_folder(path: bytes) -> bool:
    """True for a directory, but False for a link to a directory."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def unlink(path: bytes) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


def permit(path: bytes) -> None:
    try:
        os.chmod(path, 0o700)
    except OSError:
        pass


def move(path: bytes, above: bytes) -> None:
    try:
        os.rename(path, above)
    except OSError:
        pass
