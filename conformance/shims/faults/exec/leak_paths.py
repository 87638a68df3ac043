"""Faults that leak only if one option and one outcome occur together."""

import os

import exec.run as run
import exec.spawn as spawn
from errors import Failed
from faults.registry import fault, replaces


@fault("EXEC-LEAK-01", "the null device stays open after a failed spawn", "an early return")
def the_null_device_of_a_failed_spawn_stays_open():
    @replaces(spawn.Spawn)
    def start(original, self):
        try:
            return original(self)
        except Failed:
            if self.request.stdin == "null":
                os.dup(2)
            raise


@fault("EXEC-LEAK-01", "an unread payload keeps its pipe after a deadline", "close() in one branch")
def an_unread_payload_keeps_its_pipe_after_a_deadline():
    @replaces(run.Run)
    def end_group(original, self, cause):
        if cause.name == "timeout" and self.input.fd >= 0:
            os.dup(self.input.fd)
        original(self, cause)


@fault("EXEC-LEAK-01", "the debug copy stays open after a deadline", "finish() on success only")
def the_copy_of_a_timed_out_run_stays_open():
    @replaces(run.Run)
    def end_group(original, self, cause):
        if cause.name == "timeout" and self.tee and self.tee.fd >= 0:
            os.dup(self.tee.fd)
        original(self, cause)


@fault("EXEC-LEAK-01", "the payload's pipe stays open if the directory is missing", "error path")
def a_payload_for_a_missing_directory_stays_open():
    @replaces(spawn.Spawn)
    def start(original, self):
        try:
            return original(self)
        except Failed:
            if self.stage and isinstance(self.request.stdin, bytes):
                os.dup(2)
            raise


@fault("EXEC-LEAK-01", "a cap that ends a run with a payload keeps the pipe", "goto done")
def a_payload_of_a_capped_run_stays_open():
    @replaces(run.Run)
    def kill(original, self):
        if self.input.fd >= 0 and any(output.over for output in self.outputs):
            os.dup(self.input.fd)
        original(self)


@fault("EXEC-LEAK-01", "a wait error leaves the pidfd open", "return Err(…) before close()")
def a_wait_error_keeps_the_pidfd():
    @replaces(run.Run)
    def reap(original, self):
        original(self)
        self.reaped = True

    @replaces(run.Run)
    def close(original, self):
        if not hasattr(self, "reaped"):
            self.group.pidfd = -1
        original(self)
