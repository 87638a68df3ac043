"""Run a script of steps on handles. Some steps run in their own threads."""

from __future__ import annotations

import _signal
import _thread
import errno
import os
from binascii import b2a_base64
from copy import copy

from errors import Failed
from process.handle import GRACE_MS, Process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from backend.around import Around
    from exec.request import Request
    from kinds import Object

STREAMS = ("stdin", "stdout", "stderr")
SHORT = 65536


class Handle:
    def __init__(self, request: Request, modes: list[int], nonblocking: bool) -> None:
        self.request = request
        self.modes = modes
        self.nonblocking = nonblocking
        self.process: Process | None = None
        self.taken = [-1, -1, -1]
        self.around: Around | None = None  # the sandbox of the script, or None
        # held during a write, because a write of more than PIPE_BUF bytes is not atomic
        self.writing = _thread.allocate_lock()

    def open(self) -> Process:
        request = copy(self.request)
        if self.around is not None:
            self.around.wrap_request(request)
        self.process = Process(request, self.modes, self.nonblocking)
        for fd in self.taken:
            if fd >= 0:
                os.close(fd)  # the process of this taken descriptor has been dropped
        self.taken = [-1, -1, -1]
        return self.process

    def fd(self, stream: int) -> int:
        assert self.process is not None
        return self.taken[stream] if self.taken[stream] >= 0 else self.process.fds[stream]


class Step:
    kind: str
    handle: Handle | None
    thread: str | None
    stream: int
    data: bytes
    ms: int | None
    count: int
    inner: list[Step]

    def __init__(self) -> None:
        self.result: Object = {}

    def perform(self) -> None:
        try:
            self.result = self.act()
        except Failed as why:
            self.result = why.as_json()

    def repeat(self) -> Object:
        """Repeat the inner steps. Return the results of the last round.

        If a step fails, the repeat ends.
        """
        for rounds in range(self.count):
            last: list[Object] = []
            for step in self.inner:
                step.perform()
                last.append(step.result)
                if "error" in step.result:
                    return {"repeated": rounds, "last": last}
        return {"repeated": self.count, "last": last if self.count else []}

    def act(self) -> Object:
        if self.kind == "repeat":
            return self.repeat()
        handle = self.handle
        assert handle is not None
        if self.kind == "open":
            if handle.process is not None:
                raise Failed("invalid_input", "the handle is open; drop it first")
            return {"pid": handle.open().pid}
        process = handle.process
        if process is None:
            raise Failed("invalid_input", "the handle is not open")
        fd = handle.fd(self.stream)
        if self.kind == "write":
            with handle.writing:
                return self.write(fd)
        if self.kind == "read_until":
            return self.read_until(fd)
        return self.read_eof(fd) if self.kind == "read_eof" else self.act_on(handle, process)

    def act_on(self, handle: Handle, process: Process) -> Object:
        match self.kind:
            case "streams":
                return {name: process.fds[i] >= 0 for i, name in enumerate(STREAMS)}
            case "take":
                fd = process.take(self.stream)
                if fd >= 0:
                    handle.taken[self.stream] = fd
                return {"taken": fd >= 0}
            case "close_stdin":
                if handle.taken[0] >= 0:
                    os.close(handle.taken[0])
                    handle.taken[0] = -1
                process.close_stream(0)
            case "poll":
                return process.wait(0)
            case "wait":
                return process.wait(self.ms)
            case "terminate":
                process.signal(_signal.SIGTERM)
            case "kill":
                process.signal(_signal.SIGKILL)
            case "close":
                return process.close(GRACE_MS if self.ms is None else self.ms)
            case "drop":
                handle.process = None
                process.drop()
        return {}

    def write(self, fd: int) -> Object:
        done = 0
        rest = memoryview(self.data)
        try:
            while rest:
                done += (n := os.write(fd, rest))
                rest = rest[n:]
        except OSError as e:
            return {"written": done, "errno": errno.errorcode[e.errno or 0]}
        return {"written": done}

    def read_until(self, fd: int) -> Object:
        got = b""
        while not got.endswith(self.data):
            byte = read(fd, 1)
            if not byte:
                return {"data_b64": base64(got), "eof": byte is not None}
            got += byte
        return {"data_b64": base64(got), "eof": False}

    def read_eof(self, fd: int) -> Object:
        from hashlib import sha256

        digest, length, short = sha256(), 0, b""
        while piece := read(fd, SHORT):
            digest.update(piece)
            length += len(piece)
            short = short + piece if length <= SHORT else b""
        summary: Object = {"bytes": length, "sha256": digest.hexdigest()}
        return {**summary, "data_b64": base64(short)} if length <= SHORT else summary


def read(fd: int, most: int) -> bytes | None:
    """Return up to `most` bytes. Return b"" at the end of the stream, and None after an error."""
    try:
        return os.read(fd, most) if fd >= 0 else b""
    except OSError:
        return None


def base64(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode()


class Script:
    def __init__(self, handles: dict[str, Handle], steps: list[Step]) -> None:
        self.handles = handles
        self.steps = steps

    def run(self) -> list[Object]:
        _signal.signal(_signal.SIGPIPE, _signal.SIG_IGN)
        names = dict.fromkeys(step.thread for step in self.steps if step.thread)
        self.gates: dict[tuple[str, int], _thread.LockType] = {}
        self.done = {name: _thread.allocate_lock() for name in names}
        for i, step in enumerate(self.steps):
            if step.thread and step.kind != "join":
                self.gates[step.thread, i] = _thread.allocate_lock()
                self.gates[step.thread, i].acquire()
        for name in names:
            self.done[name].acquire()
            _thread.start_new_thread(self.on_thread, (name,))
        for i, step in enumerate(self.steps):
            if step.kind == "join":
                self.join(step.thread or "")
            elif step.thread:
                self.gates[step.thread, i].release()
            else:
                step.perform()
        for name in names:
            self.join(name)
        for handle in self.handles.values():
            if handle.process is not None:
                handle.process.drop()
        return [step.result for step in self.steps]

    def on_thread(self, name: str) -> None:
        try:
            for i, step in enumerate(self.steps):
                if (gate := self.gates.get((name, i))) is not None:
                    gate.acquire()
                    step.perform()
        finally:
            self.done[name].release()

    def join(self, name: str) -> None:
        with self.done[name]:
            pass
