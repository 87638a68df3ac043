"""Fields of its own in each answer, which a client ignores: a noop."""

import itertools

import protocol
from faults.registry import replaces


def answers_say_more():
    """A number that is another one each time stands in each object of a result."""
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
        # Whether hello says the same twice is another matter.
        if result and "nonce" not in result:
            value = value | {"result": more(result)}
        return original(value)
