"""One expectation of a user, as it is written."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """One expectation. origin: the option, or the file and line, that it comes from."""

    kind: str
    value: str
    origin: str

    @property
    def id(self) -> str:
        return f"{self.kind}:{self.value}" if self.value else self.kind

    @property
    def words(self) -> tuple[str, ...]:
        return (f"--{self.kind}", self.value) if self.value else (f"--{self.kind}",)
