"""What probe answers, and that it looks for itself."""

from typing import Any

import pytest

from boxspec.api import Box, HostLacks, NotApplicable, Verdict, expect, one_of, requires, satisfies
from contracts.backend import host

PROFILES = ("read-only", "repo-write", "no-network", "full-dev", "ci-only")
ALWAYS = ("fs-write", "fs-metadata", "process")
MORE = {"no-network": ("network",), "ci-only": ("network", "ipc")}
# What mechanisms are started with; without these calls none starts anything.
STARTED_WITH = ("mount", "landlock_restrict_self", "unshare")


def _overall(claims: dict[str, Any], profile: str) -> str:
    each = [claims["aspects"][aspect]["claim"] for aspect in (*ALWAYS, *MORE.get(profile, ()))]
    if not any(claim in ("fully", "partial") for claim in each):
        return "unavailable"
    return "fully" if all(claim == "fully" for claim in each) else "partial"


@requires("BACKEND-PROBE-01")
@pytest.mark.parametrize("profile", PROFILES)
def test_a_probe_answers_aspect_by_aspect(box: Box, profile: str) -> None:
    claims = box.backend.probe(profile).result
    lacking = [
        name
        for name, each in claims["aspects"].items()
        if each["claim"] in ("partial", "unavailable") and not "".join(each["reasons"]).strip()
    ]
    expect("aspects that lack something, without a reason", lacking, [])


@requires("BACKEND-PROBE-02")
@pytest.mark.parametrize("profile", PROFILES)
def test_the_overall_claim_is_that_of_its_aspects(box: Box, profile: str) -> None:
    claims = box.backend.probe(profile).result
    for aspect in (*ALWAYS, *MORE.get(profile, ())):
        requested = one_of("fully", "partial", "unavailable")
        expect(f"the claim of {aspect}", claims["aspects"][aspect]["claim"], requested)
    expect("overall", claims["overall"], _overall(claims, profile), claims)


@requires("BACKEND-PROBE-03")
def test_what_cannot_start_anything_is_unavailable(box: Box) -> None:
    if box.backend.probe("repo-write").result["overall"] == "unavailable":
        raise NotApplicable("the backend says that it is unavailable anyway")
    state = [word for call in STARTED_WITH for word in ("--seccomp-deny", f"{call}:EPERM")]
    claims = box.backend.probe("repo-write", state=state).result
    expect(
        "overall, where its mechanism cannot start",
        claims["overall"],
        "unavailable",
        {"refused": STARTED_WITH, "claims": claims},
        Verdict.CONTRADICTION,
    )


@requires("BACKEND-PROBE-04")
def test_a_mechanism_that_is_not_there_is_not_claimed(box: Box) -> None:
    mechanism = box.backend.named.get(box.backend.chosen, {}).get("mechanism", "")
    if "landlock" not in mechanism.split("+"):
        raise NotApplicable(f"{box.backend.chosen} is not made of Landlock but of {mechanism}")
    if host.landlock_abi() == 0:
        raise HostLacks("sandbox mechanisms", "this kernel has no Landlock to take away")
    state = ["--seccomp-deny", "landlock_create_ruleset:EOPNOTSUPP"]
    claims = box.backend.probe("repo-write", state=state).result
    expect(
        "overall, where the kernel has no Landlock",
        claims["overall"],
        "unavailable",
        verdict=Verdict.CONTRADICTION,
    )


@requires("BACKEND-PROBE-05")
def test_a_probe_answers_twice_the_same_and_leaves_nothing(box: Box) -> None:
    first, second = (box.backend.probe("no-network") for _ in range(2))
    expect("the claims", second.result, first.result)
    expect("who is left", [proc.describe() for proc in second.lasting], [])


@requires("BACKEND-PROBE-06")
def test_a_backend_without_a_name_in_hello_is_refused(box: Box) -> None:
    answer = box.backend.probe("repo-write", backend="no-such-backend")
    expect("the kind of the error", answer.error["kind"], "invalid_input")


@requires("BACKEND-PROBE-07")
@pytest.mark.parametrize("profile", PROFILES)
def test_none_is_unavailable(box: Box, profile: str) -> None:
    if "none" not in box.backend.named:
        raise NotApplicable("hello names no backend `none`")
    claims = box.backend.probe(profile, backend="none").result
    expect("overall", claims["overall"], "unavailable", verdict=Verdict.CONTRADICTION)


@requires("BACKEND-PROBE-08")
def test_what_nobody_asked_for_is_not_requested(box: Box) -> None:
    aspects = box.backend.probe("repo-write").result["aspects"]
    not_asked = satisfies("not-requested", lambda claim: claim == "not-requested")
    for aspect in ("fs-read", "limits"):
        expect(f"the claim of {aspect}", aspects[aspect]["claim"], not_asked)
