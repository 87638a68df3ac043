"""The requests that run generated programs in a backend (`boxspec explore`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from boxspec.subject.session import Session
from contracts.backend.client import BackendCase
from contracts.backend.strongest import choose
from contracts.shared.documents import one_profile
from contracts.shared.runs import RunAnswer

# The time limit of a session, which runs all programs of a batch.
LIMIT_MS = 30_000
FULLY = "fully"


class Explored:
    """One backend of a shim, under one profile.

    If the backend claims to enforce policies fully, it gets a policy that keeps one folder
    unchanged and hides another.
    """

    def __init__(self, session: Session, backend: str | None, profile: str) -> None:
        case = BackendCase(session, "explore")
        try:
            if backend is None:
                choose(case)
            self.name = backend or case.backend.chosen
            rules = one_profile(deny_modify=["kept/file"], deny_read=["secret/file"])
            given = {**rules, "fs_profile": "p"}
            self._context: dict[str, Any] = {"profile": profile}
            self.claimed, self._whole = self._claims(case, profile)
            if "backend.policy" in session.capabilities:
                claimed, whole = self._claims(case, profile, policy=given)
                if {"fs-write", "fs-read"} <= claimed:
                    self.claimed, self._whole = claimed, whole
                    self._context["policy"] = given
            # True if programs run under the policy.
            self.ruled = "policy" in self._context
        finally:
            case.close(keep=False)

    def _claims(
        self, case: BackendCase, profile: str, **fields: Any
    ) -> tuple[frozenset[str], bool]:
        """Return the aspects that are claimed fully, and True if all requested aspects are."""
        answer = case.backend.probe(profile, backend=self.name, **fields)
        if not answer.ok:
            return frozenset(), False
        aspects = answer.result["aspects"]
        claimed = frozenset(name for name, claim in aspects.items() if claim["claim"] == FULLY)
        return claimed, answer.result["overall"] == FULLY

    def message(self, root: Path, words: Sequence[str]) -> dict[str, Any]:
        program, *args = words
        request = {"program": program, "args": args, "timeout_ms": LIMIT_MS}
        return {
            "op": "backend.run",
            "backend": self.name,
            "context": {"root": str(root), **self._context},
            # Under `refuse` no session opens if a claim is partial. Then `degrade` is used, to
            # explore the aspects that are claimed fully.
            "on_unavailable": "refuse" if self._whole else "degrade",
            "calls": [{"request": request}],
        }

    def read(self, answer: Mapping[str, Any]) -> tuple[bytes, str]:
        result = answer.get("result")
        if not isinstance(result, dict):
            return b"", str(answer.get("error", answer))
        if result.get("enforcement") == "none" or not result.get("calls"):
            return (
                b"",
                f"the session has no sandbox: {result.get('why', 'the shim gives no reason')}",
            )
        call = RunAnswer(result["calls"][0])
        return (call.stdout, "") if call.ok else (b"", str(call.error["message"]))
