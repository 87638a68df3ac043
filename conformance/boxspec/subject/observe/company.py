"""Helper processes and threads of a run: all but the first thread of the shim and the child.

They decide whether the time that a shim waited for a processor can be read after its end.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Company:
    """threads: the largest number of threads of the shim. before: the shim had helper processes
    before its child existed. `beside`: it had some while or after the child existed."""

    threads: int = 1
    before: bool = False
    beside: bool = False

    def joined(self, other: Company) -> Company:
        return Company(
            max(self.threads, other.threads),
            self.before or other.before,
            self.beside or other.beside,
        )
