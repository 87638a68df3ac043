"""Changes nothing that a contract names: whoever is caught here is caught by chance."""

import exec.spawn as spawn
from faults.registry import fault, replaces


@fault(None, "behaves as the twin does", "the other end of the scale", role="noop")
def nothing_is_wrong():
    @replaces(spawn.Spawn)
    def start(original, self):
        return original(self)
