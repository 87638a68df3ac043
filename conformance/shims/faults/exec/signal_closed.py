"""Faults of a child that has closed its streams."""

import exec.run as run
from faults.registry import fault, replaces


@fault("EXEC-SIGNAL-01", "without outputs no signal is forwarded", "the loop ends with the pipes")
def without_outputs_no_signal_is_forwarded():
    @replaces(run.Run)
    def look(original, self):
        if not self.end and all(output.fd < 0 for output in self.outputs):
            self.watch.noted.clear()
        return original(self)
