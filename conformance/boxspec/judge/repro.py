"""The command that asks again what a test decided."""

from __future__ import annotations

import shlex

from boxspec.judge.record import Record


def repro_command(record: Record, shim: str | None) -> str:
    """Pasteable: reruns what decides the first requirement of the test, against the same shim."""
    words = ["./ci/boxspec", "repro"]
    if shim is not None:
        words += ["--shim", shim]
    return shlex.join([*words, record.requirements[0]])
