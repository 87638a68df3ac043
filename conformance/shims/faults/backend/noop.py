"""Changes nothing that a contract names: whoever is caught here is caught by chance."""

import backend.environment as environment
from faults.registry import fault, replaces


@fault(None, "runs as the twin does", "the other end of the scale", role="noop")
def nothing_is_wrong():
    @replaces(environment)
    def complete(original, request, additions):
        return original(request, additions)
