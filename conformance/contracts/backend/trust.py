"""Check that a shim with backends names a backend and answers requests about it.

The checks are coarse on purpose, because requirements test the claims.
"""

from __future__ import annotations

import threading

from boxspec.errors import ShimBroke
from boxspec.judge.verdict import Failure, Late, NotApplicable
from boxspec.subject.contract import Say
from boxspec.subject.observe.helper_processes import HelperProcesses
from boxspec.subject.sentinels import sentinel
from contracts.backend.client import BackendCase
from contracts.backend.ground import Ground, made_ground
from contracts.backend.strongest import choose, claims

WITHIN_S = 30.0
# Time limit of the first requests. The library itself stops waiting for a hanging backend after 10
# s. So a request that takes longer does not return at all.
RETURNS_S = 10.0
NO_SUCH = "no-such-backend"


def trust(case: BackendCase, say: Say) -> None:
    declared = "backend" in case.capabilities
    if declared:
        # Launchers and test programs of a backend are helper processes. So their scheduling delay
        # cannot be read after their end.
        case.session.helpers["backend"] = HelperProcesses(before=True, later=True)
        choose(case)
    name = case.backend.chosen if declared else NO_SUCH
    if declared:
        stuck = _stuck(case, {*STARTS})
        # Requests that did not return are sent once more, because a busy machine may have delayed
        # them.
        case.session.stuck = _stuck(case, stuck) if stuck else stuck
        if case.session.stuck:
            # Requests that do not return break a requirement. So the tests report this, and the
            # check does not fail.
            say(f"{name}: no answer to {', '.join(sorted(case.session.stuck))}")
            return
    answer = case.backend.probe("repo-write", backend=name, within_s=WITHIN_S)
    sentinel("backend", declared, answer.raw or {}, say, "backend.probe")
    if not declared:
        return
    say(f"{name}: probed")
    case.session.claims["backend"] = claims(case, name)
    if answer.result["overall"] == "unavailable":
        aspects = answer.result["aspects"].values()
        reasons = dict.fromkeys(why for each in aspects for why in each.get("reasons", []))
        case.session.unavailable["backend"] = f"{name} is unavailable here: {'; '.join(reasons)}"


def _probe(case: BackendCase, ground: Ground) -> None:
    case.backend.probe("repo-write", within_s=RETURNS_S)


def _session(case: BackendCase, ground: Ground) -> None:
    case.backend.run(
        [{"program": "/bin/true"}],
        root=ground.ws,
        profile="repo-write",
        on_unavailable="degrade",
        within_s=RETURNS_S,
    )


def _script(case: BackendCase, ground: Ground) -> None:
    if "backend.script" in case.capabilities:
        case.backend.run(
            [{"program": "/bin/true"}],
            script={},
            root=ground.ws,
            profile="repo-write",
            within_s=RETURNS_S,
        )


STARTS = {"probe": _probe, "session": _session, "script": _script}


def _stuck(case: BackendCase, kinds: set[str]) -> set[str]:
    """Send one request of each kind, all at the same time. Return the kinds that do not return."""
    found: set[str] = set()

    def ask(kind: str, ground: Ground) -> None:
        try:
            STARTS[kind](case, ground)
        except NotApplicable:
            return
        except (Failure, Late) as why:
            if getattr(why, "hang", False) or getattr(why, "symptom", "") == "does not return":
                found.add(kind)
        except ShimBroke:
            # Ignore a broken shim here, because a later check reports it.
            return

    with made_ground() as ground:
        threads = [threading.Thread(target=ask, args=(kind, ground)) for kind in sorted(kinds)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return found
