"""Parse the JSON of a shim strictly, with a limit on its size."""

from __future__ import annotations

import json
import math
from typing import Any

from boxspec.errors import ShimBroke

MAX_RESPONSE = 16 * 2**20
# Limit for the number of values and names in a response, because each takes up to two hundred bytes
# of memory, even if its text is short. Marks inside strings are counted too. The limit is so high
# that two streams may consist only of commas.
MOST_MARKS = 2 * 2**20
MARKS = {b",": 1, b"[": 1, b"{": 1, b":": 2}


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen = dict(pairs)
    if len(seen) != len(pairs):
        raise ValueError("a name appears twice in one object")
    return seen


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not valid JSON")


class _Whole(float):
    """An integer that is written with a fraction or an exponent, such as 1.0."""


def _decoder(wholes: list[str]) -> json.JSONDecoder:
    """Return a decoder that adds the text of each `_Whole` to the list."""

    def number(text: str) -> float:
        # A float would be enough for JSON, but JSON Schema and comparisons accept the float 1.0 as
        # an integer. So such a number gets its own class.
        made = float(text)
        if not made.is_integer() and not math.isinf(made):
            return made
        wholes.append(text)
        return _Whole(made)

    return json.JSONDecoder(
        object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=number
    )


def _has_whole(value: Any) -> bool:
    inside = value.values() if isinstance(value, dict) else value
    if isinstance(value, list | dict):
        return any(_has_whole(each) for each in inside)
    return isinstance(value, _Whole)


def _without_value(answer: Any) -> Any:
    """Return the answer without the member `value`: a module may print any JSON, including 1.0."""
    result = answer.get("result") if isinstance(answer, dict) else None
    if not isinstance(result, dict) or "value" not in result:
        return answer
    return {**answer, "result": {**result, "value": None}}


def _too_many(data: bytes) -> bool:
    # A short answer cannot exceed the limit, so its marks need not be counted.
    return len(data) * max(MARKS.values()) > MOST_MARKS and (
        sum(data.count(mark) * weight for mark, weight in MARKS.items()) > MOST_MARKS
    )


def strict_json(data: bytes, what: str) -> Any:
    """Return the JSON value. Raise ShimBroke with the text if it is not strict JSON."""
    if _too_many(data):
        raise ShimBroke(f"{what} has too many values and names to be read: millions")
    try:
        text = data.decode("utf-8")
        if text.startswith("\ufeff"):
            raise ValueError("it begins with a byte order mark")
        wholes: list[str] = []
        answer = _decoder(wholes).decode(text)
        if wholes and _has_whole(_without_value(answer)):
            raise ValueError(f"{wholes[0]} is an integer with a fraction or an exponent")
        return answer
    except (ValueError, RecursionError) as why:
        if isinstance(why, json.JSONDecodeError) and not why.pos:
            why = ValueError("it does not begin with a JSON value")
        evidence: dict[str, Any] = {"bytes": len(data), "begins": repr(data[:120])}
        if len(data) > 120:
            evidence["ends"] = repr(data[-60:])
        raise ShimBroke(f"{what} is not JSON that the protocol allows: {why}", evidence) from None
