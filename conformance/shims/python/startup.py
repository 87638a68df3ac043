"""The first steps of a process of this shim."""

from __future__ import annotations

import _signal
import os


def open_missing_stdio() -> None:
    """Open /dev/null on each of 0, 1 and 2 that is closed.

    Otherwise a pipe could get one of these numbers, and dup2 would overwrite it on its way into the
    child.
    """
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.set_inheritable(os.open("/dev/null", os.O_RDWR), True)


def settle_signals() -> None:
    """Undo the changes that the interpreter makes to signal dispositions when it starts.

    A child would inherit the changes in place of the caller's dispositions. The caller's
    disposition is no longer known, so the default is restored. Threads that write to pipes block
    SIGPIPE themselves.
    """
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    _signal.signal(_signal.SIGPIPE, _signal.SIG_DFL)
    _signal.signal(_signal.SIGXFSZ, _signal.SIG_DFL)
