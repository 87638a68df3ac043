"""Who takes part in a run beside the first thread of the shim and the child: how much of what a
target waits can be read when it has ended."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Company:
    """threads: the most that the shim had. before, beside: it had helpers before it had its child,
    and with it or after it."""

    threads: int = 1
    before: bool = False
    beside: bool = False

    def joined(self, other: Company) -> Company:
        return Company(
            max(self.threads, other.threads),
            self.before or other.before,
            self.beside or other.beside,
        )
