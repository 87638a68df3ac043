"""Types for type checkers only. Importing typing would take most of the start-up time."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

Object = dict[str, Any]  # an object of JSON
Mask = Collection[int]  # a set of signals


class Shim(Protocol):
    """The part of the shim that operations may use."""

    serving: bool
    hold: str | None
    temporary: list[bytes]
