"""The answer of backend.probe. It must depend on the abilities of the host."""

from collections.abc import Sequence

import pytest

from boxspec.api import HostLacks, NotApplicable, Verdict, expect, one_of, requires, satisfies
from boxspec.subject.observe.probes import ProbeResult
from contracts.backend import host
from contracts.backend.answers import Claims, ObservedSession
from contracts.backend.attempt import WORK, attempted_inside, control, need_an_end
from contracts.backend.client import BackendCase
from contracts.backend.ruled import policy
from contracts.backend.scene import Scene, made_scene

PROFILES = ("read-only", "repo-write", "no-network", "full-dev", "ci-only")
ALWAYS = ("fs-write", "fs-metadata", "process")
MORE = {"no-network": ("network",), "ci-only": ("network", "ipc")}
# System calls that the usual mechanisms need to start.
STARTED_WITH = ("mount", "landlock_restrict_self", "unshare")


def _overall(claims: Claims, profile: str, *more: str) -> str:
    aspects = (*ALWAYS, *MORE.get(profile, ()), *more)
    each = [claims["aspects"][aspect]["claim"] for aspect in aspects]
    if not any(claim in ("fully", "partial") for claim in each):
        return "unavailable"
    return "fully" if all(claim == "fully" for claim in each) else "partial"


def _every(case: BackendCase) -> list[str]:
    """Return the backend of this run, and each backend in hello."""
    return list(dict.fromkeys([case.backend.chosen, *case.backend.named]))


def _answers(case: BackendCase) -> dict[str, Claims]:
    """Return the claims of each backend under the profile that requests the most."""
    return {name: case.backend.probe("ci-only", backend=name).result for name in _every(case)}


def _without_reason(claims: Claims) -> list[str]:
    return [
        name
        for name, each in claims["aspects"].items()
        if each["claim"] in ("partial", "unavailable") and not "".join(each["reasons"]).strip()
    ]


@requires("BACKEND-PROBE-01")
@pytest.mark.parametrize("profile", PROFILES)
def test_a_probe_answers_aspect_by_aspect(case: BackendCase, profile: str) -> None:
    claims = case.backend.probe(profile).result
    expect(
        "aspects that are partial or unavailable and have no reason", _without_reason(claims), []
    )


@requires("BACKEND-PROBE-01")
def test_each_backend_of_hello_gives_reasons(case: BackendCase) -> None:
    answers = _answers(case)
    silent = {name: lacking for name, each in answers.items() if (lacking := _without_reason(each))}
    expect("aspects that are partial or unavailable and have no reason", silent, {})


@requires("BACKEND-PROBE-02")
@pytest.mark.parametrize("profile", PROFILES)
def test_the_overall_claim_is_that_of_its_aspects(case: BackendCase, profile: str) -> None:
    claims = case.backend.probe(profile).result
    for aspect in (*ALWAYS, *MORE.get(profile, ())):
        requested = one_of("fully", "partial", "unavailable")
        expect(f"the claim of {aspect}", claims["aspects"][aspect]["claim"], requested)
    expect("the overall claim", claims["overall"], _overall(claims, profile), claims)


@requires("BACKEND-PROBE-02")
def test_the_overall_claim_of_each_backend_of_hello(case: BackendCase) -> None:
    answers = _answers(case)
    overall = {name: each["overall"] for name, each in answers.items()}
    expect(
        "the overall claim",
        overall,
        {name: _overall(each, "ci-only") for name, each in answers.items()},
    )


@requires("BACKEND-PROBE-02")
def test_a_list_of_egress_counts_for_the_overall_claim(case: BackendCase) -> None:
    for name in _every(case):
        claims = case.backend.probe("repo-write", backend=name, egress=["127.0.0.1:1"]).result
        overall = _overall(claims, "repo-write", "network")
        expect(f"the overall claim of {name}", claims["overall"], overall, claims)


@requires("BACKEND-PROBE-02", capability="backend.policy")
def test_rules_on_reading_count_for_the_overall_claim(case: BackendCase) -> None:
    rules = policy(deny_read=("**/*.key",))
    for name in _every(case):
        claims = case.backend.probe("repo-write", backend=name, policy=rules).result
        overall = _overall(claims, "repo-write", "fs-read")
        expect(f"the overall claim of {name}", claims["overall"], overall, claims)


# Attempts on a host that refuses a mechanism. They are made only if the backend still makes a
# claim.
ATTEMPTS = pytest.mark.parametrize("probe", ["w_create", "p_kill_usr1"])


def _attempted(
    case: BackendCase, scene: Scene, backend: str, profile: str, state: Sequence[str]
) -> ObservedSession:
    """Run a session in this state, which makes the attempt of the scene."""
    program, *args = scene.arm(sibling=scene.ground.ws / "sibling")
    return case.backend.run(
        [{"program": program, "args": args}],
        backend=backend,
        root=scene.ground.ws,
        profile=profile,
        on_unavailable="degrade",
        state=state,
        shim_env={"HOME": str(scene.ground.home)},
    )


def _expect_true_claims(case: BackendCase, backend: str, probe: str, state: Sequence[str]) -> None:
    """Fail if a claim in this state is false: a program must run inside, and must not escape.

    A claim alone is not a failure, because the backend may have other means, for example a daemon.
    """
    claims = case.backend.probe("repo-write", backend=backend, state=state).result
    if claims["overall"] == "unavailable":
        return
    control(probe)
    with made_scene(probe) as scene:
        session = _attempted(case, scene, backend, "repo-write", state)
        attempted = ProbeResult()
        if not session.dropped and session.only.ok:
            attempted = ProbeResult.of(session.only.stdout)
        effects = scene.effects(attempted)
        claimed = bool(effects) and session.claims_fully(scene.probe.aspect)
        expect(
            f"whether a program starts inside {backend}, and its effects outside",
            (attempted != ProbeResult(), effects if claimed else []),
            (True, []),
            {"state": state, "claims": claims, "inside": str(attempted)},
            Verdict.CONTRADICTION,
        )


@requires("BACKEND-PROBE-03")
@ATTEMPTS
def test_a_backend_that_cannot_start_a_program_is_unavailable(
    case: BackendCase, probe: str
) -> None:
    if case.backend.probe("repo-write").result["overall"] == "unavailable":
        raise NotApplicable("the backend reports that it is unavailable")
    state = [word for call in STARTED_WITH for word in ("--seccomp-deny", f"{call}:EPERM")]
    _expect_true_claims(case, case.backend.chosen, probe, state)


@requires("BACKEND-PROBE-04")
@ATTEMPTS
def test_a_mechanism_that_is_not_there_is_not_claimed(case: BackendCase, probe: str) -> None:
    made_of_it = [name for name in _every(case) if "landlock" in case.backend.mechanism(name)]
    if not made_of_it:
        raise NotApplicable("hello names no backend that uses Landlock")
    if host.landlock_abi() == 0:
        raise HostLacks("sandbox mechanisms", "this kernel has no Landlock")
    state = ["--seccomp-deny", "landlock_create_ruleset:EOPNOTSUPP"]
    _expect_true_claims(case, made_of_it[0], probe, state)


# Features that older versions of Landlock lack, each with a probe that reveals the lack.
UNKNOWN = {
    "truncate": (2, "w_truncate", "repo-write"),
    "TCP": (3, "n_tcp4", "no-network"),
    "signals": (5, "p_kill_usr1", "repo-write"),
    "abstract sockets": (5, "n_unix_abstract", "ci-only"),
}


@requires("BACKEND-PROBE-04")
@pytest.mark.parametrize("what", UNKNOWN)
def test_a_feature_that_an_older_version_lacks_is_not_claimed(case: BackendCase, what: str) -> None:
    made_of_it = [name for name in _every(case) if "landlock" in case.backend.mechanism(name)]
    if not made_of_it:
        raise NotApplicable("hello names no backend that uses Landlock")
    abi, probe, profile = UNKNOWN[what]
    if host.landlock_abi() <= abi:
        raise HostLacks(
            "sandbox mechanisms", f"the kernel's own Landlock ABI is already {host.landlock_abi()}"
        )
    control(probe)
    with made_scene(probe) as scene:
        session = _attempted(case, scene, made_of_it[0], profile, ["--landlock-abi", str(abi)])
        if session.dropped:
            return
        attempted = attempted_inside(session, WORK)
        effects = scene.effects(attempted)
        claimed = bool(effects) and session.claims_fully(scene.probe.aspect)
        expect(
            f"effects outside, with {scene.probe.aspect} claimed fully under ABI {abi}",
            effects if claimed else [],
            [],
            {"inside": str(attempted)},
            Verdict.CONTRADICTION,
        )
        need_an_end(scene, session, attempted)


# Any attempt that a filter refuses would be suitable: the test only checks whether there is a
# filter.
FILTERED = "k_add_key"


@requires("BACKEND-PROBE-04")
@pytest.mark.parametrize("why", ["EINVAL", "EPERM"])
def test_a_filter_that_cannot_be_installed_is_not_claimed(case: BackendCase, why: str) -> None:
    # A kernel without seccomp answers EINVAL. The answer may be EPERM if the kit itself is in a
    # sandbox.
    claimed = [
        name
        for name, claims in _answers(case).items()
        if claims["aspects"].get("kernel", {}).get("claim") == "fully"
    ]
    if not claimed:
        raise NotApplicable("hello names no backend that claims a system call filter here")
    calls = ("seccomp", "prctl_set_seccomp")
    refused = [word for call in calls for word in ("--seccomp-deny", f"{call}:{why}")]
    for name in claimed:
        with made_scene(FILTERED) as scene:
            session = _attempted(case, scene, name, "repo-write", refused)
            if session.dropped:
                continue
            what = f"whether {name} claims kernel fully, where no filter can be installed"
            still = session.claims_fully("kernel")
            expect(what, still, False, verdict=Verdict.CONTRADICTION)
            attempted_inside(session)


@requires("BACKEND-PROBE-05")
def test_a_probe_answers_twice_the_same_and_leaves_no_process(case: BackendCase) -> None:
    first, second = (case.backend.probe("no-network") for _ in range(2))
    expect("the claims", second.result, first.result)
    expect("processes left running", [proc.describe() for proc in second.lasting], [])


@requires("BACKEND-PROBE-06")
@pytest.mark.parametrize(
    "spelling", ["no-such-backend", "{}x", "{}+none", "{} ", " {}", "{}/", "{first}", "none+{}"]
)
def test_a_backend_without_a_name_in_hello_is_refused(case: BackendCase, spelling: str) -> None:
    """Ask for a name that is similar to the name of this run's backend."""
    name = spelling.format(case.backend.chosen, first=case.backend.chosen[0])
    answer = case.backend.probe("repo-write", backend=name)
    expect("the kind of the error", answer.error["kind"], "invalid_input")


@requires("BACKEND-PROBE-06")
def test_the_name_of_a_backend_has_small_and_capital_letters(case: BackendCase) -> None:
    others = {case.backend.chosen.upper(), case.backend.chosen.title()} - {*case.backend.named}
    kinds = [case.backend.probe("repo-write", backend=each).error["kind"] for each in others]
    expect("the kinds of the errors", kinds, ["invalid_input"] * len(others))


@requires("BACKEND-PROBE-07")
@pytest.mark.parametrize("profile", PROFILES)
def test_none_is_unavailable(case: BackendCase, profile: str) -> None:
    if "none" not in case.backend.named:
        raise NotApplicable("hello names no backend `none`")
    claims = case.backend.probe(profile, backend="none").result
    expect("the overall claim", claims["overall"], "unavailable", verdict=Verdict.CONTRADICTION)


@requires("BACKEND-PROBE-02", capability="backend.policy")
def test_a_negated_rule_on_reading_counts_for_the_overall_claim(case: BackendCase) -> None:
    """Deny reading by a rule of the profile, and not by denyRead."""
    rules = policy(read=("**", "!**/*.key"))
    for name in _every(case):
        claims = case.backend.probe("repo-write", backend=name, policy=rules).result
        overall = _overall(claims, "repo-write", "fs-read")
        expect(f"the overall claim of {name}", claims["overall"], overall, claims)
        requested = one_of("fully", "partial", "unavailable")
        expect(f"the claim of {name} for fs-read", claims["aspects"]["fs-read"]["claim"], requested)


@requires("BACKEND-PROBE-08")
def test_aspects_without_a_request_are_not_requested(case: BackendCase) -> None:
    aspects = case.backend.probe("repo-write").result["aspects"]
    not_asked = satisfies("not-requested", lambda claim: claim == "not-requested")
    for aspect in ("fs-read", "limits"):
        expect(f"the claim of {aspect}", aspects[aspect]["claim"], not_asked)
