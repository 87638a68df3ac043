"""Faults about the ends of streams."""

import os

import process.handle as handle
import process.script as script
from faults.registry import fault, replaces


@fault("PROCESS-EOF-01", "close_stdin leaves a taken stdin open", "two owners")
def taken_stays_open():
    @replaces(script.Step)
    def act_on(original, self, on, process):
        if self.kind == "close_stdin":
            process.close_stream(0)
            return {}
        return original(self, on, process)


@fault("PROCESS-EOF-02", "unread output is lost when the child ends", "pipes closed at the reap")
def gone_with_the_child():
    @replaces(handle.Process)
    def settled(original, self):
        before = self.reaped
        done = original(self)
        # Except for orphans that write and for bridges (whose pipes do not block), which other
        # requirements test.
        mine = self.fds[2] >= 0 and os.get_blocking(self.fds[2])
        if done and not before and mine and self.end in ((1, 0), (2, 9)):
            for stream in (1, 2):
                self.close_stream(stream)
        return done


@fault("PROCESS-EOF-02", "a kill closes the output that is not read yet", "child.stdout.destroy()")
def a_kill_closes_the_output():
    @replaces(script.Step)
    def act_on(original, self, on, process):
        told = original(self, on, process)
        if self.kind == "kill":
            process.close_stream(1)
        return told
