"""The part of the sbpl contract that the Python implementation has."""

from __future__ import annotations

from contract import Contract


def capabilities() -> list[str]:
    return ["sbpl", "sbpl.fold", "sbpl.wrap"]


CONTRACT = Contract(
    operations={"sbpl.compile": "ops:compile_", "sbpl.wrap": "wrapping:wrap"},
    capabilities=capabilities,
    needs=("policy",),
)
