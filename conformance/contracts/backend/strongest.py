"""Choose the backend that a run judges if no option names one.

It is the strongest backend that starts on this host.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from boxspec.errors import ShimBroke
from boxspec.judge.verdict import Failure, Late, NotApplicable
from contracts.backend.client import CONTROL, BackendCase

WITHIN_S = 10.0
# The claims depend on the profile: only no-network requests the aspect network.
PROFILES = ("repo-write", "no-network")
WORTH = {"fully": 1.0, "partial": 0.5}


def choose(case: BackendCase) -> None:
    """Set the backend of the session, unless `--backend` named it.

    The backends are compared by the claims of `backend.probe`. The run then judges whether these
    claims are true.
    """
    names = [name for name in case.backend.named if name != CONTROL]
    if case.session.backend is not None or len(names) < 2:
        return
    with ThreadPoolExecutor(len(names)) as pool:
        found = pool.map(lambda name: claims(case, name), names)
        strengths = {
            name: _strength(claims_of) for name, claims_of in zip(names, found, strict=True)
        }
    # If several backends are equally strong, the first one in hello is chosen.
    chosen = max(names, key=lambda name: strengths[name])
    case.session.chosen["backend"] = (chosen, [name for name in names if name != chosen])


def _strength(claims_of: Mapping[str, str]) -> float:
    """Return the number of claimed aspects; a partial claim counts half."""
    return sum(WORTH.get(claim, 0.0) for claim in claims_of.values())


def claims(case: BackendCase, name: str) -> dict[str, str]:
    """Return for each aspect the best claim of a backend under any profile."""
    found: dict[str, str] = {}
    for profile in PROFILES:
        for aspect, claim in _claims(case, name, profile).items():
            if WORTH.get(claim, 0.0) >= WORTH.get(found.get(aspect, ""), 0.0):
                found[aspect] = claim
    return found


def _claims(case: BackendCase, name: str, profile: str) -> dict[str, str]:
    try:
        answer = case.backend.probe(profile, backend=name, within_s=WITHIN_S)
    except (Failure, Late, NotApplicable, ShimBroke):
        # Ignore a failing probe here, because the requirements BACKEND-PROBE report it.
        return {}
    if not answer.ok or answer.result["overall"] == "unavailable":
        return {}
    return {aspect: each["claim"] for aspect, each in answer.result["aspects"].items()}
