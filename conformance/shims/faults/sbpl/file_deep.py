"""Faults of texts with deeply nested filters."""

import sbpl.writable as writable
from faults.registry import fault


@fault("SBPL-FILE-06", "filters are nested to any depth", "a function that calls itself")
def nesting_is_not_limited():
    writable.DEEPEST = -1


@fault("SBPL-FILE-06", "a filter that is nested too deep does not match", "a limit that allows")
def deep_filters_do_not_match():
    original = writable.meets

    def meets(form, path, depth=0):
        return original(form, path, depth) if depth < writable.DEEPEST else False

    writable.meets = meets
