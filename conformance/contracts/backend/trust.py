"""Trust in shims that run programs inside a backend: they name one, and answer about it.

Coarse on purpose: whether a claim is true is what the requirements ask.
"""

from __future__ import annotations

from boxspec.subject.case import Case
from boxspec.subject.observe.company import Company
from boxspec.subject.sentinels import Say, sentinel

WITHIN_S = 30.0
NO_SUCH = "no-such-backend"


def trust(case: Case, say: Say) -> None:
    declared = "backend" in case.capabilities
    if declared:
        # Launchers, and programs that try what a sandbox can: they take along what they waited.
        case.session.company["backend"] = Company(before=True, beside=True)
    name = case.backend.chosen if declared else NO_SUCH
    answer = case.backend.probe("repo-write", backend=name, within_s=WITHIN_S)
    sentinel("backend", declared, answer.raw or {}, say, "backend.probe")
    if not declared:
        return
    say(f"{name}: probed")
    if answer.result["overall"] == "unavailable":
        aspects = answer.result["aspects"].values()
        reasons = dict.fromkeys(why for each in aspects for why in each.get("reasons", []))
        case.session.unavailable["backend"] = f"{name} is unavailable here: {'; '.join(reasons)}"
