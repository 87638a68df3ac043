"""Runs everything unwrapped and claims everything: a suite that believes it is no suite."""

import backend.bubblewrap as bubblewrap
from faults.registry import fault, replaces


@fault(None, "claims everything and wraps nothing", "a stub that was shipped", role="control")
def claims_everything_and_wraps_nothing():
    @replaces(bubblewrap.Bubblewrap)
    def wrap(original, self, argv, context, cwd):
        return list(argv), []
