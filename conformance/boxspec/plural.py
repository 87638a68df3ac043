"""Format a number with its noun."""

from __future__ import annotations


def many(number: int, noun: str) -> str:
    """Return `1 finding`, or the plural `2 findings`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
