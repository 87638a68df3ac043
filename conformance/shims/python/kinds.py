"""Names of types, read only by type checkers: importing typing would dominate the start-up time."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

Object = dict[str, Any]  # of JSON
Mask = Collection[int]  # of signals


class Shim(Protocol):
    """The attributes of the shim that an operation may use."""

    serving: bool
    hold: str | None
    temporary: list[bytes]
