"""Changes of the filter of system calls, for faults of other files."""

import backend.filter as filter_
from faults.registry import replaces


def without(*names):
    """Leave out groups of system calls."""

    @replaces(filter_)
    def groups(original):
        return {name: each for name, each in original().items() if name not in names}


def compares_64_bits(check, argument):
    """Skip a check of the filter if the high half of the argument with this number is not zero."""

    @replaces(filter_, check)
    def changed(original, given):
        then = original(given)
        high = filter_.statement(filter_.LOAD, filter_.ARGUMENTS + 8 * argument + 4)
        return [high, filter_.statement(filter_.EQUAL, 0, 0, len(then)), *then]
