"""Faults about modules that are not executed in a child."""

import module.execution as execution
from faults.registry import fault, replaces


@fault(
    "MODULE-OFF-01", "without a function the module runs in a child process", "better than an error"
)
def falls_back_to_the_child():
    @replaces(execution.Execution)
    def value(original, self):
        self.enabled = True
        return original(self)


@fault(
    "MODULE-OFF-01",
    "a module that is not wired is reported as a failed spawn",
    "sandbox task, step 5",
)
def not_wired_is_a_failed_spawn():
    @replaces(execution.Execution)
    def value(original, self):
        if not self.enabled:
            raise execution.Failure("SpawnFailed", message="in-process executor not wired")
        return original(self)


@fault("MODULE-OFF-01", "a module that is not there is a failed spawn", "look up, then decide")
def looks_up_first():
    @replaces(execution.Execution)
    def value(original, self):
        self.look_up()
        return original(self)
