"""Faults of a close that comes after a kill."""

import _signal
from time import sleep

import process.handle as handle
from faults.registry import fault, replaces


@fault(
    "PROCESS-CLOSE-01", "a close after a kill sleeps for the grace", "kill(); sleep(grace); wait()"
)
def a_close_after_a_kill_sleeps():
    @replaces(handle.Process)
    def signal(original, self, number):
        original(self, number)
        self.was_killed = number == _signal.SIGKILL

    @replaces(handle.Process)
    def end_in(original, self, grace_ms):
        if getattr(self, "was_killed", False):
            sleep(grace_ms / 1000)
        return original(self, grace_ms)
