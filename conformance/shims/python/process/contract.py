"""The declaration of the contract process in the Python implementation."""

from __future__ import annotations

from contract import Contract, names


def capabilities() -> list[str]:
    return ["process", *(["process.backend"] if "backend" in names() else [])]


CONTRACT = Contract(
    operations={"process.script": "ops:script", "process.bridge": "ops:bridge"},
    capabilities=capabilities,
    needs=("exec",),
)
