"""Paths and names of every length around the sizes that an engine works in.

Words have 8 bytes, vector units 16, 32 or 64, masks 32 or 64 bits: what is right in one step may
be lost between two. So a spelling is asked at every offset, and a name at every length.
"""

from __future__ import annotations

from collections.abc import Iterator

STEPS = (8, 16, 32, 64, 128)
EVERY = range(1, STEPS[-1] + 3)
NEAR = sorted({size + off for size in STEPS for off in (-2, -1, 0, 1, 2)})
# Where each one costs as much as all others together.
SOME = sorted({*range(1, 36), *NEAR})


def name(length: int) -> str:
    """One name."""
    return "a" * length


def folders(length: int) -> str:
    """As many names as there is room for."""
    return "a/" * ((length - 1) // 2) + "ab"[: 2 - length % 2]


def wide(length: int) -> str:
    """Characters of two bytes; `length` is in bytes."""
    return "é" * (length // 2) + "a" * (length % 2)


PADS = (name, folders, wide)
# So many bytes behind what is asked for: none, few, and more than a step.
TAILS = ("", "/b", "/b" * 9)


def holding(spelling: bytes) -> Iterator[bytes]:
    """Paths that have it, at every offset."""
    for length in EVERY:
        for pad in PADS:
            for tail in TAILS:
                yield pad(length).encode() + spelling + tail.encode()
