"""Find the attempts of a matrix whose result differs between two versions of a product."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from contracts.backend.products.cells import BROKEN, WORKS, Cell, Column, State

# A line names at most this many attempts.
MOST_SHOWN = 8


def changes(columns: Sequence[Column]) -> Iterator[str]:
    """Compare each version of a product with the next one in the matrix, and return lines.

    An attempt is lost if the earlier version held it and the later one does not. An attempt that
    should work is lost if it works only in the earlier version. Gained is the reverse.
    """
    names = dict.fromkeys(each.name.partition("@")[0] for each in columns if each.cells)
    for name in names:
        mine = [each for each in columns if each.name.partition("@")[0] == name and each.cells]
        for earlier, later in pairwise(mine):
            yield from _between(earlier, later)


def _between(earlier: Column, later: Column) -> Iterator[str]:
    before = {each.test: each for each in earlier.cells}
    both = [(before[each.test], each) for each in later.cells if each.test in before]
    pair = f"{earlier.name} to {later.name}"
    lost = [new for old, new in both if _is_good(old) and _is_bad(new)]
    gained = [new for old, new in both if _is_bad(old) and _is_good(new)]
    if not lost and not gained:
        yield f"{pair}: nothing lost, nothing gained"
    for word, found in (("lost", lost), ("gained", gained)):
        if found:
            yield f"{pair}: {word}: {_shown(found)}"


def _is_good(cell: Cell) -> bool:
    return cell.state is State.HELD


def _is_bad(cell: Cell) -> bool:
    if cell.aspect == WORKS:
        return cell.state in (State.OVERREFUSED, State.FAILS)
    return cell.state in BROKEN


def _shown(cells: Sequence[Cell]) -> str:
    names = [*dict.fromkeys(f"{each.probe} ({each.aspect})" for each in cells)]
    more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return f"{', '.join(names[:MOST_SHOWN])}{more}"
