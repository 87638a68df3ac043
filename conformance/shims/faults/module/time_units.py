"""Faults of the unit of a timeout."""

import module.execution as execution
from faults.registry import fault, replaces


@fault("MODULE-TIME-01", "a timeout above a second is in whole seconds", "alarm(ms / 1000)")
def long_timeouts_are_whole_seconds():
    @replaces(execution.Execution)
    def effective_ms(original, self):
        ms = original(self)
        return ms // 1000 * 1000 if ms > 1000 else ms


@fault("MODULE-TIME-01", "whole days of a timeout are dropped", "timedelta.seconds")
def whole_days_are_dropped():
    @replaces(execution.Execution)
    def effective_ms(original, self):
        ms = original(self)
        return ms % 86_400_000 if ms else ms
