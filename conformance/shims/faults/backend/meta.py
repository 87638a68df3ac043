"""Mistakes with metadata."""

import backend.ops as ops
from backend.bubblewrap import Bubblewrap
from backend.landlock import Landlock
from faults.registry import fault, replaces


@fault("BACKEND-META-01", "falls back to Landlock and keeps the claim", "full when partial")
def claims_full_when_partial():
    @replaces(ops)
    def made(original, name):
        found = original(name)
        if isinstance(found, Bubblewrap):
            other = Landlock(found.filters)
            other.probe = found.probe
            return other
        return found
