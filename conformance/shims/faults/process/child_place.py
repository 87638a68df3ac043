"""Faults of a caller in an unusual place."""

import _signal
import os
import select
from time import monotonic_ns

import exec.signals as signals
import exec.spawn as spawn
import process.handle as handle
import startup
from faults.registry import fault, replaces


@fault("PROCESS-CHILD-04", "the caller's working directory is looked up", "getcwd() for ./PROGRAM")
def the_working_directory_is_looked_up():
    @replaces(spawn.Spawn)
    def attempt(original, self):
        os.getcwd()
        return original(self)


@fault("PROCESS-CHILD-04", "standard descriptors that are closed are reused", "a plain dup2()")
def closed_numbers_are_reused():
    startup.open_missing_stdio = lambda: None


@fault(
    "PROCESS-CHILD-04",
    "the end of the child is not noticed if SIGCHLD is blocked",
    "sigwait(SIGCHLD)",
)
def a_blocked_sigchld_hides_the_end():
    @replaces(handle.Process)
    def poll_end(original, self, until):
        if _signal.SIGCHLD in signals.caller_mask() and until is not None:
            select.poll().poll(max(0, until - monotonic_ns()) // 1_000_000)
        else:
            original(self, until)
