"""What the twin does of the contract module."""

from __future__ import annotations

from contract import Contract


def capabilities() -> list[str]:
    return ["module", "module.runner"]


CONTRACT = Contract(
    operations={"module.execute": "ops:execute"},
    capabilities=capabilities,
    needs=("exec",),
    programs={"--internal-sandbox-runner": "runner:main"},
)
