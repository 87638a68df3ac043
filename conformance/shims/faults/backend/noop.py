"""No-ops: changes that no requirement forbids. A test that fails here tests too much."""

import backend.environment as environment
from faults.registry import fault, replaces


@fault(None, "behaves as the unchanged implementation", "the other end of the scale", role="noop")
def nothing_is_wrong():
    @replaces(environment)
    def complete(original, request, additions):
        return original(request, additions)
