"""Faults of a signal that races with a wait. Only a forced order decides the race."""

from time import sleep

import process.handle as handle
from faults.registry import fault, replaces


@fault("PROCESS-KILL-04", "a signal is sent without the lock of the wait", "poll()", role="order")
def a_signal_takes_no_lock():
    @replaces(handle.Process)
    def signal(original, self, number):
        if not self.reaped:
            # Without a pause, the lock of the interpreter would protect the two steps.
            sleep(0.001)
            self.group.signal(number)
