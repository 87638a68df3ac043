"""The declaration of the contract exec in the Python implementation."""

from __future__ import annotations

from contract import Contract


def capabilities() -> list[str]:
    return [
        "exec",
        "exec.bytes",
        "exec.concurrent",
        "exec.debug",
        "exec.cap",
        "exec.stdin_failure",
        "exec.termination",
        "exec.sandbox",
    ]


CONTRACT = Contract(
    operations={
        "exec.run": "ops:run",
        "exec.batch": "ops:batch",
        "exec.format_env": "ops:format_env",
    },
    capabilities=capabilities,
)
