"""The command that asks again what a test decided."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from boxspec.places import COMMAND


def repro_command(requirements: Iterable[str], shim: str | None) -> str:
    """Pasteable: reruns what decides these requirements, against the same shim."""
    words = [COMMAND, "repro"]
    if shim is not None:
        words += ["--shim", shim]
    return shlex.join([*words, *requirements])
