"""Mistakes with taking a stream."""

import os

import process.script as script
from faults.registry import fault, replaces


@fault("PROCESS-TAKE-01", "a stream can be taken again", "a getter")
def taken_again():
    @replaces(script.Step)
    def act_on(original, self, handle, process):
        told = original(self, handle, process)
        if self.kind == "take" and told["taken"]:
            process.fds[self.stream] = os.dup(handle.taken[self.stream])
        return told
