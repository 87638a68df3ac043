"""Changes nothing that a contract names: whoever is caught here is caught by chance."""

import process.handle as handle
from faults.registry import fault, replaces


@fault(None, "behaves as the twin does", "the other end of the scale", role="noop")
def nothing_is_wrong():
    @replaces(handle.Process)
    def settled(original, self):
        return original(self)
