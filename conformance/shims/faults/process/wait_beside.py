"""Faults of a wait beside another one."""

import select
from time import monotonic_ns, sleep

import process.handle as handle
from faults.registry import fault, replaces


@fault("PROCESS-WAIT-03", "a poll waits until the wait of another thread ends", "one mutex")
def a_poll_waits_for_a_wait():
    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        while timeout_ms is not None and self.waits and not self.reaped:
            sleep(0.005)
        return original(self, timeout_ms)


@fault("PROCESS-WAIT-03", "a signal of another thread restarts the limit of a wait", "cond.wait(t)")
def a_signal_restarts_the_limit():
    @replaces(handle.Process)
    def signal(original, self, number):
        original(self, number)
        self.restarts = True

    @replaces(handle.Process)
    def poll_end(original, self, until):
        span = 0 if until is None else until - monotonic_ns()
        poll = select.poll()
        poll.register(self.group.pidfd, select.POLLIN)
        while not self.settled():
            if until is not None and vars(self).pop("restarts", False):
                until = monotonic_ns() + span
            left = None if until is None else until - monotonic_ns()
            if left is not None and left <= 0:
                return
            poll.poll(
                handle.TICK_MS if left is None else min(left // 1_000_000 + 1, handle.TICK_MS)
            )
