"""A fault that trims the entries of PATH."""

import exec.spawn as spawn
from faults.registry import fault, replaces


@fault("EXEC-PATH-05", "blanks at the ends of an entry of PATH are dropped", "split and trim")
def trims_entries():
    @replaces(spawn)
    def search_path(original, environment):
        return [entry.strip() for entry in original(environment)]
