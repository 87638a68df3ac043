"""Faults that depend on the numbers and on the count of descriptors."""

import select
from time import monotonic_ns

import process.bridge as bridge
import process.handle as handle
from faults.registry import fault, replaces


@fault("PROCESS-OPEN-10", "a wait cannot watch numbers above 1023", "select()")
def a_wait_uses_select():
    @replaces(handle.Process)
    def poll_end(original, self, until):
        while not self.settled():
            left = None if until is None else (until - monotonic_ns()) / 1e9
            if left is not None and left <= 0:
                return
            select.select([self.group.pidfd], [], [], left)


@fault("PROCESS-OPEN-10", "a bridge cannot watch numbers above 1023", "select()")
def a_bridge_uses_select():
    @replaces(bridge.Relay)
    def interests(original, self):
        found = original(self)
        if any(fd > 1023 for fd, _ in found):
            raise ValueError("filedescriptor out of range in select()")
        return found
