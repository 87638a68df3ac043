"""Handle the files of one `SHIM run REQUEST RESPONSE`: request, response and the fifo `hold`."""

from __future__ import annotations

import errno
import json
import os
import stat
import time
from pathlib import Path
from typing import Any

from boxspec.errors import ShimBroke
from boxspec.subject.client import shape
from boxspec.subject.client.strict import MAX_RESPONSE, strict_json
from boxspec.subject.observe.inotify import CLOSE_WRITE, MOVED_TO, OPEN, Inotify
from boxspec.subject.observe.lines import poll


def read_response(path: Path, limit: int, writer: int | None = None) -> bytes | None:
    """Return the content of a file, at most `limit` bytes.

    Reports quote the content, and the kit may read files that the shim may not. So links are not
    followed, and if the shim runs as another user (`writer`), the file must belong to that user.
    Only a regular file is read, because a fifo might never end.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    except OSError as why:
        reason = "it is a symbolic link" if why.errno == errno.ELOOP else why.strerror
        raise ShimBroke(f"the response cannot be read: {reason}") from None
    try:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode):
            raise ShimBroke("the response is not a regular file")
        # A hard link could name a file that only the kit may read.
        if facts.st_nlink > 1:
            raise ShimBroke(f"the response has {facts.st_nlink} names")
        if writer is not None and facts.st_uid != writer:
            raise ShimBroke(f"the response is a file of user {facts.st_uid}, the shim is {writer}")
        if facts.st_size > limit:
            raise ShimBroke(f"the response has {facts.st_size} bytes, the limit is {limit}")
        # The file is read in pieces, because a leftover process may append to it meanwhile.
        data = bytearray()
        while part := os.read(fd, min(2**20, limit + 1 - len(data))):
            data += part
        return bytes(data)
    finally:
        os.close(fd)


# Constants of the kernel that Python does not name.
ST_RELATIME, CLOCK_REALTIME_COARSE = 4096, 5


def _offset_ns() -> int:
    """Return the offset from the monotonic clock to the clock of file times."""
    return time.time_ns() - time.monotonic_ns()


class Exchange:
    """The files of one request, in a folder of its own."""

    def __init__(
        self,
        folder: Path,
        message: dict[str, Any] | bytes,
        *,
        hold: bool,
        writer: int | None = None,
    ) -> None:
        self.folder = folder
        self.writer = writer
        folder.mkdir()
        self.request = folder / "request.json"
        self.response = folder / "response.json"
        self.message = message
        self._inotify: Inotify | None = None
        self._hold_fd = -1
        self._in_place = False
        self._held = False
        self._offset_ns: int | None = None
        if hold:
            assert isinstance(message, dict)
            self._prepare_hold(message)
        if isinstance(message, dict):
            # The request is written as ASCII with escapes, because UTF-8 cannot hold a lone
            # surrogate.
            self.request.write_text(json.dumps(message), encoding="ascii")
        else:
            self.request.write_bytes(message)

    def age(self) -> None:
        """Wait until the clock of file times has advanced.

        A read of the request after that has a later time than the write.
        """
        written = self.request.stat().st_ctime_ns
        while time.clock_gettime_ns(CLOCK_REALTIME_COARSE) <= written:
            poll([], 0.001)
        self._offset_ns = _offset_ns()

    def read_ns(self) -> int:
        """Return when the request was first read, on the monotonic clock.

        The value is at most a tick too early, and never too late. It is 0 if the file system does
        not record the time, or if `age` was not called.
        """
        read_at_ns = self.request.stat().st_atime_ns
        # With relatime the file keeps the time of the first read. With other mount options it keeps
        # the time of the last read, or no time.
        relatime = os.statvfs(self.request).f_flag & ST_RELATIME
        if not relatime or self._offset_ns is None or read_at_ns <= self.request.stat().st_ctime_ns:
            return 0
        return read_at_ns - max(self._offset_ns, _offset_ns())

    def answered_ns(self) -> int:
        """Return when the response was written, on the monotonic clock; 0 without a response.

        The value is at most a tick too early, and never too late.
        """
        try:
            return self.response.lstat().st_mtime_ns - _offset_ns()
        except FileNotFoundError:
            return 0

    @property
    def op(self) -> str:
        return str(self.message.get("op")) if isinstance(self.message, dict) else "?"

    @property
    def id(self) -> str:
        return str(self.message.get("id")) if isinstance(self.message, dict) else "?"

    def _prepare_hold(self, message: dict[str, Any]) -> None:
        self._inotify = Inotify()
        fifo = self.folder / "hold"
        os.mkfifo(fifo)
        fifo.chmod(0o666)
        message["hold"] = str(fifo)
        # Open the fifo before inotify watches it, so that the watch reports only the open by the
        # shim. That open does not block, because a writer exists.
        self._hold_fd = os.open(fifo, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._fifo_watch = self._inotify.watch(str(fifo), OPEN)
        self._inotify.watch(str(self.folder), MOVED_TO | CLOSE_WRITE)

    @property
    def hold(self) -> str | None:
        """Return the path in /proc of the fifo that the shim reads to its end."""
        return os.path.realpath(self.folder / "hold") if self._hold_fd >= 0 else None

    @property
    def notify_fd(self) -> int | None:
        return self._inotify.fd if self._inotify else None

    def note(self) -> None:
        """Process the events of inotify."""
        for watch, mask, name in self._inotify.read() if self._inotify else []:
            if watch == self._fifo_watch and mask & OPEN:
                self._held = True
            elif name == self.response.name:
                self._in_place = True

    @property
    def in_place(self) -> bool:
        self.note()
        return self._in_place or self._held

    @property
    def held(self) -> bool:
        """True if the shim has opened the fifo and waits for its end."""
        self.note()
        return self._held

    def release(self) -> None:
        """Close the fifo, so that the shim exits."""
        if self._hold_fd >= 0:
            os.close(self._hold_fd)
            self._hold_fd = -1

    def close(self) -> None:
        self.release()
        if self._inotify is not None:
            self._inotify.close()
            self._inotify = None

    def answer(
        self, capabilities: frozenset[str], *, limit: int = MAX_RESPONSE
    ) -> dict[str, Any] | None:
        """Return the response after checking it, or None."""
        data = read_response(self.response, limit, self.writer)
        if data is None:
            return None
        answer = strict_json(data, "the response")
        try:
            if isinstance(self.message, dict):
                shape.check(self.message, answer, capabilities)
            else:
                shape.envelope(answer)
        except shape.BadShape as why:
            raise ShimBroke(
                f"the response has a shape that the protocol does not know: {why}",
                {"response": json.dumps(answer)[:400]},
            ) from None
        return dict(answer)
