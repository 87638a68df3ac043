"""Faults in writing the payload after the first signal."""

import exec.run as run
from faults.registry import changed, fault, replaces


@fault(
    "EXEC-STDIN-03",
    "the payload ends at the first signal, and the child takes a part for the whole",
    "a writer that is cancelled together with the run",
)
def ends_at_the_first_signal():
    @replaces(run.Run)
    def terminate(original, self, cause):
        self.input.close()
        original(self, cause)


@fault(
    "EXEC-STDIN-03",
    "nothing of the payload is written in the grace period",
    "a loop for the grace period that only waits",
)
def waits_in_the_grace():
    @replaces(run.Run)
    def terminate(original, self, cause):
        with changed(self.input, fd=-1):
            original(self, cause)
