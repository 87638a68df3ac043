"""Provide stdin, stdout and stderr of a shim: /dev/null, a file, a pipe, a terminal or a
descriptor."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import tty
from collections.abc import Mapping
from pathlib import Path

from boxspec.subject.observe.terminals import open_terminal

NAMES = ("stdin", "stdout", "stderr")
# One stream of the shim as a test requests it (see `Streams`).
Wish = int | str | os.PathLike[str] | None
# Limits for reading from a pipe, a terminal or a file.
MOST_PARTS, PART = 256, 65_536
MOST_READ = MOST_PARTS * PART


class Streams:
    """The three streams of a shim.

    A stream can be None (stdin: /dev/null; stdout and stderr: a file of the case), "null", "pipe",
    "pty", a path (stdin only) or a descriptor, which the caller closes. The shim's ends are open
    until the shim has started, the kit's ends until `close`.
    """

    def __init__(self, folder: Path, wishes: Mapping[str, Wish]) -> None:
        self.folder = folder
        self.fds: dict[str, int] = {}
        self._ours: dict[str, io.FileIO] = {}
        self._opened: list[int] = []
        # Files of the case for the streams that are None.
        self.files: list[Path] = []
        self._terminal: int | None = None
        try:
            for name in NAMES:
                self.fds[name] = self._open(name, wishes.get(name))
        except BaseException:
            self.close()
            raise

    def _open(self, name: str, wish: Wish) -> int:
        reads = name == "stdin"
        if isinstance(wish, int):
            return wish
        if wish == "null" or (wish is None and reads):
            return self._keep(os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC))
        if wish is None:
            path = self.folder / name
            self.files.append(path)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            return self._keep(os.open(path, flags, 0o666))
        if wish == "pipe":
            read_end, write_end = os.pipe2(os.O_CLOEXEC)
            self._ours[name] = io.FileIO(write_end if reads else read_end, "w" if reads else "r")
            return self._keep(read_end if reads else write_end)
        if wish == "pty":
            return self._pty(name)
        if reads:
            return self._keep(os.open(os.fspath(wish), os.O_RDONLY | os.O_CLOEXEC))
        raise TypeError(f"shim_{name}={wish!r}")

    def _pty(self, name: str) -> int:
        # All streams with "pty" share one terminal, as in the session of a user.
        if self._terminal is None:
            ours, self._terminal = open_terminal()
            tty.setraw(self._terminal)
            self._opened.append(self._terminal)
            self._master = ours
            self._ours[name] = io.FileIO(ours, "r+")
        else:
            self._ours[name] = io.FileIO(os.dup(self._master), "r+")
        return self._terminal

    def _keep(self, fd: int) -> int:
        self._opened.append(fd)
        return fd

    def started(self) -> None:
        """Close the kit's copies of the shim's ends, after the shim has started."""
        for fd in self._opened:
            os.close(fd)
        self._opened.clear()

    def ours(self, name: str) -> io.FileIO:
        if name not in self._ours:
            raise TypeError(f"ask for it: shim_{name}='pipe' or 'pty'")
        return self._ours[name]

    def captured(self, name: str) -> bytes:
        """Return the output of the shim: the content of the file, or the bytes in the pipe."""
        if name in self._ours and not self._ours[name].closed:
            return self._drain(self._ours[name])
        # The shim may have removed the permissions of the folder; a verdict must be possible
        # anyway.
        with contextlib.suppress(OSError):
            return _beginning(self.folder / name)
        return b""

    @staticmethod
    def _drain(stream: io.FileIO) -> bytes:
        parts = list[bytes]()
        blocking = os.get_blocking(stream.fileno())
        os.set_blocking(stream.fileno(), False)
        try:
            # Reading a terminal fails with EIO after its other end is closed.
            with contextlib.suppress(OSError):
                # Limit the number of reads, because a process may write without end.
                while len(parts) < MOST_PARTS and (part := stream.read(PART)):
                    parts.append(part)
        finally:
            os.set_blocking(stream.fileno(), blocking)
        return b"".join(parts)

    def close(self) -> None:
        self.started()
        for stream in self._ours.values():
            # Closing a pipe without a reader may raise an error. Nothing is lost, because no data
            # is buffered.
            with contextlib.suppress(OSError):
                stream.close()


def _beginning(path: Path) -> bytes:
    """Return the beginning of the file.

    Reports quote the content. A link is not followed, because it could name a file that only the
    kit may read.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return b""
        with os.fdopen(fd, "rb", closefd=False) as file:
            return file.read(MOST_READ)
    finally:
        os.close(fd)
