"""Faults that change dispositions of other signals."""

import _signal

import exec.batch as batch
from faults.registry import fault, replaces


@fault(
    "EXEC-SIGNAL-12",
    "SIGCHLD has its default disposition during a run",
    "system(3), which blocks it to keep the ends of children",
)
def sigchld_is_reset():
    @replaces(batch)
    def acquire_handlers(original, request):
        _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
        return original(request)
