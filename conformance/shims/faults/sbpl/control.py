"""The control: it allows everything, and the suite must catch it."""

import sbpl.clauses as clauses
from faults.registry import fault, replaces


@fault(None, "allows every operation", "a profile for debugging", role="control")
def everything_is_allowed():
    @replaces(clauses)
    def compile_text(original, given):
        return original(given) + "(allow file-read*)\n(allow file-write*)\n"
