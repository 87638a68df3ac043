"""Check the state of a caller after an operation, and what a child has from its caller."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from boxspec.api import ShimProcess, expect, for_the_prompt
from boxspec.proc_lines import proc_lines
from boxspec.subject.case import Case
from boxspec.subject.observe import procs
from boxspec.subject.observe.procs import Status
from contracts.shared.inherited import UNUSUAL_LIMITS
from contracts.shared.signals import THREE

Read = Callable[[int], Any]

# The C library reserves signals 32 and 33.
RESERVED = {32, 33}
# Other requirements are about the dispositions of the signals in THREE. A runtime may handle
# SIGCHLD from its first child on.
EXCLUDED = {*THREE, signal.SIGCHLD, *RESERVED}
# A state in which both a change to a common value and a change back to the default can be seen.
CALLER = [*UNUSUAL_LIMITS, "--block", "USR2", "--ignore", "HUP"]
IOPRIO_GET = {"x86_64": 252, "aarch64": 31}.get(os.uname().machine)
IOPRIO_WHO_PROCESS = 1
# Position of the scheduling policy in /proc/PID/stat, counted after the program's name.
POLICY = 41 - 3


def field(name: str) -> Read:
    """Return a function that reads this field of /proc/PID/status."""
    return lambda pid: Status(pid).get(name)


def mask(name: str, without: Collection[int] = EXCLUDED) -> Read:
    return lambda pid: sorted(procs.at_rest(pid).mask(name) - {*without})


def blocked(pid: int) -> list[int]:
    """Return the signals that every thread blocks.

    A runtime may use the main thread for another purpose, with another mask: Go waits on it for
    signals.
    """
    procs.at_rest(pid)
    threads = [path.name for path in Path(f"/proc/{pid}/task").iterdir()]
    masks = [Status(pid, each) for each in threads]
    return sorted(set.intersection(*(each.mask("SigBlk") for each in masks if each)) - RESERVED)


def content(name: str) -> Read:
    """Return a function that reads this file in /proc/PID; None if the kernel refuses that."""
    return lambda pid: procs.read(f"/proc/{pid}/{name}")


def working_directory(pid: int) -> str | None:
    try:
        return str(Path(f"/proc/{pid}/cwd").readlink())
    except OSError:
        return None


def limits(pid: int) -> dict[str, list[str]]:
    """Return the soft and the hard value of each resource limit, by its name."""
    # The names are in a column of 26 characters, below a heading. The kit itself limits the time of
    # a shim that has priority over all other programs.
    lines = proc_lines(procs.read(f"/proc/{pid}/limits"))[1:]
    found = {line[:26].strip(): line[26:].split()[:2] for line in lines}
    return {name: values for name, values in found.items() if name != "Max realtime timeout"}


def nonblocking_streams(pid: int) -> dict[int, bool]:
    """Return for each open standard stream whether it is in non-blocking mode."""
    found = {}
    for fd in (0, 1, 2):
        for line in proc_lines(procs.read(f"/proc/{pid}/fdinfo/{fd}")):
            if line.startswith("flags:"):
                found[fd] = bool(int(line.split()[1], 8) & os.O_NONBLOCK)
    return found


def niceness(pid: int) -> int:
    return os.getpriority(os.PRIO_PROCESS, pid)


def io_priority(pid: int) -> int | None:
    if IOPRIO_GET is None:
        return None
    return int(ctypes.CDLL(None).syscall(IOPRIO_GET, IOPRIO_WHO_PROCESS, pid))


def scheduling(pid: int) -> bytes | None:
    stat = procs.read(f"/proc/{pid}/stat")
    return stat and stat.rpartition(b")")[2].split()[POLICY]


def namespaces(pid: int) -> list[str] | None:
    # A caller may have made a namespace for its children, so those of the children are left out.
    try:
        links = sorted(Path(f"/proc/{pid}/ns").glob("*[!n]"))
        return [str(each.readlink()) for each in links]
    except OSError:
        return None


# The state of a caller that no operation may change for good.
KEPT: dict[str, Read] = {
    "working directory": working_directory,
    "umask": field("Umask"),
    "niceness": niceness,
    "blocked signals": blocked,
    "ignored signals": mask("SigIgn"),
    "handled signals": mask("SigCgt"),
    "non-blocking mode of the standard streams": nonblocking_streams,
    "users": field("Uid"),
    "groups": field("Groups"),
    "no_new_privs": field("NoNewPrivs"),
    "capability bounding set": field("CapBnd"),
    "processors": field("Cpus_allowed"),
    "I/O priority": io_priority,
    "oom_score_adj": content("oom_score_adj"),
}
# State that a child inherits. contracts.shared.inherited checks further parts of it.
PASSED_ON: dict[str, Read] = {
    "users": field("Uid"),
    "group": field("Gid"),
    "supplementary groups": field("Groups"),
    "capability bounding set": field("CapBnd"),
    "no_new_privs": field("NoNewPrivs"),
    "processors": field("Cpus_allowed"),
    "scheduling policy": scheduling,
    "I/O priority": io_priority,
    "oom_score_adj": content("oom_score_adj"),
    "coredump_filter": content("coredump_filter"),
    "personality": content("personality"),
    "timer slack": content("timerslack_ns"),
    "control group": content("cgroup"),
    "namespaces": namespaces,
}


# A sandbox may give its program other values of these.
OF_A_SANDBOX = {
    *("users", "group", "supplementary groups", "capability bounding set", "no_new_privs"),
    *("namespaces", "control group"),
}


def state_of(pid: int) -> dict[str, Any]:
    return {name: read(pid) for name, read in KEPT.items()} | limits(pid)


def after(held: ShimProcess[Any]) -> dict[str, Any]:
    """Return the state of a caller that waits at the fifo `hold` after an operation."""
    with held:
        held.wait_response()
        return state_of(held.shim_pid)


def expect_unchanged(case: Case, found: Mapping[str, Any]) -> None:
    """Expect that a caller in the state CALLER is after an operation as it is before any."""
    with case.idle(*CALLER) as idle:
        usual = state_of(idle.pid)
    changed = [name for name in found if found[name] != usual[name]]
    with for_the_prompt(case):
        expect(
            "state of the caller after the operation that differs from its state before it",
            {name: found[name] for name in changed},
            {name: usual[name] for name in changed},
        )


def expect_passed_on(
    caller: int, child: int, inside: str | None, without: Collection[str] = ()
) -> None:
    """Expect that a running child has the attributes of its running caller.

    inside: the name of the sandbox of the child, or None.
    """
    left_out = {*without, *(OF_A_SANDBOX if inside else ())}
    parts = {name: read for name, read in PASSED_ON.items() if name not in left_out}
    got, wanted = ({name: read(pid) for name, read in parts.items()} for pid in (child, caller))
    changed = [name for name in parts if got[name] != wanted[name]]
    expect(
        "attributes of the child that differ from the caller's",
        {name: got[name] for name in changed},
        {name: wanted[name] for name in changed},
    )
