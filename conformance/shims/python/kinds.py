"""Names of types for type checkers only: importing typing would take most of the start-up time."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

Object = dict[str, Any]  # an object in JSON
Mask = Collection[int]  # a set of signals


class Shim(Protocol):
    """The part of the shim that operations may use."""

    serving: bool
    hold: str | None
    temporary: list[bytes]
