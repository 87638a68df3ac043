"""Names for types, read by type checkers alone: importing typing takes longer than all the rest."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

Object = dict[str, Any]  # of JSON
Mask = Collection[int]  # of signals


class Shim(Protocol):
    """What an operation gets beside its request."""

    serving: bool
    hold: str | None
    temporary: list[bytes]
