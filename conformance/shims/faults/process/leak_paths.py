"""Faults that leak only in one situation."""

import os

import process.handle as handle
import process.script as script
from faults.registry import fault, replaces


@fault("PROCESS-LEAK-01", "a close that sends SIGKILL leaves a descriptor open", "an early return")
def a_close_that_kills_keeps_a_descriptor():
    @replaces(handle.Process)
    def close(original, self, grace_ms):
        told = original(self, grace_ms)
        if told.get("signaled") == "SIGKILL":
            os.dup(2)
        return told


@fault("PROCESS-LEAK-01", "a null stream stays open in the caller", "open('/dev/null') for each")
def a_null_stream_stays_open():
    @replaces(handle.ConnectedSpawn)
    def inherit_or_null(original, self, target, flags):
        if self.modes[target] == handle.NULL:
            os.dup(2)
        return original(self, target, flags)


@fault("PROCESS-LEAK-01", "a wait that times out leaves a descriptor open", "timerfd_create()")
def a_limit_that_passes_keeps_a_descriptor():
    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        told = original(self, timeout_ms)
        if timeout_ms and "running" in told:
            os.dup(2)
        return told


@fault("PROCESS-LEAK-01", "streams that were taken stay open after the next open", "into_raw_fd()")
def streams_that_were_taken_stay_open():
    @replaces(script.Handle)
    def open(original, self):
        self.taken = [-1, -1, -1]
        return original(self)


@fault("PROCESS-LEAK-01", "a close with detached writers leaks a descriptor", "a reader goes on")
def a_close_with_detached_writers_leaks():
    @replaces(handle.Process)
    def close(original, self, grace_ms):
        told = original(self, grace_ms)
        if self.detached:
            os.open("/dev/null", os.O_RDONLY)
        return told


@fault(
    "PROCESS-LEAK-01", "if stdout was taken, a drop leaves stderr open", "close if none was taken"
)
def a_taken_stdout_keeps_stderr():
    @replaces(handle.Process)
    def drop(original, self):
        if self.fds[1] < 0 <= self.fds[2]:
            self.fds[2] = -1
        original(self)
