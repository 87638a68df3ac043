"""Faults of a drop beside a close of another thread."""

from time import sleep

import process.handle as handle
from faults.process.parts import notes_a_close
from faults.registry import fault, replaces


@fault("PROCESS-DROP-01", "a drop waits for the grace of a close", "the calls end first")
def a_drop_waits_for_the_grace():
    notes_a_close()

    @replaces(handle.Process)
    def drop(original, self):
        while hasattr(self, "closes") and not self.reaped:
            sleep(0.005)
        original(self)
