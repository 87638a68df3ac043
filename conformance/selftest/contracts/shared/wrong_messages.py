"""Make wrong messages of the protocol, and return the complaint of the kit about an answer."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from boxspec.subject.client import shape

ABSENT = object()


def changed(message: dict[str, Any], pointer: str, value: Any) -> dict[str, Any]:
    """Return a copy of the message with this value at the pointer; ABSENT removes the member."""
    copied = copy.deepcopy(message)
    *way, last = pointer.split("/")
    holder = copied
    for step in way:
        holder = holder[step]
    if value is ABSENT:
        del holder[last]
    else:
        holder[last] = value
    return copied


def wrong(message: dict[str, Any], answer: Any, *capabilities: str) -> str:
    """Return the message of the kit about an answer that it refuses."""
    with pytest.raises(shape.BadShape) as said:
        shape.check(message, answer, frozenset(capabilities))
    return str(said.value)
