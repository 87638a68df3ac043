"""Faults of streams that have ended."""

import process.script as script
from faults.registry import fault, replaces


def forget(step):
    if step.handle.taken[step.stream] < 0:
        step.handle.process.close_stream(step.stream)


@fault("PROCESS-OPEN-04", "a stream that was read to its end is no longer there", "autoDestroy")
def a_read_to_the_end_closes():
    @replaces(script.Step)
    def read_eof(original, self, fd):
        told = original(self, fd)
        forget(self)
        return told


@fault("PROCESS-OPEN-04", "a failed write takes stdin from the handle", "stdin = None")
def a_failed_write_closes():
    @replaces(script.Step)
    def write(original, self, fd):
        told = original(self, fd)
        if told.get("errno") == "EPIPE" and self.handle.modes[0] == 1:
            forget(self)
        return told


@fault("PROCESS-OPEN-04", "a stdin that was closed is still listed", "a closed stream object stays")
def a_closed_stdin_is_listed():
    @replaces(script.Step)
    def act_on(original, self, handle, process):
        had = self.kind == "close_stdin" and process.fds[0] >= 0
        process.closed = had or getattr(process, "closed", False)
        told = original(self, handle, process)
        return told | {"stdin": True} if self.kind == "streams" and process.closed else told


@fault("PROCESS-OPEN-01", "a terminate closes stdin", "stdin.end() before the signal")
def a_terminate_closes_stdin():
    @replaces(script.Step)
    def act_on(original, self, on, process):
        told = original(self, on, process)
        if self.kind == "terminate":
            process.close_stream(0)
        return told
