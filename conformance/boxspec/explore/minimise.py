"""Find the few calls that have an effect (delta debugging)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def minimised(items: Sequence[Item], shows: Callable[[Sequence[Item]], bool]) -> list[Item]:
    """Return a part of the items that still shows the effect and cannot be made smaller.

    Without any single item of this part, the effect is gone.
    shows: a function that returns True if a part shows the effect. All items together must show it.
    """
    kept, parts = list(items), 2
    while len(kept) > 1:
        size = -(-len(kept) // parts)
        chunks = [kept[at : at + size] for at in range(0, len(kept), size)]
        smaller = next((chunk for chunk in chunks if shows(chunk)), None)
        if smaller is not None:
            kept, parts = list(smaller), 2
            continue
        without = (
            [item for other in chunks if other is not chunk for item in other] for chunk in chunks
        )
        rest = next((each for each in without if len(chunks) > 2 and shows(each)), None)
        if rest is not None:
            kept, parts = list(rest), max(parts - 1, 2)
        elif parts >= len(kept):
            break
        else:
            parts = min(2 * parts, len(kept))
    return kept
