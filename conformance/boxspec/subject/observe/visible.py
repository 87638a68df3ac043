"""Check that /proc shows this user the processes that the kit observes."""

from __future__ import annotations

import os
import re

from boxspec.errors import UsageError
from boxspec.proc_lines import proc_lines
from boxspec.subject.observe.procs import read

CAP_SYS_PTRACE = 19


def hidden_by_proc() -> bool:
    """True if /proc hides processes that the caller may not trace, such as the warden."""
    mounts = read("/proc/self/mounts") or b""
    found = re.findall(rb"^\S+ /proc proc (\S+)", mounts, re.MULTILINE)
    options = found[-1] if found else b""
    if not re.search(rb"\bhidepid=(?!0|off)", options):
        return False
    # The members of the group in the option gid= see all processes. The default is group 0.
    group = re.search(rb"\bgid=(\d+)", options)
    sees_all = int(group[1]) if group else 0
    return sees_all not in (os.getegid(), *os.getgroups()) and not _may_trace()


def _may_trace() -> bool:
    for line in proc_lines(read("/proc/self/status")):
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) >> CAP_SYS_PTRACE & 1)
    return False


def need_mounted_proc() -> None:
    """Raise UsageError if /proc is missing."""
    if read("/proc/self/stat") is None:
        raise UsageError(
            "/proc",
            "is not mounted here, and the kit observes processes in it",
            "mount -t proc proc /proc",
        )


def need_proc() -> None:
    """Raise UsageError if /proc is missing or hides processes."""
    need_mounted_proc()
    if hidden_by_proc():
        raise UsageError(
            "/proc",
            "is mounted with hidepid, so this user cannot see all processes that the kit observes",
            "run as root, or as a member of the group that its option gid= names",
        )
