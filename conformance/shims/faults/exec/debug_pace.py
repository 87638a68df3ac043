"""Faults of the debug copy on a slow or closed terminal."""

import os
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


@fault("EXEC-DEBUG-13", "the copy for a closed terminal goes to the caller's stdin", "fd = 0")
def a_closed_terminal_is_replaced_by_stdin():
    @replaces(tee.Tee)
    def write(original, self):
        open_before = self.fd >= 0
        original(self)
        if open_before and self.fd < 0:
            self.fd = os.dup(0)


@fault("EXEC-DEBUG-13", "a closed terminal is closed in the caller too", "close(2)")
def a_closed_terminal_is_closed_in_the_caller():
    @replaces(tee.Tee)
    def write(original, self):
        open_before = self.fd >= 0
        original(self)
        if open_before and self.fd < 0:
            os.close(2)
