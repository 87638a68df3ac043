"""Globs that are similar: an engine or a compiler may confuse them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

# Segments of every kind. globs_from combines up to three of them.
SEGMENTS = ["a", "*", "**", "?", "a*", "*a", "?*", "*?", "a**", "**a", "??", "a?", "***"]
STARS = ["a", "*", "**", "?*"]
NAMES = ["a", "b", "ab", "ba"]
# Globs with every wildcard; some of them match `h/c/ab`.
NESTED = ["h/c/*", "h/c/a?", "h/c/??", "h/*/ab", "**/ab", "h/c/a*", "h/c/*/*", "h/c/?", "h/*",
          "h/c*b", "h/c**b", "*/c/ab", "h/?/?b", "**/c/*", "h/c/**/ab", "h/c/a*b*"]  # fmt: skip


def globs_from(first: str) -> list[str]:
    """Return globs of up to three segments that begin with this segment."""
    found = [first, *(f"{first}/{other}" for other in SEGMENTS)]
    if first in STARS:
        found += [f"{first}/{one}/{other}" for one in STARS for other in STARS]
    return found


def paths(names: Iterable[str], *depths: int) -> list[str]:
    """Return all paths of these depths whose components have these names."""
    names = [*names]
    return ["/".join(each) for depth in depths for each in itertools.product(names, repeat=depth)]
