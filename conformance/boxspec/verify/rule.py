"""One expectation of a user, as the user writes it."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from pathlib import Path

from boxspec.verify.errors import UntestableError
from boxspec.verify.paths import place_of

PATHS = frozenset({"deny-read", "deny-write", "allow-write"})


@dataclass(frozen=True)
class Rule:
    """One expectation.

    origin: the option, or the file and line, in which the user wrote it.
    """

    kind: str
    value: str
    origin: str

    @property
    def id(self) -> str:
        return f"{self.kind}:{self.value}" if self.value else self.kind

    @property
    def words(self) -> tuple[str, ...]:
        return (f"--{self.kind}", self.value) if self.value else (f"--{self.kind}",)

    def as_shown(self, home: Path, cwd: Path) -> Rule:
        """Return the rule with the path as its user wrote it: `~` is put back where the shell has
        expanded it."""
        if self.kind in PATHS:
            with contextlib.suppress(UntestableError):
                return replace(self, value=place_of(self.value, home, cwd).shown)
        return self
