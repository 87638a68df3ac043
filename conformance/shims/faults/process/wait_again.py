"""Faults of a wait that follows another one."""

from time import monotonic_ns, sleep

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


@fault("PROCESS-WAIT-07", "a wait looks for the end every 5 ms", "waitpid(WNOHANG), then sleep")
def a_wait_looks_every_5_ms():
    @replaces(handle.Process)
    def poll_end(original, self, until):
        while not self.settled():
            if until is not None and monotonic_ns() >= until:
                return
            sleep(0.005)


@fault("PROCESS-WAIT-07", "in the grace the group is looked at every 5 ms", "kill(-pid, 0)")
def a_grace_looks_every_5_ms():
    @replaces(handle.Process)
    def await_group(original, self, until):
        while not self.reaped and self.group.alive() and monotonic_ns() < until:
            sleep(0.005)
