"""The operations of echo."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from protocol import Shim
    from reader import Reader


def say(shim: Shim, reader: Reader) -> dict[str, Any]:
    text = spoken(reader.need("text", str))
    reader.done()
    return {"result": {"text": text}}


def spoken(text: str) -> str:
    return text
