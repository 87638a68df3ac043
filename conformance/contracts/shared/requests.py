"""Make the `request` object of a run from the fields that a test gives.

Bytes that are not UTF-8 are sent in Base64.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, final

from boxspec.subject.client.b64 import Word, b64, put_word, put_words, text_or_none, unb64

Pairs = Sequence[tuple[Word, Word]] | Sequence[Sequence[Word]] | Mapping[str, Word]
EnvMode = Literal["inherit"] | Pairs | Mapping[str, Pairs]


@final
class Command(TypedDict):
    """A program and its arguments."""

    program: Word
    args: Sequence[Word]


class Limits(TypedDict, total=False):
    """Limits of a run."""

    timeout_ms: int
    max_output_bytes: int


class ExecRequest(Limits, total=False):
    """The fields of a request for one program, as a test writes them."""

    program: Word
    args: Sequence[Word]
    current_dir: Word
    env: EnvMode
    stdin: str | bytes | bytearray | Mapping[str, str | bytes]
    stdin_failure: str
    debug: bool


def env_mode(value: Any) -> Any:
    """Convert `env`, which is `inherit`, a mapping, a list of pairs, or the object of the
    protocol."""
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
    """Convert `stdin`, which is `inherit`, `null`, bytes, or the object of the protocol."""
    if isinstance(value, bytes | bytearray):
        mode: dict[str, Any] = {}
        put_word(mode, "bytes", bytes(value))
        return mode
    if isinstance(value, Mapping) and isinstance(value.get("bytes"), bytes):
        return stdin_mode(value["bytes"])
    return value


def has_bytes(value: Any) -> bool:
    """True if a request, or a part of one, contains bytes that are not UTF-8."""
    if not isinstance(value, Mapping):
        return False
    words = [word for name in value if name.endswith("_b64") for word in _flat(value[name])]
    return any(map(_is_no_text, words)) or any(map(has_bytes, value.values()))


def _flat(value: Any) -> list[Any]:
    """Return the items of nested lists."""
    return [word for each in value for word in _flat(each)] if isinstance(value, list) else [value]


def _is_no_text(word: Any) -> bool:
    try:
        return text_or_none(unb64(word)) is None
    except (TypeError, ValueError):
        # The test sends an invalid request on purpose.
        return False


_WORDS = ("program", "current_dir")


def exec_request(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `request` object of exec.run. Other fields and values stay as they are."""
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
