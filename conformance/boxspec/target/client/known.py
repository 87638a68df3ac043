"""What a client looks at in a result: the fields that the schema of its operation knows.

A shim may add others, and what stands in them may differ each time. Two answers are compared
without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from jsonschema_rs import Resolver

from boxspec.target.client import schema


class Part(NamedTuple):
    """A schema, or a part of one, with what knows its references."""

    asked: dict[str, Any]
    resolver: Resolver

    def at(self, asked: Any) -> Part:
        return Part(asked if isinstance(asked, dict) else {}, self.resolver)


def fields(op: str, result: Any) -> Any:
    """The result of this operation without the fields that nobody knows, at any depth."""
    document = schema.documents()[op]
    whole = Part(document["$defs"], schema.at(f"{document['$id']}#").resolver)
    names = [name for name in document["$defs"] if name.startswith(schema.DECLARED)]
    return _known([whole.at(document["$defs"].get(name)) for name in ("result", *names)], result)


def _known(parts: Iterable[Part], value: Any) -> Any:
    of_one_value = [each for part in parts for each in _of_one_value(part)]
    items = [part.at(part.asked["items"]) for part in of_one_value if "items" in part.asked]
    if isinstance(value, list) and items:
        return [_known(items, each) for each in value]
    if isinstance(value, dict):
        return _object(of_one_value, value)
    return value


def _object(parts: list[Part], value: dict[str, Any]) -> dict[str, Any]:
    others = [
        part.at(part.asked["additionalProperties"])
        for part in parts
        if isinstance(part.asked.get("additionalProperties"), dict)
    ]
    if not others and not any("properties" in part.asked for part in parts):
        # An object of which nothing is said is anything: all of it is known.
        return value
    kept = {}
    for name, each in value.items():
        fields = [(part, part.asked.get("properties", {})) for part in parts]
        own = [part.at(of[name]) for part, of in fields if name in of]
        if own or others:
            kept[name] = _known(own or others, each)
    return kept


def _of_one_value(part: Part) -> Iterator[Part]:
    """The part, and all that it says of the same value elsewhere, whichever of it holds."""
    yield part
    if "$ref" in part.asked:
        there = part.resolver.lookup(part.asked["$ref"])
        yield from _of_one_value(Part({}, there.resolver).at(there.contents))
    ways = [way for keyword in ("allOf", "oneOf", "anyOf") for way in part.asked.get(keyword, ())]
    for way in [*ways, part.asked.get("then"), part.asked.get("else")]:
        if way is not None:
            yield from _of_one_value(part.at(way))
