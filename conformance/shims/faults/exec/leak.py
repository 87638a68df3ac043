"""Faults that leak a resource with each run."""

import _thread
import os

import exec.batch as batch
import exec.group as group
import exec.run as run
from faults.registry import fault, replaces


@fault("EXEC-LEAK-01", "a run past its deadline leaves its pidfd open", "pitfall C8")
def timeouts_leak_a_descriptor():
    @replaces(run.Run)
    def end_group(original, self, cause):
        if cause.name == "timeout":
            self.group.close = lambda: None
        original(self, cause)


@fault("EXEC-LEAK-01", "a child that was killed is not reaped", "pitfall C10: tokio#2685")
def killed_children_stay_zombies():
    @replaces(run.Run)
    def reap(original, self):
        if self.end[0] == os.CLD_EXITED:
            original(self)


@fault("EXEC-LEAK-01", "the pipe of a detached writer stays open", "reading until it ends")
def pipes_of_escapees_stay_open():
    @replaces(run.Run)
    def close(original, self):
        for output in self.outputs:
            output.fd = -1  # the fds of ended streams are closed already
        original(self)


@fault("EXEC-LEAK-01", "the terminal that was opened for a copy stays open", "/proc/self/fd/2")
def terminals_stay_open():
    @replaces(run.Run)
    def close(original, self):
        if self.tee:
            self.tee.close = lambda: None
        original(self)


@fault("EXEC-LEAK-01", "a run that was cut at its cap leaves its pidfd open", "an early return")
def caps_leak_a_descriptor():
    @replaces(run.Run)
    def close(original, self):
        if any(output.over for output in self.outputs):
            self.group.close = lambda: None
        original(self)


@fault("EXEC-LEAK-01", "a payload that may fail leaves its pipe open", "EPIPE, and no close()")
def a_payload_that_may_fail_leaves_its_pipe_open():
    @replaces(run.Run)
    def look(original, self):
        if self.request.stdin_failure == "ignore" and self.input.fd >= 0:
            self.input.close = lambda: setattr(self.input, "fd", -1)
        return original(self)


@fault("EXEC-LEAK-02", "the writer's thread is not joined", "pitfall C9")
def a_thread_stays():
    never = _thread.allocate_lock()
    never.acquire()
    batch.await_thread_ends = lambda expected: None

    @replaces(group.Group, "__init__")
    def init(original, self, leader):
        original(self, leader)
        _thread.start_new_thread(never.acquire, ())
