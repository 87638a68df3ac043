"""SIGINT and SIGTERM belong to the runs while at least one is active.

The handler is the interpreter's own C handler: it writes the number into a pipe that never blocks.
Python installs handlers from the main thread only, so acquire and release are the main thread's,
while every run looks at that pipe itself.
"""

from __future__ import annotations

import _signal  # signal.py only wraps this one in enums, for a third of the start-up time
import _thread
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kinds import Mask

HANDLED = (_signal.SIGINT, _signal.SIGTERM)

NAMES = {
    number: name
    for name, number in vars(_signal).items()
    if name.startswith("SIG") and not name.startswith("SIG_") and isinstance(number, int)
}


def name_of(number: int) -> str:
    return NAMES.get(number, f"SIG{number}")


def caller_mask() -> Mask:
    return _signal.pthread_sigmask(_signal.SIG_BLOCK, ())


def child_ends_are_lost(alone: bool) -> bool:
    """True where the kernel collects children by itself: SIG_IGN, or SA_NOCLDWAIT.

    Nothing tells the flag but a child that is lost. Beside other threads (`alone` false) that would
    prove nothing: one of them may have collected it.
    """
    if _signal.getsignal(_signal.SIGCHLD) is _signal.SIG_IGN:
        return True
    if not alone:
        return False
    try:
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
    except ChildProcessError:
        return True
    except OSError:
        pass  # no process to be had: the run will say so
    return False


def hold_sigpipe() -> Mask:
    """A write to a closed pipe must not kill us: blocked in this thread, it stays pending for it.

    The disposition belongs to the whole process and to the caller; it is not touched.
    """
    return _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGPIPE,))


def drop_sigpipe(mask: Mask) -> None:
    while _signal.SIGPIPE in _signal.sigpending():
        _signal.sigtimedwait((_signal.SIGPIPE,), 0)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)


class Bell:
    """Wakes a poll from another thread."""

    def __init__(self) -> None:
        self.fd = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)

    def ring(self) -> None:
        os.eventfd_write(self.fd, 1)

    def clear(self) -> None:
        try:
            os.eventfd_read(self.fd)
        except BlockingIOError:
            pass

    def close(self) -> None:
        os.close(self.fd)


class Watch:
    """What one active run has been told."""

    def __init__(self) -> None:
        self.noted: list[int] = []
        self.bell = Bell()


class InstallError(Exception):
    pass


class Handlers:
    def __init__(self) -> None:
        self.watches: list[Watch] = []
        self.saved: list[tuple[int, Any]] = []
        self.lock = _thread.allocate_lock()
        self.read_fd = self.write_fd = -1

    def acquire(self) -> Watch:
        """Raises OSError without descriptors, InstallError without handlers; nothing is changed."""
        if self.read_fd < 0:
            # Kept for the life of the process: a handler that is still on its way may write to it.
            self.read_fd, self.write_fd = os.pipe()
            os.set_blocking(self.read_fd, False)
            os.set_blocking(self.write_fd, False)
        watch = Watch()
        with self.lock:
            self.watches.append(watch)
        try:
            if not self.saved:
                self.install()
        except OSError as e:
            self.release(watch)
            raise InstallError(f"failed to install signal handlers: {e.strerror}") from None
        return watch

    def install(self) -> None:
        _signal.set_wakeup_fd(self.write_fd, warn_on_full_buffer=False)
        for number in HANDLED:
            self.saved.append((number, _signal.signal(number, lambda number, frame: None)))

    def restore(self) -> None:
        while self.saved:
            _signal.signal(*self.saved.pop())
        _signal.set_wakeup_fd(-1)

    def release(self, watch: Watch) -> None:
        """Ends a watch; what came until the very last moment is in watch.noted afterwards."""
        if len(self.watches) == 1:
            self.restore()
        self.collect()
        with self.lock:
            self.watches.remove(watch)
        watch.bell.close()

    def collect(self) -> None:
        """Hands every noted signal to every active run."""
        with self.lock:
            while True:
                try:
                    numbers = os.read(self.read_fd, 4096)
                except BlockingIOError:
                    return
                for watch in self.watches:
                    watch.noted.extend(n for n in dict.fromkeys(numbers) if n in HANDLED)
                    watch.bell.ring()


handlers = Handlers()
