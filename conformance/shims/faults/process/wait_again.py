"""Faults of a wait that follows another one."""

import process.handle as handle
from faults.registry import fault, replaces


@fault("PROCESS-WAIT-04", "after a wait with a limit, stdin stays open", "decided only once")
def stdin_stays_open_after_a_limit():
    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        if timeout_ms is None and getattr(self, "waited", False):
            self.await_end(None)
            return self.ended()
        self.waited = bool(timeout_ms)
        return original(self, timeout_ms)
