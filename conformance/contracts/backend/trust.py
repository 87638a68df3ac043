"""Check that a shim which runs programs in a backend names one and answers requests about it.

The checks are coarse on purpose, because requirements test the claims.
"""

from __future__ import annotations

from boxspec.subject.contract import Say
from boxspec.subject.observe.helper_processes import HelperProcesses
from boxspec.subject.sentinels import sentinel
from contracts.backend.client import BackendCase

WITHIN_S = 30.0
NO_SUCH = "no-such-backend"


def trust(case: BackendCase, say: Say) -> None:
    declared = "backend" in case.capabilities
    if declared:
        # Launchers and test programs of a backend are helper processes, so scheduling delay cannot
        # be read after they have ended.
        case.session.helpers["backend"] = HelperProcesses(before=True, later=True)
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
