"""Trust in shims that run programs inside a backend: they name one, and answer about it.

Coarse on purpose: whether a claim is true is what the requirements ask.
"""

from __future__ import annotations

from boxspec.subject.case import Box
from boxspec.subject.observe.company import Company
from boxspec.subject.sentinels import Say, sentinel

WITHIN_S = 30.0
NO_SUCH = "no-such-backend"


def trust(box: Box, say: Say) -> None:
    declared = "backend" in box.capabilities
    if declared:
        # Launchers, and programs that try what a sandbox can: they take along what they waited.
        box.session.company["backend"] = Company(before=True, beside=True)
    name = box.backend.chosen if declared else NO_SUCH
    answer = box.backend.probe("repo-write", backend=name, within_s=WITHIN_S)
    sentinel("backend", declared, answer.raw or {}, say, "backend.probe")
    if not declared:
        return
    say(f"{name}: probed")
    if answer.result["overall"] == "unavailable":
        aspects = answer.result["aspects"].values()
        reasons = dict.fromkeys(why for each in aspects for why in each.get("reasons", []))
        box.session.unavailable["backend"] = f"{name} is unavailable here: {'; '.join(reasons)}"
