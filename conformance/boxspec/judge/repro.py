"""The command that asks again what a test decided."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from boxspec.places import COMMAND


@dataclass(frozen=True)
class How:
    """What a verdict may depend on beside the requirement, as the flags of a run give it. shim:
    None is the reference. backend: the one that was named, of several. busy: loops beside it."""

    shim: str | None = None
    backend: str | None = None
    isolate: bool = False
    stress: bool = False
    seed: int = 0
    busy: int = 0

    @property
    def words(self) -> list[str]:
        """The flags, where they are not the default."""
        words = [*["--isolate"] * self.isolate, *["--stress"] * self.stress]
        for flag, value in (
            ("--shim", self.shim),
            ("--backend", self.backend),
            ("--seed", self.seed or None),
            ("--busy", self.busy or None),
        ):
            if value is not None:
                words += [flag, str(value)]
        return words


def repro_command(requirements: Iterable[str], how: How) -> str:
    """Pasteable: reruns what decides these requirements, asked as they were."""
    return command(["repro", *how.words, *requirements])


def command(words: Iterable[str]) -> str:
    """Pasteable, of the words behind `boxspec`."""
    return shlex.join([COMMAND, *words])
