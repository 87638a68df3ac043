"""No-ops: changes that no requirement forbids. A test that fails here tests too much."""

import process.handle as handle
from faults.registry import fault, replaces


@fault(None, "behaves as the unchanged implementation", "the other end of the scale", role="noop")
def nothing_is_wrong():
    @replaces(handle.Process)
    def settled(original, self):
        return original(self)
