"""What can go wrong outside a verdict: bad usage, a broken shim, a shim nobody may score."""

from __future__ import annotations

from typing import Any


class UsageError(Exception):
    """Bad usage: one clear line that names the place and the remedy; exit 2."""

    def __init__(self, place: str, problem: str, remedy: str) -> None:
        super().__init__(f"{place}: {problem} ({remedy})")
        self.place, self.problem, self.remedy = place, problem, remedy


class ShimBroke(Exception):
    """The shim crashed, hung or spoke garbage; it blames only what was in flight."""

    def __init__(self, what: str, evidence: dict[str, Any] | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.evidence: dict[str, Any] = evidence or {}


class NotConforming(Exception):
    """The trust checks before the score failed: no score is given, exit 2."""


class HarnessError(Exception):
    """The kit itself could not do its work (a fixture program is missing, a pacer died)."""
