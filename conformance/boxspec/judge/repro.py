"""The command that asks again what a test decided."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from boxspec.places import COMMAND


def repro_command(requirements: Iterable[str], shim: str | None, backend: str | None = None) -> str:
    """Pasteable: reruns what decides these requirements, against the same shim and backend."""
    words = ["repro"]
    if shim is not None:
        words += ["--shim", shim]
    if backend is not None:
        words += ["--backend", backend]
    return command([*words, *requirements])


def command(words: Iterable[str]) -> str:
    """Pasteable, of the words behind `boxspec`."""
    return shlex.join([COMMAND, *words])
