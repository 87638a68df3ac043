"""Faults of kinds that occur in any engine, by the table of the contract."""

import os

import policy.real as real
from faults.registry import fault, replaces

# C12: edges of paths and files


@fault(
    "POLICY-REAL-07",
    "a missing target of a link is resolved from the root",
    "the parent by its name",
)
def parent_of_a_missing_target_by_name():
    @replaces(real)
    def walk(original, start, wanted, follow="final"):
        try:
            whole = original(start, wanted, follow)
        except real.Failed:
            raise
        if not os.path.lexists(b"/" + b"/".join(whole)) and len(wanted) > 2:
            # Append the last two names to the place of the names before them, without following
            # links.
            return [*original(start, wanted[:-2], follow), *wanted[-2:]]
        return whole
