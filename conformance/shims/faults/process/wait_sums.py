"""Faults of a wait or a close that depend on the steps before it."""

from time import monotonic_ns

import process.handle as handle
from faults.registry import fault, replaces

MS = 1_000_000


def replaces_limited_waits(limit_ns):
    """Replace the limit of each wait that has one by limit_ns(process, timeout_ms)."""

    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        if not timeout_ms:
            return original(self, timeout_ms)
        self.await_end(limit_ns(self, timeout_ms))
        return self.ended()


@fault(
    "PROCESS-WAIT-03", "the limits of all waits count from the first wait", "deadline += timeout"
)
def limits_count_from_the_first_wait():
    def limit_ns(process, timeout_ms):
        process.until = getattr(process, "until", monotonic_ns()) + timeout_ms * MS
        return process.until

    replaces_limited_waits(limit_ns)


@fault("PROCESS-WAIT-03", "a wait has the limits of all waits before it too", "total += timeout")
def limits_are_summed():
    def limit_ns(process, timeout_ms):
        process.total = getattr(process, "total", 0) + timeout_ms * MS
        return monotonic_ns() + process.total

    replaces_limited_waits(limit_ns)


@fault(
    "PROCESS-WAIT-03", "the time of earlier waits is taken from the limit", "a timeout per handle"
)
def limits_are_used_up():
    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        begun = monotonic_ns()
        used_ms = getattr(self, "used_ms", 0)
        ended = original(self, timeout_ms and max(0, timeout_ms - used_ms))
        self.used_ms = used_ms + (monotonic_ns() - begun) // MS
        return ended


@fault("PROCESS-WAIT-04", "a wait after the end leaves stdin open", "if (exited) return status")
def a_wait_after_the_end_leaves_stdin():
    @replaces(handle.Process)
    def wait(original, self, timeout_ms):
        return self.ended() if self.settled() else original(self, timeout_ms)
