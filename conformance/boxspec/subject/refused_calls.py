"""Find system calls that a filter refuses on this host, although its kernel has them.

A program that needs such a call fails here, and is not to blame for it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass

# No call accepts this value for all its arguments.
BAD = -1


@dataclass(frozen=True)
class Call:
    """A system call that runtimes of programming languages use.

    x86_64, others: its number, and that on other architectures.
    old: True if each kernel has it, so that ENOSYS is the answer of a filter, too.
    """

    name: str
    x86_64: int
    others: int
    old: bool = True


CALLS = (
    Call("inotify_init1", 294, 26),
    Call("epoll_create1", 291, 20),
    Call("eventfd2", 290, 19),
    Call("timerfd_create", 283, 85),
    Call("signalfd4", 289, 74),
    Call("memfd_create", 319, 279),
    Call("pidfd_send_signal", 424, 424, old=False),
    Call("pidfd_open", 434, 434, old=False),
    Call("close_range", 436, 436, old=False),
    Call("faccessat2", 439, 439, old=False),
)


def refused_calls() -> Iterator[str]:
    """Yield the names of the calls that are refused here. No call has an effect."""
    libc = ctypes.CDLL(None, use_errno=True)
    arguments = [ctypes.c_long(BAD)] * 5
    for call in CALLS:
        number = call.x86_64 if platform.machine() == "x86_64" else call.others
        libc.syscall(ctypes.c_long(number), *arguments, ctypes.c_long(BAD))
        answer = ctypes.get_errno()
        if answer == errno.EPERM or (call.old and answer == errno.ENOSYS):
            yield f"{call.name} ({os.strerror(answer)})"
