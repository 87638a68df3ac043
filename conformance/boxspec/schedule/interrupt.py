"""End a run at SIGINT, SIGTERM or SIGHUP, and keep the results of the finished tests.

The first signal raises KeyboardInterrupt in the main thread, which then ends the running tests.
Some tests notice late that their shim was ended. So a second thread waits at most `ENDS_S` seconds,
or until the next signal. Then this thread forks a process that writes the results, and ends the
process of the run. In the forked process no other thread competes for the interpreter.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import sys
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, NoReturn

ENDS_S = 1.0
# The second value holds after a second signal.
RECORD_S, RECORD_AT_ONCE_S = 1.0, 0.4
LEAVE_S = 3.0
SWITCH_S = 0.0002
PRIORITY = -20
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Written to the socket in place of a signal number when the run ends.
ENDED = 0


class Interrupt:
    """The signals of one run, as a context manager.

    say: prints the tests that the run waits for; called once, in another thread.
    finish: writes the results and returns the exit status; called in a forked process, and only if
        the main thread does not write them. It must need no lock that another thread may hold.
    record: records the tests that have just ended; called before the fork, for at most `RECORD_S`
        or `RECORD_AT_ONCE_S`.
    leave: prepares the end of this process while the forked one writes, for at most `LEAVE_S`. Its
        argument is True after a second signal.
    """

    def __init__(
        self,
        say: Callable[[], None],
        finish: Callable[[], int],
        record: Callable[[], None] = lambda: None,
        leave: Callable[[bool], None] = lambda _: None,
    ) -> None:
        self._say, self._finish = say, finish
        self._record, self._leave = record, leave
        self.number: int | None = None
        self._raised = False
        self._claim = threading.Lock()
        in_main = threading.current_thread() is threading.main_thread()
        self._signals = SIGNALS if in_main else ()
        self._before: dict[int, Any] = {}

    @property
    def status(self) -> int:
        """Return the exit status after a signal, as a shell reports it."""
        return 128 + (self.number or signal.SIGINT)

    def __enter__(self) -> Interrupt:
        # The kernel's handler writes the number of a signal here at once. The handler in Python has
        # to wait until the main thread runs.
        self._read, self._write = socket.socketpair()
        self._write.setblocking(False)
        threading.Thread(target=self._watch, name="interrupt", daemon=True).start()
        for number in self._signals:
            self._before[number] = signal.getsignal(number)
            # `nohup` ignores SIGHUP. The run then ignores SIGHUP too.
            if self._before[number] is not signal.SIG_IGN:
                signal.signal(number, self._handle)
        if self._signals:
            signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, why: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._signals:
            signal.set_wakeup_fd(-1)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._write.send(bytes([ENDED]))

    def _handle(self, number: int, _: FrameType | None) -> None:
        if self._raised:
            return
        self._raised = True
        self.number = self.number or number
        raise KeyboardInterrupt

    def claim(self) -> None:
        """Claim the right to write the results for the main thread. If the other thread has claimed
        it already, this call does not return."""
        if not self._claim.acquire(blocking=False):
            threading.Event().wait()

    def _watch(self) -> None:
        if not (first := self._next(None)):
            return
        self.number = self.number or first
        # Dozens of threads compete for the interpreter while they end their tests. With a short
        # switch interval this thread runs soon. If the user is root, the thread also gets a higher
        # priority, which the process that it forks in `_end` inherits.
        sys.setswitchinterval(SWITCH_S)
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), PRIORITY)
        self._say()
        second = self._next(ENDS_S)
        if second != ENDED and self._claim.acquire(blocking=False):
            self._end(at_once=second is not None)

    def _end(self, *, at_once: bool) -> NoReturn:
        """Let a forked process write the results, and exit with its status.

        A further signal ends both processes without results.
        """
        _bounded(self._record, RECORD_AT_ONCE_S if at_once else RECORD_S)
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            ours.close()
            for number in self._signals:
                signal.signal(number, signal.SIG_IGN)
            os._exit(self._finish())
        theirs.close()
        _bounded(lambda: self._leave(at_once), LEAVE_S)
        with selectors.DefaultSelector() as ready:
            ready.register(ours, selectors.EVENT_READ)
            ready.register(self._read, selectors.EVENT_READ)
            while not any(key.fileobj is ours for key, _ in ready.select()):
                if self._next(0):
                    os.kill(pid, signal.SIGKILL)
                    os._exit(self.status)
        _, status = os.waitpid(pid, 0)
        os._exit(os.waitstatus_to_exitcode(status))

    def _next(self, timeout_s: float | None) -> int | None:
        """Return the next signal, ENDED at the end of the run, or None at the timeout."""
        self._read.settimeout(timeout_s)
        try:
            # The socket gets the number of every signal that has a handler, so skip all others.
            while (got := self._read.recv(1)[0]) not in (*SIGNALS, ENDED):
                pass
        except (TimeoutError, BlockingIOError):
            return None
        return got


def _bounded(call: Callable[[], None], most_s: float) -> None:
    """Call a function in a thread, and return after `most_s` even if the call has not returned.

    A call may never return: KeyboardInterrupt can reach the main thread between taking a lock and
    entering the `with` block that releases the lock. A call that needs this lock then waits for
    ever.
    """
    thread = threading.Thread(target=call, name="bounded", daemon=True)
    thread.start()
    thread.join(most_s)
