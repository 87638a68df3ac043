"""Faults of the debug copy on a slow terminal."""

from time import monotonic_ns

import exec.tee as tee
from faults.registry import fault, replaces


@fault("EXEC-DEBUG-06", "each byte that the terminal accepts extends the flush", "tcdrain()")
def a_slow_terminal_extends_the_flush():
    @replaces(tee.Tee)
    def finish(original, self):
        for redactor in self.redactors.values():
            self.put(redactor.feed(b"", last=True))
        until = monotonic_ns() + 20 * tee.GOODBYE_NS
        last = monotonic_ns()
        while self.queue and self.fd >= 0 and monotonic_ns() < min(until, last + tee.GOODBYE_NS):
            before = len(self.queue)
            if self.writable(10):
                self.write()
            if len(self.queue) < before:
                last = monotonic_ns()
        self.close()
