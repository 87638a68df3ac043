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
