"""The answer about a session: its calls, its log, and what was claimed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from boxspec.judge.verdict import Declared, Failure, NotApplicable, Verdict
from boxspec.subject.client.b64 import unb64
from boxspec.subject.observed import Facts, Observed
from contracts.shared.runs import RunAnswer

Claims = dict[str, Any]
# Who asks whether a backend is kept that enforces something.
KEPT = "BACKEND-SESSION-03"
NOTHING = {"claim": "unavailable", "reasons": ["there is no claim"]}


class ObservedSession(Observed):
    """The answer to one backend.run, and what was seen of it.

    probed: what backend.probe claims of the same fields, asked when it is needed; None where it has
    no answer.
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
    def opened(self) -> bool:
        return bool(self.result["session"] == "opened")

    @property
    def calls(self) -> list[RunAnswer]:
        """One answer for each call."""
        return [RunAnswer(each) for each in self.result["calls"]]

    @property
    def only(self) -> RunAnswer:
        """The answer of a session with one call."""
        (one,) = self.calls
        return one

    @property
    def dropped(self) -> bool:
        """Whether it ran without the backend. A failure where that is more than degrade may do:
        what a probe claims to be enforced is kept, unless prepare failed."""
        if self.result["enforcement"] != "none":
            return False
        if self._degrades and all(each["ok"] for each in self.entries("prepare")):
            own, probed = self.result["claims"], self._probed(self)
            for said, claims in (("the session", own), ("backend.probe", probed)):
                self._expect_unavailable(said, claims)
        return True

    @property
    def _degrades(self) -> bool:
        """Whether degrade was asked for: who refuses a session says none of it as well."""
        asked = self.message if isinstance(self.message, dict) else {}
        return asked.get("on_unavailable") == "degrade"

    def _expect_unavailable(self, said: str, claims: Claims | None) -> None:
        if claims is None or claims["overall"] == "unavailable":
            return
        raise Failure(
            "whether the backend is kept that claims to enforce something",
            "enforcement fully or partial",
            f"none, although {said} claims {claims['overall']}",
            {"why": str(self.result.get("why", "it does not say why"))},
            symptom="a backend is dropped that claims to enforce something",
            asked=self.message,
            needs=[KEPT],
        )

    def need_enforcement(self) -> None:
        """Whether anything is kept out is not asked of what says that it enforces nothing."""
        if self.dropped:
            why = self.result.get("why", "it does not say why")
            raise NotApplicable(f"the backend says that it enforces nothing: {why}")

    def claim(self, aspect: str) -> dict[str, Any]:
        """What was claimed of an aspect in this session."""
        return _claim(self.result["claims"], aspect)

    def claims_fully(self, aspect: str) -> bool:
        """Whether an aspect was claimed fully, in this session or by backend.probe."""
        if self.claim(aspect)["claim"] == "fully":
            return True
        return bool(_claim(self._probed(self), aspect)["claim"] == "fully")

    def excuse(self, aspect: str, escaped: str) -> None:
        """Something got out: Declared, unless the aspect was claimed fully. The answer comes after
        the run: declared before it is what backend.probe does not claim either."""
        said = self.claim(aspect)
        if said["claim"] == "fully":
            return
        if self.claims_fully(aspect):
            raise Failure(
                f"{aspect}, which backend.probe claims fully",
                "nothing gets out",
                f"{escaped}; behind it the session calls {aspect} {said['claim']}",
                {"claim of the session": said},
                Verdict.CONTRADICTION,
                why=f"{aspect} is claimed before the run, and not behind it",
                asked=self.message,
            )
        raise Declared(aspect, said["claim"], escaped, "; ".join(said.get("reasons", ())))

    @property
    def logged(self) -> list[str]:
        """The names of the calls of the backend, in order."""
        return [str(each["call"]) for each in self.result["log"]]

    def times(self, call: str) -> int:
        return Counter(self.logged)[call]

    def entries(self, call: str) -> list[dict[str, Any]]:
        return [each for each in self.result["log"] if each["call"] == call]

    @property
    def violations(self) -> list[tuple[bytes, str]]:
        """Path and rule of what the scan found, by path."""
        found = self.result.get("violations", [])
        return sorted((unb64(each["path_b64"]), str(each["rule"])) for each in found)

    @property
    def hard_links(self) -> list[bytes]:
        """The files that the session names for their links."""
        return [unb64(each) for each in self.result.get("hard_links_b64", [])]


def _claim(claims: Claims | None, aspect: str) -> dict[str, Any]:
    found: dict[str, Any] = NOTHING if claims is None else claims["aspects"].get(aspect, NOTHING)
    return found
