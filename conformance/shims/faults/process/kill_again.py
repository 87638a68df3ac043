"""Faults of a signal that follows another one."""

import _signal

import process.handle as handle
from faults.registry import fault, replaces


@fault("PROCESS-KILL-01", "a second terminate sends nothing", "if (!this.killed)")
def a_second_terminate_sends_nothing():
    told = [False]

    @replaces(handle.Process)
    def signal(original, self, number):
        if number != _signal.SIGTERM or not told[0]:
            original(self, number)
        told[0] = told[0] or number == _signal.SIGTERM
