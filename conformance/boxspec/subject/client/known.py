"""Remove from an answer the fields that its schema does not name.

The client ignores unknown fields, so two answers that differ only in such fields must compare as
equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from typing import Any

from jsonschema_rs import Resolver

from boxspec.subject.client import schema

# A schema, with the resolver for its references.
_Part = tuple[Any, Resolver]


def answer(op: str, value: Any) -> Any:
    """Return an answer without unknown fields."""
    return _shape(op if schema.is_operation(op) else "envelope", "answer").of(value)


def result(op: str, value: Any) -> Any:
    """Return a `result` without unknown fields."""
    return answer(op, {"result": value})["result"]


class _Shape:
    """The fields that the schemas for one place name. They are read only when a value has them."""

    def __init__(self, parts: list[_Part]) -> None:
        self._parts = [each for part in parts for each in _flat(*part)]
        self._made: dict[str, _Shape | None] = {}

    def of(self, value: Any) -> Any:
        if isinstance(value, list):
            items = self._items
            return value if items is None else [items.of(each) for each in value]
        if not isinstance(value, dict) or not self._says_what_is_in_it:
            return value
        found = ((name, self._field(name), each) for name, each in value.items())
        return {name: shape.of(each) for name, shape, each in found if shape is not None}

    @cached_property
    def _items(self) -> _Shape | None:
        found = [(part["items"], knows) for part, knows in self._parts if "items" in part]
        return _Shape(found) if found else None

    @cached_property
    def _others(self) -> list[_Part]:
        found = [(part.get("additionalProperties"), knows) for part, knows in self._parts]
        return [(part, knows) for part, knows in found if isinstance(part, dict)]

    @cached_property
    def _says_what_is_in_it(self) -> bool:
        return bool(self._others) or any("properties" in part for part, _ in self._parts)

    def _field(self, name: str) -> _Shape | None:
        if name not in self._made:
            each_has = [(part.get("properties", {}), knows) for part, knows in self._parts]
            found = [(fields[name], knows) for fields, knows in each_has if name in fields]
            found = found or self._others
            self._made[name] = _Shape(found) if found else None
        return self._made[name]


@cache
def _shape(document: str, name: str) -> _Shape:
    found = schema.at(f"{schema.documents()[document]['$id']}#/$defs/{name}")
    part: Any = found.contents
    return _Shape([(part, found.resolver)])


def _flat(part: Any, knows: Resolver) -> Iterator[_Part]:
    """Yield a schema and all schemas of which it is composed."""
    if not isinstance(part, Mapping):
        return
    yield part, knows
    if "$ref" in part:
        there = knows.lookup(part["$ref"])
        yield from _flat(there.contents, there.resolver)
    for together in ("allOf", "anyOf", "oneOf"):
        for each in part.get(together, ()):
            yield from _flat(each, knows)
