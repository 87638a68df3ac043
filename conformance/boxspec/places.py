"""Find paths in the checkout, in the installed kit, and for temporary files."""

from __future__ import annotations

import errno
import os
import shlex
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from boxspec.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]
CONTRACTS = ROOT / "conformance" / "contracts"
TEMPLATES = ROOT / "conformance" / "shims" / "templates"

# True for an installed kit. It has only a part of the checkout's files, and no sources of
# implementations. If its wheel was built with the reference, the reference is on PATH.
INSTALLED = (ROOT / "launch.py").is_file()
# The name of the kit in printed commands. In a checkout it is a path relative to the root.
COMMAND = "boxspec" if INSTALLED else "./ci/boxspec"

MEMORY = Path("/dev/shm")
# The free space from which a file system in memory is used, and the space that a run needs: whole
# runs on two processors used at most 106 MiB.
_MEMORY_BYTES, _NEEDED_BYTES = 1 << 30, 128 << 20
NOT_UTF_8 = "the path is not UTF-8"
NOEXEC = "no program can be executed in it (mount option noexec)"


def command_from(folder: Path) -> str:
    """Return the name of the kit for a caller in this folder, quoted for a shell."""
    place = ROOT / "ci" / "boxspec"
    if INSTALLED or folder == ROOT:
        return COMMAND
    if folder == place.parent:
        return "./boxspec"
    return shlex.quote(os.path.relpath(place, folder) if ROOT in folder.parents else str(place))


def cache() -> Path:
    """Return the folder for files that the kit can make again. The folder may not exist yet."""
    if not INSTALLED:
        return ROOT / "build"
    return _caches() / "boxspec"


def _caches() -> Path:
    """Return the cache folder of this user."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    try:
        return Path(named) if named.startswith("/") else Path.home() / ".cache"
    except RuntimeError:
        # This happens for example in a container, if the user id is not in /etc/passwd.
        problem = f"is not set, and the user {os.getuid()} has no home folder"
        raise UsageError("HOME", problem, "set HOME, or XDG_CACHE_HOME") from None


def scratch() -> Path:
    """Return the folder in which folders of cases are made: TMPDIR, or a file system in memory.

    A run makes and deletes several thousand small folders. On a disk this takes more than half of
    the time that the kit spends in the kernel.
    """
    place = _scratch()
    if not is_text(place):
        raise UsageError(str(place), NOT_UTF_8, "name another folder: TMPDIR")
    if not _executes(place):
        raise UsageError(str(place), NOEXEC, "name another folder: TMPDIR")
    free = free_bytes(place)
    if free is not None and free < _NEEDED_BYTES:
        need = f"{free >> 20} MiB are free, and a run needs {_NEEDED_BYTES >> 20} MiB"
        raise UsageError(str(place), need, "free space, or name another folder: TMPDIR")
    return place


def _scratch() -> Path:
    named = any(os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    return Path(tempfile.gettempdir()) if named or not _fits(MEMORY) else MEMORY


def is_text(path: Path) -> bool:
    """True if the path is UTF-8. Only then it can be part of JSON, and so of a request."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _executes(folder: Path) -> bool:
    """False if the file system of the folder is mounted with noexec."""
    try:
        return not os.statvfs(folder).f_flag & os.ST_NOEXEC
    except OSError:
        return True


def free_bytes(folder: Path) -> int | None:
    """Return the free space of the folder's file system; None if it is unknown."""
    try:
        system = os.statvfs(folder)
    except OSError:
        return None
    # Some file systems do not limit the number of files, and report 0 of 0.
    return 0 if system.f_files and not system.f_favail else system.f_bavail * system.f_frsize


def kept_root() -> Path:
    """Return the folder for the evidence of failed tests, if their folders are in memory."""
    return cache() / "kept"


def left_roots() -> list[Path]:
    """Return the folders in which runs may have left folders."""
    return [kept_root(), _scratch(), MEMORY, Path(tempfile.gettempdir()), case_root()]


def for_others(env: Mapping[str, str]) -> dict[str, str]:
    """Return an environment for another user. TMPDIR is removed if this user may not write to
    it."""
    kept = dict(env)
    for name in ("TMPDIR", "TEMP", "TMP"):
        if kept.get(name) and not _open_to_all(Path(kept[name])):
            del kept[name]
    return kept


def _open_to_all(folder: Path) -> bool:
    try:
        return folder.stat().st_mode & stat.S_IRWXO == stat.S_IRWXO
    except OSError:
        return False


def case_root() -> Path:
    """Return the folder in which workspaces are made.

    The folder is not below /tmp or /dev/shm, because sandboxes replace these.
    """
    named = os.environ.get("BOXSPEC_CASE_ROOT")
    root = (Path(named) if named else _caches()) / "boxspec"
    if not is_text(root):
        raise UsageError(str(root), NOT_UTF_8, "name another folder: BOXSPEC_CASE_ROOT")
    try:
        root.mkdir(parents=True, exist_ok=True)
        if not os.access(root, os.W_OK | os.X_OK):
            raise PermissionError(errno.EROFS, "it cannot be written to")
    except OSError as why:
        problem = f"no workspace can be made: {why.strerror}"
        raise UsageError(str(root), problem, "name another folder: BOXSPEC_CASE_ROOT") from None
    if not _executes(root):
        raise UsageError(str(root), NOEXEC, "name another folder: BOXSPEC_CASE_ROOT")
    return root.resolve()


def _fits(folder: Path) -> bool:
    """True if the folder is in memory, has room, and all users can write and execute files in
    it."""
    try:
        mode = folder.stat().st_mode
        flags = os.statvfs(folder).f_flag
        mounts = Path("/proc/self/mounts").read_bytes().split(b"\n")
    except OSError:
        return False
    kinds = [line.split(b" ")[2] for line in mounts if os.fsencode(f" {folder} ") in line]
    everybody = stat.S_ISVTX | stat.S_IRWXO
    return (
        kinds[-1:] == [b"tmpfs"]
        and mode & everybody == everybody
        and not flags & (os.ST_NOEXEC | os.ST_RDONLY)
        and (free_bytes(folder) or 0) >= _MEMORY_BYTES
    )
