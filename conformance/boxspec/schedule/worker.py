"""The worker process, which runs bodies of short tests one after the other.

Only one thread of a Python interpreter computes at a time, and a short case spends half of its time
computing. So a second process makes a run faster. The worker is forked after the collection, so it
has the tests already. Both processes exchange lines of JSON:

* to the worker: first the results of the trust checks and other facts of the session, then the name
  of one test at a time;
* from the worker: the result of each body (`ClosedCase`), and at the end the processes that the
  shim left running.

If the kit ends for any reason, the other end of the worker's socket closes, and the worker ends its
cases.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from boxspec.errors import HarnessError
from boxspec.judge.verdict import Late
from boxspec.subject.session import Session

# With fewer tests the worker process would take more time than it saves.
WORTH = 24
# Time limit for the end of the worker after its last test.
ENDS_S = 30.0

# A function that creates the worker's session from the facts that the main process has sent.
Make = Callable[[dict[str, Any]], Session]
# A function that runs the named test in the worker, and returns its result.
RunTest = Callable[[Session, str], dict[str, Any]]


class WorkerFailure(Exception):
    """Raised in the main process if a body in the worker has failed.

    fields: the fields of the record.
    """

    def __init__(self, fields: dict[str, Any]) -> None:
        super().__init__(fields.get("reason", ""))
        self.fields = fields


@dataclass
class ClosedCase:
    """The result of a case of the worker that is closed, with the facts that a record needs."""

    seconds: float | None
    shim_seconds: float
    questions: int
    timing: list[dict[str, Any]]

    def measured(self) -> list[dict[str, Any]]:
        return self.timing

    def close(self, *, keep: bool) -> None:
        """Do nothing: the worker has kept or deleted the folder."""


class Worker:
    """The worker, as the main process sees it. Only one thread at a time sends a test."""

    def __init__(self, pid: int, end: socket.socket) -> None:
        self._pid, self._end = pid, end
        self._lines = end.makefile("rb")
        self._session: Session | None = None
        self._asked = threading.Lock()
        # False once the worker has died or does not answer.
        self.serves = True

    @classmethod
    def start(cls, make: Make, run_test: RunTest) -> Worker:
        """Fork the worker.

        Call it before the session has threads and descriptors that a fork would copy.
        """
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            ours.close()
            _work(theirs, make, run_test)
        theirs.close()
        return cls(pid, ours)

    def open(self, session: Session) -> None:
        self._session = session
        with contextlib.suppress(HarnessError):
            self._send_message(session.handed_on())

    def run(self, name: str, topic: str) -> tuple[ClosedCase, float | Exception] | None:
        """Run a test in the worker, and return its result with its duration or exception.

        Return None if the worker is busy. Raise HarnessError if the worker has died.
        """
        if not self._asked.acquire(blocking=False):
            return None
        try:
            return self._run(name, topic)
        finally:
            self._asked.release()

    def _run(self, name: str, topic: str) -> tuple[ClosedCase, float | Exception]:
        assert self._session is not None
        hangs = self._session.hangs
        with hangs.turn(topic):
            before = hangs.count(topic)
            self._send_message({"test": name, "topic": topic, "hangs": before})
            answer = self._receive()
        for _ in range(answer["hangs"] - before):
            hangs.note(topic)
        left = ClosedCase(**answer["left"])
        if "late" in answer:
            return left, Late(**answer["late"])
        if "failure" in answer:
            return left, WorkerFailure(answer["failure"])
        return left, left.seconds or 0.0

    def _send_message(self, message: dict[str, Any]) -> None:
        try:
            _send(self._end, message)
        except OSError:
            raise self._died() from None

    def _receive(self) -> dict[str, Any]:
        with contextlib.suppress(OSError):
            if line := self._lines.readline():
                answer: dict[str, Any] = json.loads(line)
                if "broke" in answer:
                    raise self._died(f": {answer['broke']}")
                return answer
        raise self._died()

    def _died(self, why: str = "") -> HarnessError:
        self.serves = False
        return HarnessError(f"the worker process ended unexpectedly{why}")

    def interrupt(self) -> None:
        """Send no further test. A running case ends within a moment."""
        with contextlib.suppress(OSError):
            self._end.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Reap the worker. Call it after `interrupt`, when no thread sends tests any more."""
        self._end.settimeout(ENDS_S)
        with contextlib.suppress(HarnessError):
            last = self._receive()
            if self._session is not None:
                facts = (last["requests"], last["left"], last["folders"])
                self._session.leftovers.join(*facts)
        self._lines.close()
        self._end.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)


def _send(end: socket.socket, message: dict[str, Any]) -> None:
    end.sendall(json.dumps(message).encode("ascii") + b"\n")


def _work(end: socket.socket, make: Make, run_test: RunTest) -> NoReturn:
    """Run the worker process from its fork to its end."""
    try:
        # The terminal sends SIGINT to both processes. The worker ignores it, because the main
        # process ends the worker in order.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # The parent has registered a descriptor to which signal numbers are written (interrupt.py).
        # The worker must not write to it.
        signal.set_wakeup_fd(-1)
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: PTH123
        _WorkerMain(end, make, run_test).run()
    except Exception as why:
        with contextlib.suppress(OSError):
            _send(end, {"broke": f"{type(why).__name__}: {why}"})
    finally:
        os._exit(0)


class _WorkerMain:
    """The part of the worker that runs in the forked process."""

    def __init__(self, end: socket.socket, make: Make, run_test: RunTest) -> None:
        self._end, self._make, self._run_test = end, make, run_test
        self._jobs: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()

    def run(self) -> None:
        lines = self._end.makefile("rb")
        first = lines.readline()
        if not first:
            return
        session = self._make(json.loads(first))

        def listen() -> None:
            # Reading fails if the main process ended before it read all answers (ECONNRESET), and a
            # line that it was writing may be incomplete.
            with contextlib.suppress(OSError, ValueError):
                for line in lines:
                    self._jobs.put(json.loads(line))
            session.interrupt()
            self._jobs.put(None)

        threading.Thread(target=listen, name="jobs", daemon=True).start()
        try:
            while (job := self._jobs.get()) is not None:
                self._send_message(self._answer(session, job))
        finally:
            session.close()
        self._send_message(session.leftovers.to_json())

    def _send_message(self, message: dict[str, Any]) -> None:
        """Send a line.

        Errors of a closed socket are ignored: `run` then reads the end of its input and stops the
        worker.
        """
        with contextlib.suppress(OSError):
            _send(self._end, message)

    def _answer(self, session: Session, job: dict[str, Any]) -> dict[str, Any]:
        topic, name = job["topic"], job["test"]
        session.hangs.learn(topic, job["hangs"])
        return {**self._run_test(session, name), "hangs": session.hangs.count(topic)}
