"""Show how two values differ, if they are long or have parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

# The evidence of a failure contains these lines under this name.
DIFFERENCE = "difference"
# Texts of at most this length are shown without their difference.
SHORT = 60
# How many characters are shown before and after the first difference of two texts, and how many
# differing parts are listed.
BEFORE, AFTER, PARTS = 20, 40, 6
# For sequences with more items than this in total, only the lengths are compared. A search for each
# item would take too long.
MANY = 2000

Accepts = Callable[[Any, Any], bool]
Shown = Callable[[Any], str]


def difference(got: Any, wanted: Any, same: Accepts, shown: Shown) -> list[str]:
    """Return lines such as `part 2 of 3: expected 'a', actual 'b'`.

    The list is empty if the two values are better shown as a whole.

    same: a function that returns True if a part of `got` is accepted for a part of `wanted`.
    """
    return list(_lines(got, wanted, same, shown))[:PARTS]


def _lines(got: Any, wanted: Any, same: Accepts, shown: Shown) -> Iterator[str]:
    if isinstance(wanted, Mapping) and isinstance(got, Mapping):
        yield from _of_mappings(got, wanted, same, shown)
    elif isinstance(wanted, str | bytes) and isinstance(got, type(wanted)):
        yield from _of_texts(got, wanted)
    elif isinstance(wanted, list | tuple) and isinstance(got, type(wanted)):
        yield from _of_sequences(got, wanted, same, shown)
    elif isinstance(wanted, set | frozenset) and isinstance(got, set | frozenset):
        yield from (f"missing: {shown(each)}" for each in sorted(wanted - got, key=repr))
        yield from (f"unexpected: {shown(each)}" for each in sorted(got - wanted, key=repr))


def _of_mappings(
    got: Mapping[Any, Any], wanted: Mapping[Any, Any], same: Accepts, shown: Shown
) -> Iterator[str]:
    for name in wanted:
        if name not in got:
            yield f"{name}: missing, expected {shown(wanted[name])}"
        elif not same(got[name], wanted[name]):
            yield f"{name}: expected {shown(wanted[name])}, actual {shown(got[name])}"
    yield from (f"{name}: unexpected, {shown(got[name])}" for name in got if name not in wanted)


def _of_sequences(
    got: Sequence[Any], wanted: Sequence[Any], same: Accepts, shown: Shown
) -> Iterator[str]:
    if len(wanted) < 2 and len(got) < 2:
        return
    if len(wanted) + len(got) > MANY:
        yield f"length: expected {len(wanted)}, actual {len(got)}"
        return
    if len(got) == len(wanted):
        for number, (one, other) in enumerate(zip(got, wanted, strict=True), 1):
            if not same(one, other):
                place = f"part {number} of {len(wanted)}"
                yield f"{place}: expected {shown(other)}, actual {shown(one)}"
        return
    left = list(got)
    for each in wanted:
        found = next((index for index, one in enumerate(left) if same(one, each)), None)
        if found is None:
            yield f"missing: {shown(each)}"
        else:
            del left[found]
    yield from (f"unexpected: {shown(each)}" for each in left)


def _of_texts(got: str | bytes, wanted: str | bytes) -> Iterator[str]:
    if max(len(got), len(wanted)) <= SHORT:
        return
    pairs = zip(got, wanted, strict=False)
    at = next((index for index, (one, other) in enumerate(pairs) if one != other), None)
    if at is None:
        at = min(len(got), len(wanted))
    unit = "byte" if isinstance(wanted, bytes) else "character"
    yield f"from {unit} {at + 1}: expected {_near(wanted, at)}, actual {_near(got, at)}"
    if len(got) != len(wanted):
        yield f"length: expected {len(wanted)}, actual {len(got)}"


def _near(text: str | bytes, at: int) -> str:
    """Return the text around a position, or `nothing more` if the text ends before it."""
    if at >= len(text):
        return "nothing more"
    part = text[max(at - BEFORE, 0) : at + AFTER]
    before = "…" if at > BEFORE else ""
    return f"{before}{part!r}{'…' if at + AFTER < len(text) else ''}"
