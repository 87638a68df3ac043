"""Fold names for `case: fold`.

All spellings that a case-insensitive file system treats as one name become the same text.
"""

from __future__ import annotations

from unicodedata import normalize


def fold(text: str) -> str:
    """Apply the statuses C and S of CaseFolding.txt, with NFC before and after."""
    if text.isascii():
        return text.lower()
    return normalize("NFC", "".join(map(fold_one, normalize("NFC", text))))


def fold_one(character: str) -> str:
    """Fold one character by the statuses C and S.

    Python's casefold applies the statuses C and F. If F gives several characters, lower() gives the
    mapping of status S, if there is one.
    """
    for folded in (character.casefold(), character.lower()):
        if len(folded) == 1:
            return folded
    return character
