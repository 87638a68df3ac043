"""Make tables of the fields of requests and results, from their schemas.

A field `NAME_b64` is left out if the field NAME exists.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from boxspec.pages.table import row, table
from boxspec.subject.client import schema


def of_request(op: str, part: str = "request") -> list[str]:
    """Return the table for one part of the schema's `$defs`, without the fields id and op."""
    asked = schema.documents()[op]["$defs"][part]
    mandatory = _mandatory(asked)
    rows = [
        row(f"`{name}`", _value(op, name, field), _when_absent(field, name in mandatory))
        for name, field in _fields(asked)
        if name not in ("id", "op")
    ]
    return table(["field", "value", "when absent"], rows)


def _when_absent(field: dict[str, Any], mandatory: bool) -> str:
    if "x-when-absent" in field:
        return str(field["x-when-absent"])
    if "default" in field:
        return f"`{json.dumps(field['default'])}`"
    return "required" if mandatory else ""


def of_result(op: str, part: str = "result") -> list[str]:
    """Return the table for one part of the schema's `$defs`.

    The columns are the field, its value, and when the field is given.
    """
    parts = schema.documents()[op]["$defs"]
    given = dict.fromkeys(_mandatory(parts[part]), "always")
    for name, asked in parts.items():
        if name.startswith(schema.DECLARED):
            capability = name.removeprefix(schema.DECLARED)
            given |= dict.fromkeys(asked.get("required", ()), f"with `{capability}`")
    rows = [
        row(
            f"`{name}`",
            _value(op, name, field),
            given.get(name) or field.get("x-given", "may be absent"),
        )
        for name, field in _fields(parts[part])
    ]
    return table(["field", "value", "given"], rows)


def _fields(asked: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    every = asked["properties"]
    for name, field in every.items():
        if name.removesuffix("_b64") == name or name.removesuffix("_b64") not in every:
            yield name, field


def _value(op: str, name: str, field: dict[str, Any]) -> str:
    if "description" not in field:
        raise KeyError(f"description of {op} {name}")
    return str(field["description"])


def _mandatory(asked: dict[str, Any]) -> set[str]:
    """Return the mandatory fields. If NAME is mandatory, NAME_b64 is accepted in its place."""
    found = set(asked.get("required", ()))
    for each in (asked, *asked.get("allOf", ())):
        ways = [set(way["required"]) for way in each.get("oneOf", ())]
        plain = [{name.removesuffix("_b64") for name in way} for way in ways]
        if plain:
            found |= set.intersection(*plain)
    return found
