"""The verb `doctor`: report the features that this host has and lacks, one per line."""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import shutil
import stat
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from boxspec.cli.verbs import verb_parser
from boxspec.errors import UsageError
from boxspec.fuzz.targets import LIST, PACKAGE
from boxspec.judge.verdict import NotMeasured
from boxspec.places import INSTALLED, scratch
from boxspec.plural import many
from boxspec.programs import folder, programs
from boxspec.subject.client.command import REFERENCE, reference_absent
from boxspec.subject.contract import every
from boxspec.subject.observe import procs, terminals
from boxspec.subject.observe.inotify import Inotify
from boxspec.subject.observe.realtime import realtime
from boxspec.subject.observe.visible import need_proc
from boxspec.subject.observe.warden import spawn
from boxspec.subject.rlimits import WANTED_DESCRIPTORS

Finding = tuple[bool, bool, str]  # present, mandatory, a text with the feature and its use


def _syscall(number: int, *arguments: int) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    return int(libc.syscall(number, *arguments))


def _pidfd() -> Finding:
    fd = _syscall(434, os.getpid(), 0)
    if fd >= 0:
        os.close(fd)
    return fd >= 0, False, "pidfd_open (an implementation may use it; the kit does not)"


def _children_file() -> Finding:
    there = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").exists()
    return there, True, "/proc/PID/task/TID/children (to find surviving processes)"


def _visible() -> Finding:
    try:
        need_proc()
    except UsageError as why:
        return False, True, str(why)
    return True, True, "/proc shows all processes of the kit (to observe them)"


def _terminals() -> Finding:
    why = terminals.absent()
    return why is None, False, f"terminals: {why or '/dev/ptmx'} (for cases with a terminal)"


def _inotify() -> Finding:
    try:
        Inotify().close()
    except NotMeasured as why:
        return False, True, f"inotify: {why}"
    except OSError as why:
        return False, True, f"inotify: {why.strerror} (to watch the hold fifo)"
    return True, True, "inotify (to watch the hold fifo)"


def _programs() -> Finding:
    try:
        return True, True, f"fixture programs in {folder()}"
    except UsageError as why:
        return False, True, str(why)


def _reference() -> Finding:
    absent = reference_absent()
    found = absent is None
    if INSTALLED:
        return found, False, f"boxspec-ref {REFERENCE}" if found else f"boxspec-ref: {absent}"
    where = "judged if no --shim is given" if found else "run ./ci/setup"
    return found, False, f"reference {REFERENCE} ({where})"


def _fuzzing() -> Finding:
    if INSTALLED:
        there = LIST.is_file()
        return there, False, f"boxspec-fuzz ({'fuzzing through a shim' if there else PACKAGE})"
    there = all(shutil.which(name) for name in ("clang", "afl-fuzz"))
    return there, False, "clang and afl-fuzz (for boxspec fuzz, which installs them)"


def _root() -> Finding:
    return os.geteuid() == 0, False, "root (for cases with another user and with pid namespaces)"


def _other_users() -> Finding:
    """Check that other users can enter the folders of cases.

    The shim itself may lie anywhere, because a case mounts its folder.
    """
    folder = scratch()
    closed = [each for each in (folder, *folder.parents) if not each.stat().st_mode & stat.S_IXOTH]
    place = f"{closed[0]} is closed to them" if closed else f"{folder} is open to them"
    there = not closed and os.geteuid() == 0
    return there, False, f"other users: {place} (for cases with another user, which need root too)"


def _set_up() -> Finding:
    """Start a program in new mount and pid namespaces, as cases do around a shim."""
    tried = subprocess.run(
        ["unshare", "--mount", "--pid", "true"], check=False, stderr=subprocess.DEVNULL
    )
    what = "set-up: namespaces, filters and limits around a shim"
    return tried.returncode == 0, False, f"{what} (for cases that start in them)"


def _of_contracts() -> Iterator[Finding]:
    for contract in every():
        for feature in contract.features:
            why = contract.missing(feature)
            yield why is None, False, f"{feature}{f': {why}' if why else ''} ({contract.name})"


def _descriptors() -> Finding:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    enough = hard == resource.RLIM_INFINITY or hard >= WANTED_DESCRIPTORS
    return enough, True, f"descriptors: soft limit {soft}, hard limit {hard}"


def _processes() -> Finding:
    soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    shown = "none" if soft == resource.RLIM_INFINITY else str(soft)
    return soft == resource.RLIM_INFINITY or soft >= 1024, True, f"processes: soft limit {shown}"


def _memory() -> Finding:
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
    return free >= 512, False, f"memory: {free} MiB free (large outputs need 512)"


def _load() -> Finding:
    cpus = len(os.sched_getaffinity(0))
    busy = os.getloadavg()[0]
    return (
        busy <= 2 * cpus,
        False,
        f"idle processors: load {busy:.1f} on {cpus} (late tests are repeated)",
    )


def _scheduling_delay() -> Finding:
    there = procs.waited(os.getpid()).known
    return there, False, "/proc/PID/task/TID/schedstat (to measure scheduling delay)"


def _realtime_priority() -> Finding:
    with realtime() as there:
        return there, False, "SCHED_FIFO (to repeat late tests with real-time priority)"


SPAWNS = 21


def median_spawn_ms() -> float:
    """Return the median duration of a bare posix_spawn and wait of a static program."""
    took = []
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        for _ in range(SPAWNS):
            start = time.perf_counter_ns()
            pid = spawn([programs.exit_with, "0"], os.environ, {0: null, 1: null, 2: null})
            os.waitpid(pid, 0)
            took.append(time.perf_counter_ns() - start)
    finally:
        os.close(null)
    return statistics.median(took) / 1e6


def _spawn() -> Finding:
    try:
        took = median_spawn_ms()
    except UsageError:
        return False, False, "spawn time: not measured, the fixture programs are missing"
    return took < 20, False, f"spawn time: {took:.2f} ms median of a bare posix_spawn and wait"


def _tool(name: str, needed_for: str) -> Callable[[], Finding]:
    def check() -> Finding:
        found = shutil.which(name)
        return found is not None, False, f"{name}: {found or 'not on PATH'} ({needed_for})"

    return check


CHECKS: tuple[Callable[[], Finding], ...] = (
    _programs,
    _reference,
    _fuzzing,
    _visible,
    _children_file,
    _inotify,
    _terminals,
    _pidfd,
    _root,
    _other_users,
    _set_up,
    _descriptors,
    _processes,
    _memory,
    _load,
    _scheduling_delay,
    _realtime_priority,
    _spawn,
    _tool("strace", "for transcripts of cases"),
    _tool("sh", "for cases with real programs"),
    _tool("python3", "for cases with real programs, and the Python implementation"),
)


def findings() -> Iterator[Finding]:
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    yield platform.system() == "Linux", True, f"{system} (observers read Linux's /proc)"
    yield sys.version_info >= (3, 11), True, f"Python {platform.python_version()} (3.11 or later)"
    for check in CHECKS:
        yield check()
    yield from _of_contracts()


def doctor() -> int:
    """Print one line per feature; return 2 if a mandatory one is missing."""
    missing = 0
    for there, needed, what in findings():
        word = "has" if there else ("LACKS" if needed else "lacks")
        missing += needed and not there
        print(f"{word:<6} {what}")
    if missing:
        print(f"{many(missing, 'mandatory feature')} missing", file=sys.stderr)
        return 2
    return 0


def main(words: Sequence[str]) -> int:
    verb_parser("doctor").parse_args(words)
    return doctor()
