"""Read /proc: one process, its children, all its descendants."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cache

from boxspec.proc_lines import proc_lines
from boxspec.subject.observe.lines import Deadline, poll
from boxspec.subject.observe.realtime import beside_the_target
from boxspec.subject.observe.stamps import UNKNOWN, Waited

# Command lines are shown up to this length. The path of a case has about 100 characters.
SHOWN = 300


@dataclass(frozen=True)
class Proc:
    pid: int
    ppid: int
    pgid: int
    sid: int
    state: str
    starttime: int
    threads: int
    name: str
    cmdline: list[bytes] = field(default_factory=list)

    @property
    def alive(self) -> bool:
        """True unless the process is dead or a zombie. A zombie with other running threads is
        alive."""
        return self.state not in "XxZ" or (self.state == "Z" and self.threads > 1)

    def describe(self) -> str:
        argv = b" ".join(self.cmdline).decode("utf-8", "replace")[:SHOWN] or f"[{self.name}]"
        return f"{self.pid} (ppid {self.ppid} pgid {self.pgid} {self.state}) {argv}"


@beside_the_target()
def read(path: str) -> bytes | None:
    """Return the content of a small file in /proc, or None if its process has ended."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        parts = []
        while part := os.read(fd, 65536):
            parts.append(part)
        return b"".join(parts)
    except OSError:
        return None
    finally:
        os.close(fd)


def proc(pid: int) -> Proc | None:
    stat = read(f"/proc/{pid}/stat")
    if not stat:
        return None
    # The name may contain spaces and parentheses, so the fields are counted from the last
    # parenthesis.
    head, _, tail = stat.rpartition(b")")
    fields = tail.split()
    cmdline = read(f"/proc/{pid}/cmdline") or b""
    return Proc(
        pid=pid,
        ppid=int(fields[1]),
        pgid=int(fields[2]),
        sid=int(fields[3]),
        state=fields[0].decode(),
        starttime=int(fields[19]),
        threads=int(fields[17]),
        name=head.partition(b"(")[2].decode("utf-8", "replace"),
        cmdline=cmdline.rstrip(b"\0").split(b"\0") if cmdline else [],
    )


def thread_state(pid: int, thread: str) -> bytes:
    """Return the state as a letter (see proc(5)), empty if the thread has ended."""
    stat = read(f"/proc/{pid}/task/{thread}/stat") or b""
    return stat.rpartition(b")")[2][1:2]


# Flags of a thread in /proc/PID/stat: it is ending, or a signal has ended it.
PF_EXITING, PF_SIGNALED = 0x4, 0x400


def is_dying(process: Proc) -> bool:
    """True if the process was killed, but the kernel has not removed it completely.

    If the init of a pid namespace ends, the kernel kills the other processes of the namespace.
    Their signals may come later than the signal to init.
    """
    now = proc(process.pid)
    if now is None or now.starttime != process.starttime or not now.alive:
        return True
    if _all_threads_are_dying(process.pid):
        return True
    while now is not None and (number := known_inside_as(now.pid)) is not None:
        if number == 1 and _all_threads_are_dying(now.pid):
            return True
        now = proc(now.ppid)
    # No ending ancestor was found. The process itself may have ended during the search.
    now = proc(process.pid)
    return now is None or not now.alive


def _all_threads_are_dying(pid: int) -> bool:
    return all(_thread_is_dying(f"/proc/{pid}/task/{each}") for each in threads(pid))


def _thread_is_dying(folder: str) -> bool:
    # Pending signals are read before the flags: a signal that is delivered in between is visible in
    # the flags.
    status, stat = read(f"{folder}/status"), read(f"{folder}/stat")
    if not status or not stat:
        return True
    pending = 0
    for line in proc_lines(status):
        if line.startswith(("SigPnd:", "ShdPnd:")):
            pending |= int(line.split()[1], 16)
    flags = int(stat.rpartition(b")")[2].split()[6])
    return bool(pending >> (signal.SIGKILL - 1) & 1 or flags & (PF_EXITING | PF_SIGNALED))


@beside_the_target()
def threads(pid: int) -> list[str]:
    """Return the ids of the threads of a process, from /proc/PID/task."""
    try:
        return os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []


@beside_the_target()
def descriptors(pid: int) -> list[str]:
    """Return the numbers of the open descriptors of a process, from /proc/PID/fd."""
    try:
        return os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return []


def child_pids(pid: int, *, first_thread: bool = False) -> set[int]:
    """Return the children of all threads of a process, or only of its first thread, which adopts
    orphans."""
    found: set[int] = set()
    for task in [str(pid)] if first_thread else threads(pid):
        # The kernel may skip a child if another one is removed during the read. So read until two
        # results are equal.
        before: bytes | None = b"?"
        for _ in range(8):
            now = read(f"/proc/{pid}/task/{task}/children")
            if now is not None:
                found.update(map(int, now.split()))
            if now == before:
                break
            before = now
    return found


def adopted(since: int, known: Collection[int]) -> list[int]:
    """Return the children that this process has adopted after `since`, and their descendants.

    The kernel gives orphans to the first thread. A program that this thread itself has started
    cannot be distinguished from an orphan.
    since: a start time in clock ticks.
    known: children that are left out.
    """
    found: list[int] = []
    for pid in child_pids(os.getpid(), first_thread=True):
        child = proc(pid) if pid not in known else None
        if child is not None and child.starttime >= since:
            found += [pid, *(each.pid for each in tree(pid))]
    return found


# Greater than any pid that Linux gives (PID_MAX_LIMIT in proc(5)).
NOBODY = 2**22


def cgroups(pid: int) -> list[str]:
    """Return the control groups of a process, one for each hierarchy, as paths below its mount."""
    return [line.split(":", 2)[2] for line in proc_lines(read(f"/proc/{pid}/cgroup"))]


@beside_the_target()
def named(name: str) -> list[int]:
    """Return the processes of this host with this name. The kernel keeps 15 characters of a
    name."""
    wanted = name.encode() + b"\n"
    pids = [int(each) for each in os.listdir("/proc") if each.isdigit()]
    return [pid for pid in pids if read(f"/proc/{pid}/comm") == wanted]


def exists(pid: int) -> bool:
    return os.path.exists(f"/proc/{pid}/stat")  # noqa: PTH110


def known_inside_as(pid: int) -> int | None:
    """Return the pid of a process in its own pid namespace; None if it has no such namespace."""
    for line in proc_lines(read(f"/proc/{pid}/status")):
        if line.startswith("NSpid:"):
            numbers = line.split()[1:]
            return int(numbers[-1]) if len(numbers) > len(_own_numbers()) else None
    return None


@cache
def _own_numbers() -> tuple[str, ...]:
    lines = proc_lines(read("/proc/self/status"))
    found = next((line for line in lines if line.startswith("NSpid:")), "")
    return tuple(found.split()[1:])


@beside_the_target()
def has_open(pid: int, path: str) -> bool:
    """True if one of the process's descriptors is that file."""
    for number in descriptors(pid):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{pid}/fd/{number}") == path:  # noqa: PTH115
                return True
    return False


def children(pid: int) -> list[Proc]:
    """Return the direct children, zombies included."""
    found = (proc(child) for child in sorted(child_pids(pid)))
    return [child for child in found if child is not None]


def tree(pid: int) -> list[Proc]:
    """Return all descendants of `pid`, zombies included, parents before children."""
    found: list[Proc] = []
    todo = [pid]
    seen: set[int] = set()
    while todo:
        for child in children(todo.pop(0)):
            if child.pid not in seen:
                seen.add(child.pid)
                found.append(child)
                todo.append(child.pid)
    return found


def lineage(pid: int, found: Iterable[Proc]) -> list[int]:
    """Return `pid`, its parent and so on, up to the first process that is not in `found`."""
    above = {each.pid: each.ppid for each in found}
    line: list[int] = []
    while pid in above:
        line.append(pid)
        pid = above.pop(pid)
    return line


def uncollected(found: Iterable[Proc], warden: int) -> list[Proc]:
    """Return the zombies in `found` that the shim should have reaped. The warden reaps orphans."""
    return [each for each in found if not each.alive and each.ppid != warden]


_LIMITS = {
    resource.RLIMIT_NOFILE: b"Max open files",
    resource.RLIMIT_CORE: b"Max core file size",
    resource.RLIMIT_NPROC: b"Max processes",
    resource.RLIMIT_STACK: b"Max stack size",
    resource.RLIMIT_DATA: b"Max data size",
    resource.RLIMIT_AS: b"Max address space",
    resource.RLIMIT_FSIZE: b"Max file size",
    resource.RLIMIT_MEMLOCK: b"Max locked memory",
    resource.RLIMIT_CPU: b"Max cpu time",
}


def limits(pid: int, which: int) -> tuple[int, int]:
    """Return the soft and the hard limit, from /proc. prlimit(2) would need a capability for
    processes of other users."""
    name = _LIMITS[which]
    for line in (read(f"/proc/{pid}/limits") or b"").splitlines():
        if line.startswith(name):
            soft, hard = line.removeprefix(name).split()[:2]
            return _limit(soft), _limit(hard)
    raise ProcessLookupError(pid)


def _limit(word: bytes) -> int:
    return resource.RLIM_INFINITY if word == b"unlimited" else int(word)


class Status(dict[str, str]):
    """/proc/PID/status as a mapping (`SigCgt`, `Threads`, …), with the number of descriptors.

    It describes the main thread or the given one. Descriptors belong to the process, so they are
    not counted for a given thread.
    """

    def __init__(self, pid: int, thread: str | None = None) -> None:
        super().__init__()
        place = f"/proc/{pid}/status" if thread is None else f"/proc/{pid}/task/{thread}/status"
        for line in proc_lines(read(place)):
            key, _, value = line.partition(":")
            self[key] = value.strip()
        self.fd_count = len(descriptors(pid)) if thread is None else 0

    @property
    def fds(self) -> int:
        return self.fd_count

    @property
    def threads(self) -> int:
        return int(self.get("Threads", "0"))

    def mask(self, name: str) -> set[int]:
        """Return the signal numbers in SigBlk, SigIgn, SigCgt or SigPnd."""
        bits = int(self.get(name, "0"), 16)
        return {number + 1 for number in range(64) if bits >> number & 1}


# On a busy machine a thread that ends may wait up to this long for a processor.
REST_S = 10.0


def at_rest(pid: int, within_s: float = REST_S) -> Status:
    """Return the status of a process when all its threads sleep, or at the time limit.

    At another time the status is misleading: a runtime may block all signals while it starts a
    thread, and a thread that is about to end still counts.
    """
    return _threads_at_rest(pid, within_s)[0]


def blocked_at_rest(pid: int, within_s: float = REST_S) -> set[frozenset[int]]:
    """Return the different signal masks of a process's threads, when all sleep or at the time
    limit.

    A runtime may have a thread for signals, whose mask differs from the others. This thread can be
    the main thread or another one.
    """
    return {frozenset(each.mask("SigBlk")) for each in _threads_at_rest(pid, within_s)[1]}


def _threads_at_rest(pid: int, within_s: float) -> tuple[Status, list[Status]]:
    """Return the status of a process and of each of its threads."""
    limit = Deadline(within_s)
    while True:
        found = [Status(pid, thread) for thread in threads(pid)]
        whole = Status(pid)
        resting = all(each.get("State", "").startswith("S") for each in [*found, whole])
        ended = whole.get("State", "")[:1] in ("", "Z", "X")
        if ended or limit.over() or (resting and whole.threads == len(found)):
            return whole, found
        poll([], 0.002)


def wakeups(pid: int) -> int:
    """Return how often the threads of a process have been woken: their voluntary context
    switches."""
    total = 0
    for task in threads(pid):
        for line in proc_lines(read(f"/proc/{pid}/task/{task}/status")):
            if line.startswith("voluntary_ctxt_switches:"):
                total += int(line.split()[1])
    return total


def waited(pid: int) -> Waited:
    """Return how long the remaining threads of a process have waited for a processor."""
    found = [read(f"/proc/{pid}/task/{task}/schedstat") for task in threads(pid)]
    values = [int(text.split()[1]) for text in found if text]
    return Waited(sum(values), len(values)) if values else UNKNOWN


def cpu_ms(pid: int) -> float:
    """Return the user and system time of the process so far."""
    return _ticks_ms(pid, 11)


def ended_children_ms(pid: int) -> float:
    """Return the user and system time of its reaped children, and of their reaped children."""
    return _ticks_ms(pid, 13)


def _ticks_ms(pid: int, first: int) -> float:
    """Return the sum of two adjacent fields of stat; 0 if the process has ended."""
    stat = read(f"/proc/{pid}/stat")
    if not stat:
        return 0.0
    fields = stat.rpartition(b")")[2].split()
    return (int(fields[first]) + int(fields[first + 1])) * 1000 / os.sysconf("SC_CLK_TCK")
