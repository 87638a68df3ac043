"""Find out which mechanisms for sandboxes this host has, without any changes."""

from __future__ import annotations

import ctypes
from pathlib import Path

from boxspec.errors import UsageError
from boxspec.programs import programs

LANDLOCK_CREATE_RULESET = 444
ABI_VERSION = 1


def landlock_abi() -> int:
    """Return the version of Landlock, or 0 if the kernel lacks it or it is disabled."""
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, int(libc.syscall(LANDLOCK_CREATE_RULESET, None, 0, ABI_VERSION)))


def number(path: str) -> int | None:
    """Return the number in a file of /proc/sys, or None if the file does not exist."""
    try:
        return int(Path(path).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def without_mechanisms() -> str | None:
    """Return a reason if the host has neither user namespaces nor Landlock, otherwise None.

    Without both, only root can enforce anything.
    """
    if landlock_abi() > 0 or (number("/proc/sys/user/max_user_namespaces") or 0) > 0:
        return None
    return "no Landlock (ABI 0) and no user namespaces (user.max_user_namespaces is 0)"


def without_probes() -> str | None:
    """Return a reason if the program with the probes is missing, otherwise None."""
    try:
        return None if Path(programs.probe).is_file() else f"{programs.probe} is not built"
    except UsageError as why:
        return str(why)
