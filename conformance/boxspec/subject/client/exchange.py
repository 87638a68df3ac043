"""One `SHIM run REQUEST RESPONSE`: the files, the fifo `hold`, the response and its checks."""

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
    """A regular file, of at most so many bytes: a fifo or a device might never end.

    Nor a link, nor a file of somebody else than `writer`, where the shim is another user: what it
    says is quoted, and the kit may read more than the shim.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    except OSError as why:
        said = "it is a symbolic link" if why.errno == errno.ELOOP else why.strerror
        raise ShimBroke(f"the response cannot be read: {said}") from None
    try:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode):
            raise ShimBroke("the response is no regular file")
        # Another name of a file that the kit may read and the shim may not.
        if facts.st_nlink > 1:
            raise ShimBroke(f"the response has {facts.st_nlink} names")
        if writer is not None and facts.st_uid != writer:
            raise ShimBroke(f"the response is a file of user {facts.st_uid}, the shim is {writer}")
        if facts.st_size > limit:
            raise ShimBroke(f"the response has {facts.st_size} bytes, the limit is {limit}")
        # Some left-over writer may make it longer meanwhile.
        data = bytearray()
        while part := os.read(fd, min(2**20, limit + 1 - len(data))):
            data += part
        return bytes(data)
    finally:
        os.close(fd)


# Of the kernel; Python names only some.
ST_RELATIME, CLOCK_REALTIME_COARSE = 4096, 5


def _offset_ns() -> int:
    """From the monotonic clock to that of files."""
    return time.time_ns() - time.monotonic_ns()


class Exchange:
    """The files of one request in a folder of its own."""

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
            # Escapes instead of raw characters: a lone surrogate could not be written otherwise.
            self.request.write_text(json.dumps(message), encoding="ascii")
        else:
            self.request.write_bytes(message)

    def age(self) -> None:
        """Wait for the tick of the clock of files: who reads the request reads it later."""
        written = self.request.stat().st_ctime_ns
        while time.clock_gettime_ns(CLOCK_REALTIME_COARSE) <= written:
            poll([], 0.001)
        self._offset_ns = _offset_ns()

    def read_ns(self) -> int:
        """When the request was first read, on the monotonic clock; not later, and at most a tick
        earlier. 0: the file system does not tell, or was not asked before (`age`).
        """
        told = self.request.stat().st_atime_ns
        # With relatime the first reading since a change is kept. Others keep the last one, or none.
        relatime = os.statvfs(self.request).f_flag & ST_RELATIME
        if not relatime or self._offset_ns is None or told <= self.request.stat().st_ctime_ns:
            return 0
        return told - max(self._offset_ns, _offset_ns())

    def answered_ns(self) -> int:
        """When the response was written, on the monotonic clock; not later, and at most a tick of
        the clock of files earlier. 0: there is none."""
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
        fifo = self.folder / "hold"
        os.mkfifo(fifo)
        fifo.chmod(0o666)
        message["hold"] = str(fifo)
        # Opened before the watch: the only OPEN that the watch can tell is the shim's, and the
        # shim's own open does not block because a writer is already there.
        self._hold_fd = os.open(fifo, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._inotify = Inotify()
        self._fifo_watch = self._inotify.watch(str(fifo), OPEN)
        self._inotify.watch(str(self.folder), MOVED_TO | CLOSE_WRITE)

    @property
    def hold(self) -> str | None:
        """The fifo that the shim reads to its end, as /proc names it."""
        return os.path.realpath(self.folder / "hold") if self._hold_fd >= 0 else None

    @property
    def notify_fd(self) -> int | None:
        return self._inotify.fd if self._inotify else None

    def note(self) -> None:
        """Take what inotify has to tell."""
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
        """The shim has opened the fifo and waits for its end."""
        self.note()
        return self._held

    def release(self) -> None:
        """The end of the fifo: the shim may exit."""
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
        """The checked response, or None when there is none."""
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
