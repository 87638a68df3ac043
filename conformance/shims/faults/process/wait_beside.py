"""Faults of a wait beside another one."""

from time import sleep

import process.handle as handle
from faults.registry import fault, replaces


@fault("PROCESS-WAIT-03", "a poll waits until the wait of another thread ends", "one mutex")
def a_poll_waits_for_a_wait():
    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        while timeout_ms is not None and self.waits and not self.reaped:
            sleep(0.005)
        return original(self, timeout_ms)
