"""The control: it allows everything, and the suite must catch it."""

import policy.decide as deciding
from faults.registry import fault, replaces


@fault(None, "allows every path", "mocks", role="control")
def everything_is_allowed():
    @replaces(deciding)
    def decide(original, entries, path, fold):
        decision = original(entries, path, fold)
        decision.allowed = True
        return decision
