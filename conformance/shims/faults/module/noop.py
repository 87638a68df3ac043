"""Changes nothing that a contract names: whoever is caught here is caught by chance."""

import module.execution as execution
from faults.registry import fault, replaces


@fault(None, "behaves as the twin does", "the other end of the scale", role="noop")
def nothing_is_wrong():
    @replaces(execution.Execution)
    def value(original, self):
        return original(self)
