"""Convert strings to their `_b64` form: bytes that are not valid UTF-8 are sent in Base64."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Iterable
from typing import Any

Word = str | bytes | os.PathLike[str]


def b64(value: Word) -> str:
    return base64.b64encode(raw(value)).decode("ascii")


def unb64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as why:
        raise ValueError(f"not base64: {why}") from None


def raw(value: Word) -> bytes:
    """Return the bytes of a word.

    A surrogate in a str stands for the byte from which it was decoded.
    """
    if isinstance(value, bytes):
        return value
    return os.fspath(value).encode("utf-8", "surrogateescape")


def text_or_none(value: Word) -> str | None:
    try:
        return raw(value).decode("utf-8")
    except UnicodeDecodeError:
        return None


def put_word(into: dict[str, Any], name: str, value: Word) -> None:
    """Set `name` to the text, or `name_b64` if the bytes are not valid UTF-8."""
    text = text_or_none(value)
    if text is None:
        into[name + "_b64"] = b64(value)
    else:
        into[name] = text


def put_words(into: dict[str, Any], name: str, values: Iterable[Word]) -> None:
    words = list(values)
    texts = [text_or_none(word) for word in words]
    if None in texts:
        into[name + "_b64"] = [b64(word) for word in words]
    else:
        into[name] = texts
