"""Faults of a close beside a call of another thread."""

from time import monotonic_ns

import process.handle as handle
import process.script as script
from faults.registry import fault, replaces


@fault("PROCESS-CLOSE-01", "a terminate restarts the grace of a close", "a timer per signal")
def a_terminate_restarts_the_grace():
    @replaces(handle.Process)
    def await_group(original, self, until):
        grace = until - monotonic_ns()
        self.told = 0
        while not self.is_over() and monotonic_ns() < until:
            before = self.told
            original(self, min(until, monotonic_ns() + 50_000_000))
            if self.told > before:
                until = monotonic_ns() + grace

    @replaces(script.Step)
    def act_on(original, self, on, process):
        if self.kind == "terminate":
            process.told = getattr(process, "told", 0) + 1
        return original(self, on, process)
