"""Encode and decode one JSON value."""

from __future__ import annotations

from jsonwire import dump, scan

BLANK = " \t\n\r"


class Malformed(Exception):
    pass


def encode(value: object) -> bytes:
    return dump(value).encode()


def decode(data: bytes) -> object:
    """Return the one value of the text, or raise Malformed. There may be blanks around the
    value."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as why:
        raise Malformed(f"not UTF-8: byte {why.start}") from None
    stripped = text.strip(BLANK)
    try:
        value, end = scan(stripped)
    except StopIteration as why:
        raise Malformed(f"no value at {why.value}") from None
    except (ValueError, RecursionError) as why:
        raise Malformed(str(why)) from None
    if end != len(stripped):
        raise Malformed(f"something follows the value at {end}")
    check_surrogates(stripped, value)
    return value


def check_surrogates(text: str, value: object) -> None:
    """Refuse half of a surrogate pair. It is no character, and UTF-8 cannot encode it."""
    if "\\u" not in text:
        return
    try:
        deep(value)
    except UnicodeEncodeError:
        raise Malformed("half of a surrogate pair") from None


def deep(value: object) -> None:
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, list):
        for each in value:
            deep(each)
    elif isinstance(value, dict):
        for name, each in value.items():
            deep(name)
            deep(each)
