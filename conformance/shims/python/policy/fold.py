"""Fold names for `case: fold`.

All spellings that a case-insensitive file system treats as one name become the same text.
"""

from __future__ import annotations

from unicodedata import combining, normalize

FEW = 200  # normalize is fast for a text of at most this many characters


def fold(text: str) -> str:
    """Apply the statuses C and S of CaseFolding.txt, with NFC before and after."""
    if text.isascii():
        return text.lower()
    return composed("".join(map(fold_one, composed(text))))


def composed(text: str) -> str:
    """Return the text in NFC."""
    return normalize("NFC", text if len(text) <= FEW else ordered(text))


def ordered(text: str) -> str:
    """Decompose the text, and bring the marks after each letter into the canonical order.

    normalize also does this, but in a time that grows with the square of the number of marks.
    """
    found: list[str] = []
    marks: list[str] = []
    for c in "".join(normalize("NFD", c) for c in text):
        if combining(c):
            marks.append(c)
            continue
        found += [*sorted(marks, key=combining), c]
        marks.clear()
    return "".join([*found, *sorted(marks, key=combining)])


def fold_one(character: str) -> str:
    """Fold one character by the statuses C and S.

    Python's casefold applies the statuses C and F. If F gives several characters, lower() gives the
    mapping of status S, if there is one.
    """
    for folded in (character.casefold(), character.lower()):
        if len(folded) == 1:
            return folded
    return character
