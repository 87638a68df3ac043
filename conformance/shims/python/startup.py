"""What a process sees to before it does anything else."""

from __future__ import annotations

import _signal
import os


def open_missing_stdio() -> None:
    """A pipe that landed on 0, 1 or 2 would be overwritten on its way into the child."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.set_inheritable(os.open("/dev/null", os.O_RDWR), True)


def settle_signals() -> None:
    """Takes back what the interpreter does to dispositions when it starts.

    A child inherits them, and the caller is not the interpreter. What was there before cannot be
    asked any more; the default is the honest guess. Writers block SIGPIPE in their own thread.
    """
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    _signal.signal(_signal.SIGPIPE, _signal.SIG_DFL)
    _signal.signal(_signal.SIGXFSZ, _signal.SIG_DFL)
