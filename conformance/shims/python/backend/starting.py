"""The test start of a probe: find out whether a command starts."""

from __future__ import annotations

import errno
import os
import select
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LIMIT_S = 10.0


def fails_to_start(argv: Sequence[bytes]) -> str | None:
    """Run a command that should exit with 0 at once.

    Return the reason if it does not. Otherwise return None.
    """
    out, inside = os.pipe2(os.O_CLOEXEC)
    null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
    try:
        actions = [(os.POSIX_SPAWN_DUP2, fd, at) for fd, at in ((null, 0), (null, 1), (inside, 2))]
        pid = os.posix_spawn(argv[0], list(argv), {"PATH": "/usr/bin:/bin"}, file_actions=actions)
    except OSError as why:
        os.close(out)
        return f"{os.fsdecode(argv[0])}: {os.strerror(why.errno or 0)}"
    finally:
        os.close(inside)
        os.close(null)
    try:
        return reason(pid, out)
    finally:
        os.close(out)


def reason(pid: int, out: int) -> str | None:
    watch = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(watch, select.POLLIN)
    late = not poll.poll(LIMIT_S * 1000)
    os.close(watch)
    if late:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if late:
        return f"did not start within {LIMIT_S:g} s"
    if status == 0:
        return None
    os.set_blocking(out, False)
    try:
        output = os.read(out, 4096).decode("utf-8", "replace").strip()
    except BlockingIOError:
        output = ""
    return output.splitlines()[0] if output else f"ended with status {status}"


def need_executable(path: bytes) -> None:
    """Raise OSError if the kernel could not execute the file, or not find its interpreter."""
    if not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, "")
    if not os.path.isfile(path) or not os.access(path, os.X_OK):
        raise PermissionError(errno.EACCES, "")
    if not os.access(path, os.R_OK):
        return
    with open(path, "rb") as file:
        first = file.readline(256)
    if not first.startswith((b"#!", b"\x7fELF")):
        raise OSError(errno.ENOEXEC, "")
    words = first[2:].split() if first.startswith(b"#!") else []
    if words and not os.path.exists(words[0]):
        raise FileNotFoundError(errno.ENOENT, "")
