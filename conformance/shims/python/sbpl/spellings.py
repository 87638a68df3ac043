"""Find all spellings of a name on a case-insensitive file system, as a regular expression.

A name is split into letters with their marks. The spellings of a letter are found by trial: each
way to write its parts is folded with the folding of the policy, and kept if the result is the
letter.
"""

from __future__ import annotations

from itertools import permutations
from unicodedata import combining, normalize

import policy.fold as folding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

LAST = 0x30000  # from this character on, no character folds or decomposes
# if a letter has more marks, only the given order is used, because there would be too many orders
MOST_MARKS = 4
UNIFORM = ((0x3400, 0xA000), (0xAC00, 0xD7A4), (0xD800, 0xE000), (0x20000, 0x2F800))

known: dict[str, list[str]] = {}


def expression(characters: str, literally: Callable[[str], str]) -> str:
    found = letters(folding.fold(characters))
    pairs = zip(["", *found], found, strict=False)
    return "".join(alternatives(fitting(before, letter), literally) for before, letter in pairs)


def letters(text: str) -> list[str]:
    """Return each character together with the marks that follow it."""
    found: list[str] = []
    for c in text:
        if found and found[-1] != "/" and joins(found[-1], c):
            found[-1] += c
        else:
            found.append(c)
    return found


def joins(letter: str, c: str) -> bool:
    """True if c belongs to the letter.

    It is a mark, or the two have a common spelling which NFC does not join.
    """
    return combining(c) > 0 or (
        not c.isascii() and bool(characters_of(normalize("NFD", letter + c)))
    )


def fitting(before: str, letter: str) -> list[str]:
    """Return the spellings of a letter that can follow the previous letter.

    If a spelling begins with a mark that would join the previous letter, the spelling is left out.
    """
    if letter not in known:
        known[letter] = sorted(spellings(letter), key=lambda each: (len(each), each))
    return [
        each
        for each in known[letter]
        if not combining(each[0]) or folding.fold(before + each) == before + letter
    ]


def alternatives(found: Sequence[str], literally: Callable[[str], str]) -> str:
    if len(found) == 1:
        return literally(found[0])
    if all(each.isascii() for each in found):
        return "[" + "".join(reversed(found)) + "]"
    return "(" + "|".join(map(literally, found)) + ")"


def spellings(letter: str) -> set[str]:
    parts = normalize("NFD", letter)
    candidates = {each for order in orders(parts) for each in written(order)}
    return {each for each in candidates if folding.fold(each) == letter} | {letter}


def orders(parts: str) -> list[str]:
    """Return the letter with its marks in every order that has the same meaning."""
    if not 3 <= len(parts) <= 1 + MOST_MARKS:
        return [parts]
    found = {parts[0] + "".join(marks) for marks in permutations(parts[1:])}
    return [each for each in found if normalize("NFD", each) == parts]


def written(parts: str) -> list[str]:
    """Return every way to write the parts by characters that decompose or fold to them."""
    if not parts:
        return [""]
    return [
        character + rest
        for length in range(1, min(len(parts), 4) + 1)
        for character in characters_of(parts[:length])
        for rest in written(parts[length:])
    ]


def characters_of(parts: str) -> set[str]:
    if not parts_of:
        fill()
    composed = normalize("NFC", parts)
    whole = {parts, composed} if len(composed) == 1 else {parts} if len(parts) == 1 else set()
    return whole.union(parts_of.get(parts, ()))


# From a sequence of parts to the characters that become these parts by folding, by decomposition,
# or by both.
parts_of: dict[str, list[str]] = {}


def fill() -> None:
    for code in codes():
        character = chr(code)
        meanings = (character, folding.fold(character))
        for parts in {normalize("NFD", each) for each in meanings}:
            parts_of.setdefault(parts, []).append(character)


def codes() -> Iterator[int]:
    start = 0
    for first, behind in (*UNIFORM, (LAST, LAST)):
        yield from range(start, first)
        start = behind
