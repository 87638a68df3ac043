"""Features of the host that some tests of exec need."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from boxspec.api import HostLacks, Late
from boxspec.places import scratch
from contracts.shared.moments import until

# Capacity in bytes of a pipe that a test fills. Only root can exceed fs.pipe-max-size.
ROOM = 512 * 1024

# User ids that no distribution assigns.
USERS = range(20_000, 50_000)


def unused_user() -> int:
    """Return the id of a user without any process, because RLIMIT_NPROC counts all processes of a
    user.

    The choice is random, so that two runs of the kit at the same time rarely use the same id.
    """
    owners = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                owners.add(entry.stat().st_uid)
    while (user := secrets.choice(USERS)) in owners:
        pass
    return user


def need_other_users(why: str) -> None:
    """Raise HostLacks if this process cannot start programs as another user.

    Root in a container may lack the capabilities for that, or there may be no other user.
    """
    if not _becomes_others():
        raise HostLacks("root", why)


@cache
def _becomes_others() -> bool:
    if os.geteuid() != 0:
        return False
    user = USERS[0]
    try:
        done = subprocess.run(["/bin/true"], user=user, group=user, extra_groups=[], check=False)
    except OSError:
        return False
    return done.returncode == 0


def need_pidfd() -> None:
    """Raise HostLacks if pidfds cannot be opened here, or no signal can be sent to one.

    Either the kernel is older than 5.3, or a filter refuses them.
    """
    call = "pidfd_open"
    try:
        fd = os.pidfd_open(os.getpid())
        try:
            call = "pidfd_send_signal"
            signal.pidfd_send_signal(fd, 0)
        finally:
            os.close(fd)
    except OSError as why:
        raise HostLacks("pidfd", f"{call}: {why.strerror}") from None


def need_large_pipes(room: int = ROOM) -> None:
    """Raise HostLacks if a program cannot enlarge a pipe to `room` bytes here.

    A user has a limit for all pipes together (fs.pipe-user-pages-soft), and a filter may refuse.
    """
    why = without_pipes(room)
    if why is not None:
        raise HostLacks("pipes", why)


@contextlib.contextmanager
def pipe_with_room(room: int = ROOM) -> Iterator[tuple[int, int]]:
    """Yield both ends of a pipe with a capacity of `room` bytes.

    Raise OSError if the host allows only a smaller pipe.
    """
    ours, theirs = os.pipe2(os.O_CLOEXEC)
    try:
        fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, room)
        yield ours, theirs
    finally:
        os.close(ours)
        os.close(theirs)


class SlowExecution:
    """A program whose execution blocks until `execute` is called, as on a slow file system.

    This process holds a write lease on the file. Until it gives the lease back, the kernel blocks
    each open of the file, also by execve.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def await_execution(self) -> None:
        """Wait until a process tries to execute the program; raise Late if none does."""
        if not until(lambda: fcntl.fcntl(self._fd, fcntl.F_GETLEASE) != fcntl.F_WRLCK):
            raise Late("a process executes the program", "within 10 s", "no process did")

    def execute(self) -> None:
        fcntl.fcntl(self._fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)


@contextlib.contextmanager
def slow_to_execute(program: Path) -> Iterator[SlowExecution]:
    """Delay the execution of a program by a lease on its file, until the caller releases it.

    Raise HostLacks if this host has no leases.
    """
    fd = os.open(program, os.O_RDONLY | os.O_CLOEXEC)
    try:
        # When a lease is broken, the kernel sends SIGIO by default, which would end this process.
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
        try:
            fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        except OSError as why:
            raise HostLacks(
                "leases", f"the kernel gives no lease on a program file: {why}"
            ) from None
        yield SlowExecution(fd)
    finally:
        os.close(fd)


def without_leases() -> str | None:
    """Return the reason why an execution cannot be blocked on this host, or None."""
    with tempfile.TemporaryDirectory(dir=scratch()) as folder:
        program = Path(folder, "program")
        program.touch()
        try:
            with slow_to_execute(program):
                return None
        except HostLacks as why:
            return str(why)


def without_pipes(room: int = ROOM) -> str | None:
    """Return the reason why a pipe cannot have a capacity of `room` bytes on this host, or None."""
    try:
        with pipe_with_room(room):
            return None
    except OSError as why:
        return f"a pipe may not have room for {room} bytes: {why}"
