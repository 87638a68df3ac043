"""Make the command that repeats a test."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from boxspec.places import COMMAND


@dataclass(frozen=True)
class RunFlags:
    """The options of a run that can change a verdict.

    shim: the command of the shim; by default the reference.
    backend: the backend that the user named.
    busy: the number of busy loops that run at the same time.
    """

    shim: str | None = None
    backend: str | None = None
    isolate: bool = False
    stress: bool = False
    seed: int = 0
    busy: int = 0

    @property
    def words(self) -> list[str]:
        """Return the flags that differ from their defaults."""
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


def repro_command(requirements: Iterable[str], how: RunFlags) -> str:
    """Return a shell command that repeats the tests of these requirements with the same options."""
    return command(["repro", *how.words, *requirements])


def command(words: Iterable[str]) -> str:
    """Return a shell command from the words after `boxspec`."""
    return shlex.join([COMMAND, *words])
