"""Faults of taking a stream."""

import os
from time import sleep

import process.handle as handle
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


@fault("PROCESS-TAKE-02", "two threads can take the same stream", "check, then act, without a lock")
def looks_and_takes_later():
    @replaces(handle.Process)
    def take(original, self, stream):
        fd = self.fds[stream]
        sleep(0.005)
        self.fds[stream] = -1
        return fd


@fault("PROCESS-TAKE-01", "close closes a descriptor that was taken", "one list of descriptors")
def a_close_takes_it():
    @replaces(script.Step)
    def act_on(original, self, handle, process):
        told = original(self, handle, process)
        if self.kind == "close":
            for fd in handle.taken:
                if fd >= 0:
                    os.close(fd)
            handle.taken = [-1, -1, -1]
        return told


@fault(
    "PROCESS-TAKE-01",
    "after a new open the handle still counts a stream as taken",
    "a map that is not cleared",
)
def what_was_taken_stays():
    @replaces(script.Handle)
    def open(original, self):
        taken, self.taken = self.taken, [-1, -1, -1]
        process = original(self)
        self.taken = taken
        return process
