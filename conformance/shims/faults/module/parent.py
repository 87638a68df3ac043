"""Faults about a caller that ends."""

import os

import module.execution as execution
import module.runner as runner
from faults.registry import fault, replaces


@fault(
    "MODULE-PARENT-01",
    "a signal to the caller is reported as a death of the module",
    "one error for both",
)
def a_signal_is_a_death():
    @replaces(execution.Execution)
    def judge(original, self, ended, noted):
        return original(self, ended, [])


@fault("MODULE-PARENT-02", "the module survives its caller", "kill_on_drop is no tie")
def nothing_ties_it():
    @replaces(runner)
    def die_with_the_parent(original):
        pass


@fault(
    "MODULE-PARENT-01",
    "the signal goes only to the module, not to its group",
    "child.send_signal()",
)
def the_module_alone_has_it():
    @replaces(execution.RawRun)
    def first_signal(original, self, cause):
        if cause.name == "parent_signal":
            os.kill(self.group.leader, cause.signal)
        else:
            original(self, cause)
