"""Match a glob by one walk through its pattern, with a set of reachable positions in the text.

The set is an integer: bit i stands for the position before character i, and the bit at the length
of the text for its end. A step consists of a few operations on all positions at once. So the cost
of a match is at most the product of both lengths.
"""

from __future__ import annotations

import policy.fold as folding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ANY_NAME = "a segment that is only a star"
STAR = "a star"
ONE = "a question mark"
ANYTHING = "two stars"
SEGMENTS = "two stars and a slash: whole segments, or none"
BELOW = "a slash and two stars at the end: the place itself and all below"


class Text:
    """A path in the form that the matcher needs. The root is the empty text."""

    def __init__(self, path: str, fold: bool = False) -> None:
        text = "" if path == "." else path
        self.text = folding.fold(text) if fold else text
        self.end = 1 << len(self.text)
        self.places = (self.end << 1) - 1
        self.masks: dict[str, int] = {}
        self.slashes = self.where("/")
        self.names = self.places & ~self.slashes & ~self.end

    def where(self, character: str) -> int:
        """Return the set of positions before each occurrence of this character."""
        if character not in self.masks:
            bits = "".join("1" if c == character else "0" for c in reversed(self.text))
            self.masks[character] = int(bits or "0", 2)
        return self.masks[character]


class Glob:
    def __init__(self, body: str, fold: bool = False) -> None:
        self.pieces = pieces(folding.fold(body) if fold else body)
        self.lead = "".join(leading(self.pieces))
        self.rest = self.pieces[len(self.lead) :]

    def matches(self, text: Text) -> bool:
        if not text.text.startswith(self.lead):
            return False
        places = 1 << len(self.lead)
        for piece in self.rest:
            places = STEPS.get(piece, literal)(places, text, piece)
            if not places:
                return False
        return bool(places & text.end)


def matches(body: str, path: str, fold: bool = False) -> bool:
    return Glob(body, fold).matches(Text(path, fold))


def leading(found: Sequence[str]) -> Iterator[str]:
    for piece in found:
        if piece in STEPS:
            return
        yield piece


def pieces(body: str) -> list[str]:
    """Split a body in normal form into characters and wildcards."""
    if body == ".":
        return []
    below = 0
    while len(body) > 3 and body.endswith("/**"):
        body = body[:-3]
        below += 1
    found = []
    i = 0
    while i < len(body):
        piece, length = piece_at(body, i)
        found.append(piece)
        i += length
    return found + [BELOW] * below


def piece_at(body: str, i: int) -> tuple[str, int]:
    starts = i == 0 or body[i - 1] == "/"
    if body.startswith("**", i):
        return (SEGMENTS, 3) if starts and body.startswith("/", i + 2) else (ANYTHING, 2)
    if body[i] == "*":
        return (ANY_NAME if starts and body[i + 1 : i + 2] in ("", "/") else STAR), 1
    return (ONE if body[i] == "?" else body[i]), 1


def literal(places: int, text: Text, character: str) -> int:
    return (places & text.where(character)) << 1


def one(places: int, text: Text, _: str) -> int:
    return (places & text.names) << 1


def star(places: int, text: Text, _: str) -> int:
    """Return the positions that a star can reach.

    An addition lets a carry run from each position through the rest of its name. The reachable
    positions are the bits that change.
    """
    moving = places & text.names
    return places | ((moving + text.names) ^ text.names)


def any_name(places: int, text: Text, _: str) -> int:
    return star(one(places, text, ONE), text, STAR)


def anything(places: int, text: Text, _: str) -> int:
    return text.places & -lowest(places)


def whole_segments(places: int, text: Text, _: str) -> int:
    return places | (text.slashes & -lowest(places)) << 1


def below(places: int, text: Text, _: str) -> int:
    return places & text.end | text.places & -(lowest(places & text.slashes) << 1)


def lowest(places: int) -> int:
    return places & -places


STEPS = {
    ONE: one,
    STAR: star,
    ANY_NAME: any_name,
    ANYTHING: anything,
    SEGMENTS: whole_segments,
    BELOW: below,
}
