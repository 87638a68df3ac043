"""What can go wrong outside a verdict: bad usage, a broken shim, a shim nobody may score."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


class UsageError(Exception):
    """Bad usage: one clear line that names the place and the remedy; exit 2."""

    def __init__(self, place: str, problem: str, remedy: str) -> None:
        super().__init__(f"{place}: {problem} ({remedy})")
        self.place, self.problem, self.remedy = place, problem, remedy

    @classmethod
    def unknown(
        cls, place: str, kind: str, name: str, known: Iterable[str], listing: str
    ) -> UsageError:
        """`name` is no `kind`: it says which of the known names are near, and what lists all."""
        ordered = sorted(known)
        near = get_close_matches(name, ordered) or [each for each in ordered if name in each][:3]
        said = f"near it: {', '.join(near)}; " if near else ""
        return cls(place, f"no such {kind}", f"{said}{listing} names all")


class ShimBroke(Exception):
    """The shim crashed, hung or spoke garbage; it blames only what was in flight.

    judged, expected: what a failure block says of it. symptom: as in Failure.
    """

    def __init__(
        self,
        what: str,
        evidence: dict[str, Any] | None = None,
        *,
        judged: str = "the shim keeps to the protocol",
        expected: str = "an answer of the protocol",
        symptom: str = "",
    ) -> None:
        super().__init__(what)
        self.what = what
        self.evidence: dict[str, Any] = evidence or {}
        self.judged, self.expected, self.symptom = judged, expected, symptom


class NotConforming(Exception):
    """The trust checks before the score failed: no score is given, exit 2.

    facts: a line each of what was asked and seen.
    """

    def __init__(self, reason: str, facts: Iterable[str] = ()) -> None:
        super().__init__(reason)
        self.facts = list(facts)


class HarnessError(Exception):
    """The kit itself could not do its work (a fixture program is missing, a warden died)."""
