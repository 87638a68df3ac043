"""The contract echo in the Python implementation."""

from __future__ import annotations

from contract import Contract


def capabilities() -> list[str]:
    return ["echo"]


CONTRACT = Contract(operations={"echo.say": "ops:say"}, capabilities=capabilities)
