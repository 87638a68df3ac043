"""Handle SIGINT and SIGTERM while at least one run is active.

The interpreter's own handler, in C, writes the number of the signal into a pipe that never blocks.
Every run reads this pipe itself. Python installs handlers only from the main thread. So the main
thread calls acquire and release.
"""

from __future__ import annotations

# _signal is imported directly: signal.py makes enums of it, which takes a third of the start-up
# time
import _signal
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
    """True if the kernel reaps children itself: SIGCHLD is ignored, or SA_NOCLDWAIT is set.

    The flag SA_NOCLDWAIT can only be seen by starting a child and finding that its status is lost.
    If other threads run (`alone` is False), one of them may have reaped the child. So a lost status
    proves nothing then.
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
        pass  # fork has failed, and the run will report the reason
    return False


def hold_sigpipe() -> Mask:
    """Block SIGPIPE in this thread, so that writing to a closed pipe does not end the process.

    The disposition is not changed, because it belongs to the whole process and to the caller.
    """
    return _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGPIPE,))


def drop_sigpipe(mask: Mask) -> None:
    while _signal.SIGPIPE in _signal.sigpending():
        _signal.sigtimedwait((_signal.SIGPIPE,), 0)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)


class Waker:
    """Wakes another thread from its poll."""

    def __init__(self) -> None:
        self.fd = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)

    def wake(self) -> None:
        os.eventfd_write(self.fd, 1)

    def clear(self) -> None:
        try:
            os.eventfd_read(self.fd)
        except BlockingIOError:
            pass

    def close(self) -> None:
        os.close(self.fd)


class Watch:
    """The signals that arrived during one active run."""

    def __init__(self) -> None:
        self.noted: list[int] = []
        self.waker = Waker()


class InstallError(Exception):
    pass


class Handlers:
    def __init__(self) -> None:
        self.watches: list[Watch] = []
        self.saved: list[tuple[int, Any]] = []
        self.lock = _thread.allocate_lock()
        self.read_fd = self.write_fd = -1

    def acquire(self) -> Watch:
        """Begin to collect signals for a run.

        Raise OSError if no descriptor is free, or InstallError if the handlers cannot be installed.
        In both cases nothing is changed.
        """
        if self.read_fd < 0:
            # This pipe is never closed, because a handler that is still running may write to it.
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
        """Stop collecting signals for a run. After that, watch.noted contains every signal up to
        this moment."""
        if len(self.watches) == 1:
            self.restore()
        self.collect()
        with self.lock:
            self.watches.remove(watch)
        watch.waker.close()

    def collect(self) -> None:
        """Give every received signal to every active run."""
        with self.lock:
            while True:
                try:
                    numbers = os.read(self.read_fd, 4096)
                except BlockingIOError:
                    return
                for watch in self.watches:
                    watch.noted.extend(n for n in dict.fromkeys(numbers) if n in HANDLED)
                    watch.waker.wake()


handlers = Handlers()
