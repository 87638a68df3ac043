"""The answer about a session: its calls, its log, and what was claimed."""

from __future__ import annotations

from collections import Counter
from typing import Any

from boxspec.judge.verdict import NotApplicable
from boxspec.target.client.b64 import unb64
from boxspec.target.observed import Observed
from contracts.shared.runs import RunAnswer


class ObservedSession(Observed):
    """The answer to one backend.run, and what was seen of it."""

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

    def need_enforcement(self) -> None:
        """Whether anything is kept out is not asked of what says that it enforces nothing."""
        if self.result["enforcement"] == "none":
            raise NotApplicable("the backend says that it enforces nothing")

    def claim(self, aspect: str) -> dict[str, Any]:
        """What was claimed of an aspect before the run."""
        claims = self.result["claims"]
        nothing = {"claim": "unavailable", "reasons": ["there is no claim"]}
        if claims is None:
            return nothing
        found: dict[str, Any] = claims["aspects"].get(aspect, nothing)
        return found

    @property
    def logged(self) -> list[str]:
        """The names of the calls of the backend, in order."""
        return [str(each["call"]) for each in self.result["log"]]

    def times(self, call: str) -> int:
        return Counter(self.logged)[call]

    def entries(self, call: str) -> list[dict[str, Any]]:
        return [each for each in self.result["log"] if each["call"] == call]

    @property
    def hard_links(self) -> list[bytes]:
        """The files that the session names for their links."""
        return [unb64(each) for each in self.result.get("hard_links_b64", [])]
