"""The declaration of the contract sbpl in the Python implementation."""

from __future__ import annotations

from contract import Contract


def capabilities() -> list[str]:
    return ["sbpl", "sbpl.fold", "sbpl.wrap"]


CONTRACT = Contract(
    operations={"sbpl.compile": "ops:compile_", "sbpl.wrap": "wrapping:wrap"},
    capabilities=capabilities,
    needs=("policy",),
)
