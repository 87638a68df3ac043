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


def strict_json(data: bytes, what: str) -> Any:
    """JSON of the shim, or ShimBroke that shows what came instead."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen = dict(pairs)
        if len(seen) != len(pairs):
            raise ValueError("a name appears twice in one object")
        return seen

    def no_constant(name: str) -> Any:
        raise ValueError(f"{name} is no JSON")

    def fraction(text: str) -> float:
        # JSON Schema takes 1.0 for an integer, and so would every comparison with one.
        number = float(text)
        if number.is_integer() or math.isinf(number):
            raise ValueError(f"{text} is an integer with a fraction or an exponent")
        return number

    if sum(data.count(mark) * weight for mark, weight in MARKS.items()) > MOST_MARKS:
        raise ShimBroke(f"{what} has too many values and names to be read: millions")
    try:
        return json.loads(
            data.decode("utf-8"),
            object_pairs_hook=unique,
            parse_constant=no_constant,
            parse_float=fraction,
        )
    except (ValueError, RecursionError) as why:
        evidence = {"bytes": len(data), "begins": repr(data[:120]), "ends": repr(data[-60:])}
        raise ShimBroke(f"{what} is not JSON as the protocol has it: {why}", evidence) from None
