"""A fault of a signal to the caller during the grace period of a timeout."""

import module.execution as execution
from faults.registry import fault, replaces


@fault("MODULE-ORDER-01", "a signal in the grace period replaces the timeout", "the last event")
def a_signal_in_the_grace_replaces_the_timeout():
    @replaces(execution.Execution)
    def judge(original, self, ended, noted):
        if noted and ended["cause"] == "timeout":
            ended["cause"] = "parent_signal"
        return original(self, ended, noted)
