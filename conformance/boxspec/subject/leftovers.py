"""Record leftovers of a shim: processes that still run after a request, and folders that cannot be
removed.

A process is reported only if the programs of the request start no other process. Then the shim
itself must have started the leftover process.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

from boxspec.plural import many
from boxspec.subject.observe import procs
from boxspec.subject.observe.lines import Deadline, poll
from boxspec.subject.observe.procs import Proc

# These fixture programs start no process, and end by themselves.
_QUIET = frozenset(
    ("count-start", "die-by", "emit", "exit-with", "flood", "hash-stdin", "read-some", "report")
)
# A helper process of the shim may end up to this much later than the shim.
SETTLE_S = 0.3


# A request with one of these fields may start processes that the kit does not know.
_STARTS = frozenset(("backend", "calls", "handles", "module_id", "sandbox"))


def starts_nobody(message: Mapping[str, Any] | bytes) -> bool:
    """True if the programs of this request start no process.

    A process that outlives the request then belongs to the shim.
    """
    if not isinstance(message, Mapping) or not _STARTS.isdisjoint(message):
        return False
    runs = [message, *message.get("runs", ())]
    asked = [each["request"] for each in runs if "request" in each]
    return all(PurePath(each.get("program", "?")).name in _QUIET for each in asked)


class Leftovers:
    """The leftovers of a session. Each case adds to them; `summary` describes them in a report."""

    def __init__(self) -> None:
        self._requests = 0
        self._seen: list[str] = []
        # Lines about folders that cannot be removed.
        self.folders: list[str] = []

    def add(self, found: Iterable[Proc]) -> None:
        """Wait a moment, and record the processes that have not ended."""
        limit, left = Deadline(SETTLE_S), list(found)
        while left := [each for each in left if not procs.is_dying(each)]:
            if limit.over():
                break
            poll([], 0.01)
        if left:
            self._requests += 1
            self._seen += [each.describe() for each in left]

    def to_json(self) -> dict[str, Any]:
        return {"requests": self._requests, "left": self._seen, "folders": self.folders}

    def join(self, requests: int, left: Iterable[str], folders: Iterable[str] = ()) -> None:
        """Add the leftovers that another process of the kit has found for this shim."""
        self._requests += requests
        self._seen += left
        self.folders += folders

    @property
    def summary(self) -> str:
        """Return one line about the processes; empty if there are none."""
        if not self._seen:
            return ""
        number, requests = len(self._seen), many(self._requests, "request")
        processes = f"{number} process{'es' if number > 1 else ''}"
        left = f"{processes} running after {requests} that should leave none"
        return f"{left}, ended since: {self._seen[0]}"
