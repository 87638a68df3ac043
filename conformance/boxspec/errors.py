"""Exceptions that are not verdicts: wrong usage, a broken shim, a shim without a score, a broken
kit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

# The names of two pieces of evidence about a shim that broke.
ASKED, SO_FAR = "request", "answer so far"


class UsageError(Exception):
    """The user made a mistake.

    The text is one line with the place and the remedy; the exit status is 2.
    """

    def __init__(self, place: str, problem: str, remedy: str) -> None:
        super().__init__(f"{place}: {problem} ({remedy})")
        self.place, self.problem, self.remedy = place, problem, remedy

    @classmethod
    def unknown(
        cls, place: str, kind: str, name: str, known: Iterable[str], listing: str
    ) -> UsageError:
        """Return the error for an unknown name.

        It lists similar names and the command that lists all.
        """
        ordered = sorted(known)
        near = get_close_matches(_two_digits(name), ordered)
        near = near or [each for each in ordered if name in each][:3]
        said = f"near it: {', '.join(near)}; " if near else ""
        return cls(place, f"no such {kind}", f"{said}{listing} names all")


def _two_digits(name: str) -> str:
    """Return EXEC-CAP-01 for EXEC-CAP-1, which is otherwise as near to EXEC-CAP-14."""
    return re.sub(r"-(\d)$", r"-0\1", name)


class ShimBroke(Exception):
    """Raised if the shim crashed, hung or sent garbage. Only the current request fails.

    judged, expected: lines of the failure report.
    symptom: as in Failure.
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
    """Raised if the trust checks failed, so that there is no score; the exit status is 2.

    facts: lines about the requests and the observations.
    """

    def __init__(self, reason: str, facts: Iterable[str] = ()) -> None:
        super().__init__(reason)
        self.facts = list(facts)


class HarnessError(Exception):
    """Raised if the kit itself failed, for example because a fixture program is missing."""
