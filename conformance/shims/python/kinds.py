"""Names of types, read only by type checkers, because importing typing would take most of the
start-up time."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

Object = dict[str, Any]  # an object in JSON
Mask = Collection[int]  # a set of signals


class Shim(Protocol):
    """What an operation may use of the shim."""

    serving: bool
    hold: str | None
    temporary: list[bytes]
