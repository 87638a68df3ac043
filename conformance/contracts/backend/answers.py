"""The answers to backend.probe and backend.run: calls, log and claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, TypedDict, cast

from boxspec.judge.expect import expect, one_of
from boxspec.judge.verdict import Declared, Failure, NotApplicable, Verdict
from boxspec.subject.client.b64 import unb64
from boxspec.subject.observed import Facts, Observed
from contracts.shared.runs import RunAnswer


class Claim(TypedDict, total=False):
    """The claim for one aspect. `reasons` say which parts are not enforced."""

    claim: str
    reasons: list[str]


class NotEnforced(TypedDict, total=False):
    """A rule that a backend does not enforce."""

    pointer: str
    rule: str
    why: str


class Claims(TypedDict, total=False):
    """The result of backend.probe."""

    overall: str
    aspects: dict[str, Claim]
    not_enforced: list[NotEnforced]


class Violation(TypedDict):
    path_b64: str
    rule: str


class LogEntry(TypedDict, total=False):
    """One call of the backend."""

    call: str
    ok: bool
    message: str
    argv_b64: list[str]
    env: list[list[str]]


class SessionResult(TypedDict, total=False):
    """The result of backend.run."""

    session: str
    why: str
    enforcement: str
    reasons: list[str]
    warnings: list[str]
    claims: Claims | None
    not_enforced: list[NotEnforced]
    hard_links_b64: list[str]
    violations: list[Violation]
    log: list[LogEntry]
    calls: list[dict[str, Any]]


class ObservedProbe(Observed):
    """The answer to one backend.probe, and the observations from outside."""

    @property
    def result(self) -> Claims:
        return cast(Claims, super().result)


# The requirement to use a backend even if it enforces only some aspects.
KEPT = "BACKEND-SESSION-03"
NOTHING: Claim = {"claim": "unavailable", "reasons": ["there is no claim"]}


class ObservedSession(Observed):
    """The answer to one backend.run, and the observations from outside.

    probed: a function that returns the claims of backend.probe for the same fields, or None if
        backend.probe gave no claims. It is called only if the claims are needed.
    """

    def __init__(
        self,
        raw: dict[str, Any] | None,
        observed: Facts,
        probed: Callable[[ObservedSession], Claims | None] = lambda _: None,
    ) -> None:
        super().__init__(raw, observed)
        self._probed = probed

    @property
    def result(self) -> SessionResult:
        return cast(SessionResult, super().result)

    @property
    def opened(self) -> bool:
        return bool(self.result["session"] == "opened")

    @property
    def calls(self) -> list[RunAnswer]:
        """Return the answer of each call."""
        return [RunAnswer(each) for each in self.result["calls"]]

    @property
    def only(self) -> RunAnswer:
        """Return the answer of a session with one call."""
        (one,) = self.calls
        return one

    @property
    def dropped(self) -> bool:
        """True if the calls ran without the backend.

        Raise a Failure if the backend had to be used: the session or backend.probe claims some
        enforcement, and prepare did not fail.
        """
        if self.result["enforcement"] != "none":
            return False
        if self._degrades and all(each["ok"] for each in self.entries("prepare")):
            own, probed = self.result["claims"], self._probed(self)
            for claim, claims in (("the session", own), ("backend.probe", probed)):
                self._expect_unavailable(claim, claims)
        return True

    @property
    def _degrades(self) -> bool:
        """True if the session ran under degrade.

        A refused session also has the enforcement `none`.
        """
        asked = self.message if isinstance(self.message, dict) else {}
        return asked.get("on_unavailable") == "degrade"

    def _expect_unavailable(self, claim: str, claims: Claims | None) -> None:
        if claims is None or claims["overall"] == "unavailable":
            return
        raise Failure(
            "whether the session uses the backend that claims to enforce something",
            "enforcement fully or partial",
            f"enforcement none, although {claim} claims {claims['overall']}",
            {"why": str(self.result.get("why", "the shim gives no reason"))},
            symptom="a backend that claims to enforce something is not used",
            asked=self.message,
            needs=[KEPT],
        )

    def need_enforcement(self) -> None:
        """Raise NotApplicable if the session reports no enforcement."""
        if self.dropped:
            why = self.result.get("why", "the shim gives no reason")
            raise NotApplicable(f"the backend reports no enforcement: {why}")

    def expect_enforcement(self, claimed: str) -> None:
        """Fail unless the session is confined.

        claimed: the overall claim of backend.probe before the session. If it is `unavailable`,
            raise NotApplicable.
        """
        if claimed == "unavailable":
            raise NotApplicable("the backend says that it is unavailable")
        expect(
            f"the enforcement of a session, with {claimed} claimed by backend.probe",
            self.result["enforcement"],
            one_of("fully", "partial"),
            {"why": self.result.get("why"), "warnings": self.result["warnings"]},
            Verdict.CONTRADICTION,
        )

    def claim(self, aspect: str) -> Claim:
        """Return the claim for an aspect in this session."""
        return _claim(self.result["claims"], aspect)

    def claims_fully(self, aspect: str) -> bool:
        """True if the aspect is claimed fully by this session or by backend.probe."""
        if self.claim(aspect)["claim"] == "fully":
            return True
        return bool(_claim(self._probed(self), aspect)["claim"] == "fully")

    def excuse(self, aspect: str, escaped: str) -> None:
        """Raise Declared if the aspect was not claimed fully before the run: the escape is no
        failure then.

        The claims of the session arrive only after the run. If backend.probe claims the aspect
        fully and the session does not, the escape is a contradiction.
        """
        claim = self.claim(aspect)
        if claim["claim"] == "fully":
            return
        if self.claims_fully(aspect):
            raise Failure(
                f"{aspect}, which backend.probe claims fully",
                "no effect outside",
                f"{escaped}; after the run the session reports {aspect} as {claim['claim']}",
                {"claim of the session": claim},
                Verdict.CONTRADICTION,
                why=f"{aspect} is claimed fully before the run, but not after it",
                asked=self.message,
            )
        raise Declared(aspect, claim["claim"], escaped, "; ".join(claim.get("reasons", ())))

    @property
    def logged(self) -> list[str]:
        """Return the names of the calls of the backend, in order."""
        return [str(each["call"]) for each in self.result["log"]]

    def times(self, call: str) -> int:
        return Counter(self.logged)[call]

    def entries(self, call: str) -> list[LogEntry]:
        return [each for each in self.result["log"] if each["call"] == call]

    @property
    def violations(self) -> list[tuple[bytes, str]]:
        """Return the path and the rule of each change that the scan found, sorted by path."""
        found = self.result.get("violations", [])
        return sorted((unb64(each["path_b64"]), str(each["rule"])) for each in found)

    @property
    def hard_links(self) -> list[bytes]:
        """Return the files that the session reports because of their hard links."""
        return [unb64(each) for each in self.result.get("hard_links_b64", [])]


def _claim(claims: Claims | None, aspect: str) -> Claim:
    found: Claim = NOTHING if claims is None else claims["aspects"].get(aspect, NOTHING)
    return found
