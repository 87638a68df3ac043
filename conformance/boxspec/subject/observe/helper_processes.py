"""The helper processes and additional threads of a run.

Every process and thread is one of them, except the first thread of the shim, and the child. The
kernel forgets their waiting time when they end. So if there are any, the scheduling delay of a shim
cannot be read after its end.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HelperProcesses:
    """The helper processes and threads of one or several runs.

    threads: the largest number of threads that the shim had.
    before: True if the shim had a helper process before its child existed.
    later: True if the shim had a helper process while its child existed or later, or if a helper
        process is the parent of the child.
    """

    threads: int = 1
    before: bool = False
    later: bool = False

    def joined(self, other: HelperProcesses) -> HelperProcesses:
        return HelperProcesses(
            max(self.threads, other.threads),
            self.before or other.before,
            self.later or other.later,
        )
