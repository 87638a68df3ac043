"""Faults that treat a module as ended while it lives."""

import exec.group as group
import module.execution as execution
from faults.registry import fault, replaces


@fault("MODULE-EXIT-05", "a stopped module counts as dead", "WUNTRACED")
def a_stop_is_a_death():
    @replaces(execution.RawRun)
    def patience_ms(original, self, until):
        # A stop causes no event, so check at intervals.
        return 20

    @replaces(group.Group)
    def leader_end(original, self):
        found = original(self)
        if found is None and (number := self.leader_stop()):
            self.kill()
            return (2, number)
        return found


@fault(
    "MODULE-EXIT-05", "a module that closes its outputs is killed", "read to the end, then kill()"
)
def closed_outputs_are_the_end():
    @replaces(execution.RawRun)
    def look(original, self):
        found = original(self)
        if found is None and all(output.fd < 0 for output in self.outputs):
            self.group.kill()
        return found
