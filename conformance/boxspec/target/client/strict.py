"""JSON as a shim may send it, and how much of it."""

from __future__ import annotations

import json
import math
from typing import Any

from boxspec.errors import ShimBroke

MAX_RESPONSE = 16 * 2**20
# Each value takes up to two hundred bytes here, however short it is there, and a name as many
# again. Characters of texts count too: two streams of nothing but commas have so many.
MOST_MARKS = 2 * 2**20
MARKS = {b",": 1, b"[": 1, b"{": 1, b":": 2}


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen = dict(pairs)
    if len(seen) != len(pairs):
        raise ValueError("a name appears twice in one object")
    return seen


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _fraction(text: str) -> float:
    # JSON Schema takes 1.0 for an integer, and so would every comparison with one.
    number = float(text)
    if number.is_integer() or math.isinf(number):
        raise ValueError(f"{text} is an integer with a fraction or an exponent")
    return number


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_fraction
)


def _too_many(data: bytes) -> bool:
    # Most answers are shorter than the fewest bytes that hold so much.
    return len(data) * max(MARKS.values()) > MOST_MARKS and (
        sum(data.count(mark) * weight for mark, weight in MARKS.items()) > MOST_MARKS
    )


def strict_json(data: bytes, what: str) -> Any:
    """JSON of the shim, or ShimBroke that shows what came instead."""
    if _too_many(data):
        raise ShimBroke(f"{what} has too many values and names to be read: millions")
    try:
        text = data.decode("utf-8")
        if text.startswith("\ufeff"):
            raise ValueError("it begins with a byte order mark")
        return _DECODER.decode(text)
    except (ValueError, RecursionError) as why:
        evidence = {"bytes": len(data), "begins": repr(data[:120]), "ends": repr(data[-60:])}
        raise ShimBroke(f"{what} is not JSON as the protocol has it: {why}", evidence) from None
