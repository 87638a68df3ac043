"""`case: fold`: texts that a folding file system takes for one name become one text."""

from __future__ import annotations

from unicodedata import normalize


def fold(text: str) -> str:
    """The statuses C and S of CaseFolding.txt between two NFC."""
    if text.isascii():
        return text.lower()
    return normalize("NFC", "".join(map(fold_one, normalize("NFC", text))))


def fold_one(character: str) -> str:
    """casefold is C and F. Where F gives several characters lower is S, if there is an S."""
    for folded in (character.casefold(), character.lower()):
        if len(folded) == 1:
            return folded
    return character
