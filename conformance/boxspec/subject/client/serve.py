"""Exchange lines of JSON with `SHIM serve`, with limits on line length, size and time.

If the shim makes a mistake, only the current request fails: the session ends, and the next request
starts a new session.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from boxspec.errors import ASKED, SO_FAR, ShimBroke
from boxspec.judge.expect import shown
from boxspec.subject.client import shape
from boxspec.subject.client.streams import NAMES, Streams
from boxspec.subject.client.strict import MAX_RESPONSE, strict_json
from boxspec.subject.client.tail import Tail
from boxspec.subject.observe.lines import Deadline, poll
from boxspec.subject.observe.machine import Machine
from boxspec.subject.observe.procs import Proc
from boxspec.subject.observe.warden import Exit, Warden

# Time limit for the answer to a small request.
ANSWER_S = 10.0
TWO_ANSWERS = "two answers to one request"
ONE_LINE = "an answer is one line of JSON on stdout, and all else goes to stderr"
# A shim that reads its whole stdin first, or keeps its output in a buffer, never answers.
AT_ONCE = "a shim answers each line of stdin at once, and flushes its stdout after each answer"
UNTIL_BYE = "started as `SHIM serve`, it answers each line of stdin until `bye`"


# The machine's counters are read again only after this time, because reading them costs more than
# most requests.
FRESH_NS = 100_000_000


def _was_busy(before: Machine) -> bool:
    """True if no processor was free for most of the time since `before`."""
    now = Machine.now()
    return 2 * now.busy_since(before) >= now.t_ns - before.t_ns


class Serve:
    """One shim process in serve mode. Only one thread at a time sends a request."""

    def __init__(
        self,
        argv: Sequence[str],
        folder: Path,
        env: Mapping[str, str],
        *,
        max_line: int = MAX_RESPONSE,
        within_s: float = 10,
        state: Sequence[str] = (),
    ) -> None:
        self.max_line = max_line
        self.within_s = within_s
        self.capabilities: frozenset[str] = frozenset()
        self._lock = threading.Lock()
        self._buffer = bytearray()
        self._number = 0
        # Processes that have outlived the shim.
        self.left: list[Proc] = []
        self._machine = Machine.now()
        self._folder = folder
        folder.mkdir()
        self._streams = Streams(folder, dict.fromkeys(NAMES, "pipe"))
        try:
            self.warden = Warden(
                [*argv, "serve"],
                flags=state,
                env={**env, "BOXSPEC_SHIM_LOG": str(folder / "shim.log")},
                stdin=self._streams.fds["stdin"],
                stdout=self._streams.fds["stdout"],
                stderr=self._streams.fds["stderr"],
            )
        except BaseException:
            self._streams.close()
            raise
        self._streams.started()
        self._stderr = Tail(os.dup(self._streams.ours("stderr").fileno()))
        os.set_blocking(self._streams.ours("stdin").fileno(), False)

    @property
    def shim_pid(self) -> int:
        return self.warden.shim_pid

    def _broke(self, what: str, asked: object, **evidence: Any) -> ShimBroke:
        self.close()
        stderr = self._stderr.text()[-400:].decode("utf-8", "replace")
        facts = {"shim stderr": stderr} if stderr else {}
        return ShimBroke(what, {**facts, ASKED: shown(asked), **evidence})

    def call(self, op: str, **fields: Any) -> dict[str, Any]:
        """Send one request and check the shape of its answer."""
        return self.ask({"op": op, **fields})

    def ask(self, message: Mapping[str, Any], within_s: float | None = None) -> dict[str, Any]:
        """Send one request, whose fields may have any name, and check the shape of its answer."""
        with self._lock:
            self._number += 1
            asked = {"id": f"s{self._number}-{random.getrandbits(32):08x}", **message}
            line = json.dumps(asked).encode("ascii")
            answer = self._exchange(line, asked, within_s or self.within_s)
            try:
                shape.check(asked, answer, self.capabilities)
            except shape.BadShape as why:
                raise self._broke(
                    f"the answer has a shape that the protocol does not know: {why}",
                    asked,
                    answer=shown(answer),
                ) from None
            return dict(answer)

    def raw(self, line: bytes) -> Any:
        """Send any line, and return the JSON of the answer."""
        with self._lock:
            return self._exchange(line, line, self.within_s)

    def _exchange(self, line: bytes, asked: object, within_s: float) -> Any:
        limit, more, before = Deadline(within_s), True, self._machine_lately()
        out, answer_fd = (self._streams.ours(name).fileno() for name in ("stdin", "stdout"))
        # The shim has written more than one line. The extra line must not be taken for the next
        # answer.
        if self._buffer or poll([answer_fd], 0):
            self._fill(answer_fd)
            if self._buffer:
                begins = repr(bytes(self._buffer[:120]))
                first = self._number <= 1
                what = "it wrote before the first request" if first else TWO_ANSWERS
                raise self._broke(what, asked, begins=begins)
        todo = memoryview(line + b"\n")
        searched = 0
        while True:
            end = self._buffer.find(b"\n", searched)
            if end >= 0:
                break
            searched = len(self._buffer)
            if searched > self.max_line:
                raise self._broke(f"a line is longer than {self.max_line} bytes", asked)
            if limit.over() and more and _was_busy(before):
                limit, more = Deadline(2 * within_s), False
            if limit.over():
                half = repr(bytes(self._buffer[:120])) if self._buffer else "nothing"
                waited_s = within_s if more else 3 * within_s
                what = f"no answer within {waited_s:g} s; {AT_ONCE}"
                raise self._broke(what, asked, **{SO_FAR: half})
            todo = self._step(out, answer_fd, todo, limit, asked)
        got = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        try:
            answer = strict_json(got, "the answer")
        except ShimBroke as why:
            raise self._broke(f"{why.what}; {ONE_LINE}", asked, **why.evidence) from None
        if self._buffer:
            second = repr(bytes(self._buffer[:120]))
            raise self._broke(TWO_ANSWERS, asked, second=second)
        return answer

    def _machine_lately(self) -> Machine:
        if time.monotonic_ns() - self._machine.t_ns > FRESH_NS:
            self._machine = Machine.now()
        return self._machine

    def _step(
        self, out: int, answer_fd: int, todo: memoryview, limit: Deadline, asked: object
    ) -> memoryview:
        """Write and read as much as is possible now."""
        if todo:
            try:
                todo = todo[os.write(out, todo) :]
            except BlockingIOError:
                poll([answer_fd], limit.left(), writable=[out])
            except BrokenPipeError:
                raise self._ended(asked, "closed its stdin") from None
            except OSError as why:
                raise self._broke(f"the request cannot be written: {why}", asked) from None
        if poll([answer_fd], 0 if todo else limit.left()) and not self._fill(answer_fd):
            raise self._ended(asked, "closed its stdout")
        return todo

    def _ended(self, asked: object, closed: str) -> ShimBroke:
        ended = self.warden.wait_exit(Deadline(1))
        how = f"{ended.how} {ended.number}" if ended else closed
        rest = repr(bytes(self._buffer[:120])) if self._buffer else "nothing"
        what = f"the shim {how} without a whole answer; {UNTIL_BYE}"
        return self._broke(what, asked, **{SO_FAR: rest})

    def _fill(self, fd: int) -> bool:
        data = os.read(fd, 2**20)
        self._buffer += data
        return bool(data)

    def bye(self) -> Exit | None:
        """Send `bye` and return how the shim ended, or None if it did not.

        Call `close` afterwards.
        """
        self.call("bye")
        return self.end()

    def end(self) -> Exit | None:
        """Close stdin and return how the shim ended, or None if it did not.

        Call `close` afterwards.
        """
        with contextlib.suppress(OSError):
            self._streams.ours("stdin").close()
        ended = self.warden.wait_exit(Deadline(self.within_s))
        self.left = [each for each in self.warden.tree() if ended and each.alive]
        return ended

    @property
    def alive(self) -> bool:
        return self.warden.pid != 0

    def close(self) -> None:
        self.warden.sweep()
        self._stderr.close()
        if text := self._stderr.text():
            (self._folder / "stderr").write_bytes(text)
        self._streams.close()


def answer_s(message: Mapping[str, Any]) -> float:
    """Return the time limit of a request, which grows with the size of the request."""
    return ANSWER_S * (1 + _size(message) / 2**20)


def _size(value: Any) -> int:
    """Return the approximate size of a request, for its time limit."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(_size(each) for each in value.values())
    if isinstance(value, list):
        return sum(_size(each) for each in value)
    return 0
