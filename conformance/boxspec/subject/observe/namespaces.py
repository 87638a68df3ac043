"""The namespaces of a process, as /proc/PID/ns shows them."""

from __future__ import annotations

from pathlib import Path

# Those that separate a process from the host; the others only change what it sees of itself.
NAMESPACES = ("mnt", "net", "pid", "user", "ipc")


def namespaces(pid: int | str) -> list[str]:
    """Return the names of a process's namespaces, as "net:[4026531840]", in the order above.

    Raise OSError if this user cannot see them, or the process has ended.
    """
    return [str(Path(f"/proc/{pid}/ns/{name}").readlink()) for name in NAMESPACES]
