"""Faults of the unit of a deadline."""

import exec.run as run
from faults.registry import fault, replaces


@fault("EXEC-TIMEOUT-02", "a deadline above a second is in whole seconds", "alarm(ms / 1000)")
def long_deadlines_are_whole_seconds():
    @replaces(run.Run)
    def begin_deadline(original, self):
        original(self)
        ms = self.request.timeout_ms
        if ms is not None and ms > 1000:
            self.deadline = self.spawned_at + ms // 1000 * 1000 * 1_000_000


@fault("EXEC-TIMEOUT-05", "whole days of a timeout are dropped", "timedelta.seconds")
def whole_days_are_dropped():
    wraps_at(86_400_000)


@fault("EXEC-TIMEOUT-05", "seconds of a timeout have 16 bits", "a field of a struct")
def seconds_have_16_bits():
    wraps_at(2**16 * 1000)


def wraps_at(most):
    @replaces(run.Run)
    def begin_deadline(original, self):
        original(self)
        if self.request.timeout_ms is not None:
            self.deadline = self.spawned_at + self.request.timeout_ms % most * 1_000_000
