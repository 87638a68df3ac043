"""Where things are: in the checkout or in the installed kit, and while a command runs."""

from __future__ import annotations

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

# An installed kit is the same tree with less in it: no targets, nothing to build. The reference is
# beside it on PATH, where it was built for the wheel.
INSTALLED = (ROOT / "launch.py").is_file()
# How the kit is called, for commands that it prints: of a checkout from its root.
COMMAND = "boxspec" if INSTALLED else "./ci/boxspec"

MEMORY = Path("/dev/shm")
_MEMORY_BYTES = 1 << 30


def command_from(folder: Path) -> str:
    """The same from any folder, quoted for a shell: in a checkout it is a path."""
    place = ROOT / "ci" / "boxspec"
    if INSTALLED or folder == ROOT:
        return COMMAND
    if folder == place.parent:
        return "./boxspec"
    return shlex.quote(os.path.relpath(place, folder) if ROOT in folder.parents else str(place))


def cache() -> Path:
    """Where the kit keeps what it can make again; the folder may not be there yet."""
    if not INSTALLED:
        return ROOT / "build"
    return _caches() / "boxspec"


def _caches() -> Path:
    """Of this user."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    try:
        return Path(named) if named.startswith("/") else Path.home() / ".cache"
    except RuntimeError:
        # As in a container: some number, and no line of it in /etc/passwd.
        problem = f"is not set, and the user {os.getuid()} has no home folder"
        raise UsageError("HOME", problem, "set HOME, or XDG_CACHE_HOME") from None


def scratch() -> Path:
    """Where the folders of cases are made: TMPDIR, or else a file system in memory.

    A run makes and deletes some thousand small folders. On a disk's file system that costs more
    than half of the kit's time in the kernel.
    """
    named = any(os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    return Path(tempfile.gettempdir()) if named or not _fits(MEMORY) else MEMORY


def for_others(env: Mapping[str, str]) -> dict[str, str]:
    """The same for another user, without a place for temporary files where only we may write."""
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
    """Where workspaces of sandboxes are made: sandboxes have a /tmp and a /dev/shm of their own."""
    named = os.environ.get("BOXSPEC_CASE_ROOT")
    root = (Path(named) if named else _caches()) / "boxspec"
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as why:
        problem = f"cannot be made: {why.strerror}"
        raise UsageError(str(root), problem, "name another folder: BOXSPEC_CASE_ROOT") from None
    return root.resolve()


def _fits(folder: Path) -> bool:
    """It is in memory, has room, and lets everybody write and execute there."""
    try:
        mode = folder.stat().st_mode
        system = os.statvfs(folder)
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    kinds = [line.split(" ")[2] for line in mounts.splitlines() if f" {folder} " in line]
    everybody = stat.S_ISVTX | stat.S_IRWXO
    return (
        kinds[-1:] == ["tmpfs"]
        and mode & everybody == everybody
        and not system.f_flag & (os.ST_NOEXEC | os.ST_RDONLY)
        and system.f_bavail * system.f_frsize >= _MEMORY_BYTES
    )
