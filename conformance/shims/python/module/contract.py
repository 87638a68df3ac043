"""The declaration of the contract module in the Python implementation."""

from __future__ import annotations

from contract import Contract, names


def capabilities() -> list[str]:
    inside = ["module.backend"] if "backend" in names() else []
    return ["module", "module.runner", *inside]


CONTRACT = Contract(
    operations={"module.execute": "ops:execute"},
    capabilities=capabilities,
    needs=("exec",),
    programs={"--internal-sandbox-runner": "runner:main"},
)
