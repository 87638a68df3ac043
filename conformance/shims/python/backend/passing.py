"""Pass the caller's stdin on through a pipe.

A program can open its stdin again through /proc, also for writing. If this were the caller's own
pipe, the program's bytes would reach the other readers of the pipe.
"""

from __future__ import annotations

import _thread
import os
import select
import stat

CHUNK = 65536


def can_be_opened_again(fd: int) -> bool:
    try:
        mode = os.fstat(fd).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) or stat.S_ISFIFO(mode)


class Passing:
    """Copies from `source` to a pipe.

    The copying stops when the source ends, when the pipe has no reader, or when close is called.
    """

    def __init__(self, source: int) -> None:
        self.source = source
        self.reader, self.writer = os.pipe()
        self.stopped, self.stop = os.pipe()
        os.set_blocking(self.writer, False)
        self.ended = _thread.allocate_lock()
        self.ended.acquire()
        _thread.start_new_thread(self.work, ())

    def work(self) -> None:
        rest = b""
        try:
            while self.wait(rest):
                if not rest:
                    rest = os.read(self.source, CHUNK)
                    if not rest:
                        break
                else:
                    rest = rest[os.write(self.writer, rest) :]
        except OSError:
            pass
        finally:
            os.close(self.writer)
            self.ended.release()

    def wait(self, rest: bytes) -> bool:
        poll = select.poll()
        poll.register(self.stopped, select.POLLIN)
        if rest:
            poll.register(self.writer, select.POLLOUT)
        else:
            poll.register(self.source, select.POLLIN)
        return self.stopped not in dict(poll.poll())

    def close(self) -> None:
        os.close(self.stop)
        self.ended.acquire()
        os.close(self.stopped)
        os.close(self.reader)
