"""A no-op: additional fields in each answer, which a client ignores."""

import itertools

import protocol
from faults.registry import replaces


def answers_say_more():
    """Add a field with a changing number to each object of a result."""
    turns = itertools.count()

    def more(value):
        if isinstance(value, list):
            return [more(each) for each in value]
        if not isinstance(value, dict):
            return value
        return {name: more(each) for name, each in value.items()} | {"its_turn": next(turns)}

    @replaces(protocol)
    def dump(original, value):
        result = value.get("result", {})
        # Leave out hello, which has a nonce: two of its answers must be equal.
        if result and "nonce" not in result:
            value = value | {"result": more(result)}
        return original(value)
