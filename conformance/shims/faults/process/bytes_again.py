"""Faults of a second write, and of a write that is under way."""

import process.script as script
from faults.registry import fault, replaces


@fault("PROCESS-BYTES-02", "after a failed write a write is not tried", "a sticky error")
def after_a_failure_no_write_is_tried():
    @replaces(script.Step)
    def write(original, self, fd):
        if getattr(self.handle.process, "write_failed", False):
            return {"written": 0}
        told = original(self, fd)
        self.handle.process.write_failed = told.get("errno") == "EPIPE"
        return told


@fault("PROCESS-BYTES-02", "a close waits for a write that is under way", "one mutex for stdin")
def a_close_waits_for_a_write():
    @replaces(script.Step)
    def act_on(original, self, on, process):
        if self.kind != "close":
            return original(self, on, process)
        with on.writing:
            return original(self, on, process)
