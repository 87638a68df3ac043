"""Strings and their `_b64` twins: bytes that are no UTF-8 text travel in base64."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Iterable, Mapping
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
    """The bytes of a word; a str with surrogates means the bytes it was decoded from."""
    if isinstance(value, bytes):
        return value
    return os.fspath(value).encode("utf-8", "surrogateescape")


def text_or_none(value: Word) -> str | None:
    try:
        return raw(value).decode("utf-8")
    except UnicodeDecodeError:
        return None


def put_word(into: dict[str, Any], name: str, value: Word) -> None:
    """`name` as text, or its twin when the bytes are no UTF-8."""
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


def env_mode(value: Any) -> Any:
    """`inherit`, or pairs (a mapping, a list of pairs, or the protocol's own object)."""
    if isinstance(value, Mapping) and len(value) == 1 and "clear_and_set" in value:
        value = value["clear_and_set"]
    elif isinstance(value, Mapping) and not set(value) <= {"clear_and_set", "clear_and_set_b64"}:
        value = list(value.items())
    if not isinstance(value, list | tuple) or not all(_is_pair(pair) for pair in value):
        return value
    flat = [word for pair in value for word in pair]
    if any(text_or_none(word) is None for word in flat):
        return {"clear_and_set_b64": [[b64(key), b64(text)] for key, text in value]}
    return {"clear_and_set": [[text_or_none(key), text_or_none(text)] for key, text in value]}


def _is_pair(pair: Any) -> bool:
    return (
        isinstance(pair, list | tuple)
        and len(pair) == 2
        and all(isinstance(word, str | bytes | os.PathLike) for word in pair)
    )


def stdin_mode(value: Any) -> Any:
    """`inherit`, `null`, bytes, or the protocol's own object."""
    if isinstance(value, bytes | bytearray):
        mode: dict[str, Any] = {}
        put_word(mode, "bytes", bytes(value))
        return mode
    if isinstance(value, Mapping) and isinstance(value.get("bytes"), bytes):
        return stdin_mode(value["bytes"])
    return value


_WORDS = ("program", "current_dir")


def exec_request(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The `request` object of exec.run; values the twins do not know go through untouched."""
    request: dict[str, Any] = {}
    for name, value in fields.items():
        if name in _WORDS and isinstance(value, str | bytes | os.PathLike):
            put_word(request, name, value)
        elif name == "args" and isinstance(value, list | tuple):
            if all(isinstance(word, str | bytes | os.PathLike) for word in value):
                put_words(request, name, value)
            else:
                request[name] = list(value)
        elif name == "stdin":
            request[name] = stdin_mode(value)
        elif name == "env":
            request[name] = env_mode(value)
        else:
            request[name] = value
    return request
