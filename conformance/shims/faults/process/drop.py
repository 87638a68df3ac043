"""Mistakes with dropping."""

import process.handle as handle
from faults.registry import fault, replaces


@fault("PROCESS-DROP-01", "a dropped child runs on", "std::process::Child")
def runs_on():
    @replaces(handle.Process)
    def drop(original, self):
        pass


@fault("PROCESS-DROP-01", "a dropped child is not reaped", "kill() without wait()")
def is_not_reaped():
    @replaces(handle.Process)
    def drop(original, self):
        self.signal(9)
