"""Faults of a child that has closed its streams."""

import _signal

import exec.run as run
from faults.registry import fault, replaces


@fault("EXEC-KILL-02", "without outputs there is no grace", "nothing left to drain")
def without_outputs_there_is_no_grace():
    @replaces(run.Run)
    def terminate(original, self, cause):
        if all(output.fd < 0 for output in self.outputs):
            self.group.signal(_signal.SIGTERM)
            self.kill()
        else:
            original(self, cause)
