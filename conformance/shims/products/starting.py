"""Start a command in the same way as a shell: in the caller's process group and session.

The command also gets the caller's descriptors. None is closed for the product, because the product
must decide which descriptors reach the program. A command ends when its first process ends, even if
other processes still hold its streams.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LIMIT_S = 10.0
GRACE_S = 2.0
CHUNK = 1 << 16
LONGEST = 1 << 20


class Ended:
    """How a command ended.

    code: the return code, negative after a signal; None if the time limit ended the command.
    """

    def __init__(self) -> None:
        self.stdout = b""
        self.stderr = b""
        self.code: int | None = None

    def why_not(self) -> str | None:
        """Return the reason why the command did not succeed; None if it succeeded."""
        if self.code == 0:
            return None
        if self.code is None:
            return f"it did not end within {LIMIT_S:g} s"
        lines = (self.stderr or self.stdout).decode("utf-8", "replace").strip().splitlines()
        ended = f"status {self.code}" if self.code > 0 else f"signal {-self.code}"
        # The error may be followed by advice.
        errors = [line for line in lines if "error" in line.lower()] or lines
        return f"{errors[-1].strip()} ({ended})" if errors else ended


def run(
    argv: Sequence[str | bytes],
    *,
    cwd: str | None = None,
    env: Mapping[bytes, bytes] | None = None,
    stdin: str | bytes = "null",
    limit_s: float = LIMIT_S,
    own_group: bool = False,
) -> Ended:
    """Run a command. Raise OSError if it cannot be started.

    stdin: `inherit`, `null`, or the bytes of the input.
    """
    given: int | None = subprocess.DEVNULL
    if isinstance(stdin, bytes):
        given = os.memfd_create("stdin")
        os.write(given, stdin)
        os.lseek(given, 0, os.SEEK_SET)
    elif stdin == "inherit":
        given = None
    try:
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            close_fds=False,
            process_group=0 if own_group else None,
        )
    finally:
        if given is not None and given >= 0:
            os.close(given)
    try:
        return collect(process, monotonic() + limit_s, own_group)
    finally:
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def collect(process: subprocess.Popen[bytes], until: float, own_group: bool) -> Ended:
    ended = Ended()
    assert process.stdout is not None
    assert process.stderr is not None
    streams = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
    out, err = streams.values()
    watch = os.pidfd_open(process.pid)
    poll = select.poll()
    poll.register(watch, select.POLLIN)
    for fd in streams:
        poll.register(fd, select.POLLIN)
        os.set_blocking(fd, False)
    late = False
    while not late:
        ready = [fd for fd, _ in poll.poll(max(0.0, until - monotonic()) * 1000)]
        for fd in ready:
            if fd in streams and read_some(fd, streams[fd]) is False:
                poll.unregister(fd)
        if watch in ready:
            break
        late = monotonic() >= until
    if late:
        end(process.pid, watch, own_group)
    os.close(watch)
    code = process.wait()
    for fd, data in streams.items():
        while read_some(fd, data):
            pass
    ended.code = None if late else code
    ended.stdout, ended.stderr = bytes(out), bytes(err)
    return ended


def end(pid: int, watch: int, own_group: bool) -> None:
    """Send SIGTERM, so that the product can clean up. After the grace period send SIGKILL."""
    kill = os.killpg if own_group else os.kill
    kill(pid, signal.SIGTERM)
    if not select.select([watch], [], [], GRACE_S)[0]:
        kill(pid, signal.SIGKILL)


def read_some(fd: int, data: bytearray) -> bool | None:
    """Read the data that a stream has now.

    Return True if there was data, False at the end of the stream, None if there is no data yet.
    """
    try:
        chunk = os.read(fd, CHUNK)
    except BlockingIOError:
        return None
    data += chunk[: max(0, LONGEST - len(data))]
    return bool(chunk)
