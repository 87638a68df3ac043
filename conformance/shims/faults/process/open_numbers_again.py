"""Faults of a descriptor that is closed twice."""

import os

import process.handle as handle
from faults.registry import fault, replaces


@fault("PROCESS-OPEN-05", "a drop after a close closes the numbers again", "bpo-10806")
def a_drop_closes_the_numbers_again():
    @replaces(handle.Process)
    def close(original, self, grace_ms):
        self.numbers = [fd for fd in self.fds if fd >= 0]
        return original(self, grace_ms)

    @replaces(handle.Process)
    def drop(original, self):
        original(self)
        for fd in getattr(self, "numbers", []):
            try:
                os.close(fd)
            except OSError:
                pass
