"""The options refuse and degrade.

Depending on the results of probe and prepare, programs run confined, unconfined or not at all.
"""

from typing import Any, Unpack

import pytest

from boxspec.api import (
    contains,
    expect,
    expect_no_longer,
    one_of,
    requires,
    satisfies,
)
from contracts.backend.answers import ObservedSession
from contracts.backend.client import BackendCase, ProbeFields
from contracts.backend.ground import made_ground
from contracts.backend.ruled import policy
from contracts.backend.scripted import Seen, scripted

SCRIPT = "backend.script"
RULES = "backend.policy"
GIVEN_UP_MS = 10_000
# By name, the fields of a session without its calls.
ASKED: dict[str, dict[str, Any]] = {
    **{
        name: {"profile": name}
        for name in ("read-only", "repo-write", "no-network", "full-dev", "ci-only")
    },
    "egress": {"profile": "repo-write", "egress": ["127.0.0.1:1"]},
    "cwd": {"profile": "repo-write", "cwd": "sub"},
}
RULED: dict[str, dict[str, Any]] = {
    "deny modify": {"profile": "repo-write", "policy": policy(("file",))},
    "deny read": {"profile": "no-network", "policy": policy(deny_read=("file",))},
}
ENFORCEMENT = {"fully": "fully", "partial": "partial", "unavailable": "none"}


def _of(call: str, answer: str) -> dict[str, Any]:
    return {call: answer}


@requires("BACKEND-SESSION-01", capability=SCRIPT)
def test_refuse_runs_a_fully_enforced_session(case: BackendCase) -> None:
    seen = scripted(case, "refuse", probe="fully")
    expect(
        "whether the session opens, runs of the program, runs of the wrapped argv",
        (seen.opened, seen.runs, seen.wrapped),
        (True, 1, 1),
    )


@requires("BACKEND-SESSION-02", capability=SCRIPT, needs=["BACKEND-PROBE-02"])
@pytest.mark.parametrize("probe", ["partial", "unavailable"])
def test_refuse_refuses_partial_and_unavailable_backends(case: BackendCase, probe: str) -> None:
    seen = scripted(case, "refuse", probe=probe)
    expect(
        "whether the session opens, and runs of the program", (seen.opened, seen.runs), (False, 0)
    )


@requires("BACKEND-SESSION-03", capability=SCRIPT)
@pytest.mark.parametrize("probe", ["fully", "partial"])
def test_degrade_keeps_a_backend_with_some_enforcement(case: BackendCase, probe: str) -> None:
    seen = scripted(case, "degrade", probe=probe)
    expect(
        "whether the session opens, runs of the program, runs of the wrapped argv",
        (seen.opened, seen.runs, seen.wrapped),
        (True, 1, 1),
    )


@requires("BACKEND-SESSION-04", capability=SCRIPT)
def test_degrade_drops_an_unavailable_backend(case: BackendCase) -> None:
    seen = scripted(case, "degrade", probe="unavailable")
    expect(
        "whether the session opens, runs of the program, runs of the wrapped argv",
        (seen.opened, seen.runs, seen.wrapped),
        (True, 1, 0),
    )
    enforcements = (seen.session.result["enforcement"], seen.session.only.result.get("enforcement"))
    expect("the enforcement of the session and of its call", enforcements, ("none", "none"))


@requires("BACKEND-SESSION-04", capability=SCRIPT)
def test_each_call_of_a_dropped_backend_has_enforcement_none(case: BackendCase) -> None:
    seen = scripted(case, "degrade", calls=3, probe="unavailable")
    expect("runs of the program, and runs of the wrapped argv", (seen.runs, seen.wrapped), (3, 0))
    enforcements = [call.result.get("enforcement") for call in seen.session.calls]
    expect("the enforcement of each call", enforcements, ["none"] * 3)


@requires("BACKEND-SESSION-05", capability=SCRIPT)
@pytest.mark.parametrize("script", [{"probe": "unavailable"}, {"prepare": "error"}])
def test_a_degraded_session_warns(case: BackendCase, script: dict[str, Any]) -> None:
    seen = scripted(case, "degrade", **script)
    expect("runs of the program", seen.runs, 1)
    words = satisfies("a warning at least", lambda warnings: len(warnings) > 0)
    expect("the warnings", seen.session.result["warnings"], words)


@requires("BACKEND-SESSION-06", capability=SCRIPT, needs=["BACKEND-PROBE-02"])
def test_refuse_is_the_default(case: BackendCase) -> None:
    seen = scripted(case, None, probe="partial")
    expect(
        "whether the session opens, and runs of the program", (seen.opened, seen.runs), (False, 0)
    )


@requires("BACKEND-SESSION-07", capability=SCRIPT)
@pytest.mark.parametrize("call", ["probe", "prepare"])
def test_refuse_refuses_an_error(case: BackendCase, call: str) -> None:
    seen = scripted(case, "refuse", **_of(call, "error"))
    expect(
        "whether the session opens, and runs of the program", (seen.opened, seen.runs), (False, 0)
    )


def _expect_given_up_in_time(case: BackendCase, on_unavailable: str, call: str, seen: Seen) -> None:
    """Compare the duration with that of a session in which the call fails at once."""
    control = scripted(case, on_unavailable, **_of(call, "error")).session
    what = f"how much longer a hanging {call} takes than a failing one"
    expect_no_longer(case, what, seen.session, control, GIVEN_UP_MS + 5 * case.tick_ms)


@requires("BACKEND-SESSION-08", capability=SCRIPT, overlap=11.0)
@pytest.mark.parametrize("call", ["probe", "prepare"])
def test_a_call_that_hangs_is_given_up(case: BackendCase, call: str) -> None:
    seen = scripted(case, "refuse", within_s=20.0, **_of(call, "hang"))
    expect(
        "whether the session opens, and runs of the program", (seen.opened, seen.runs), (False, 0)
    )
    _expect_given_up_in_time(case, "refuse", call, seen)


@requires("BACKEND-SESSION-08", capability=SCRIPT, overlap=11.0)
@pytest.mark.parametrize("call", ["probe", "prepare"])
def test_a_call_that_hangs_is_given_up_under_degrade_too(case: BackendCase, call: str) -> None:
    seen = scripted(case, "degrade", within_s=20.0, **_of(call, "hang"))
    expect("runs of the program, and runs of the wrapped argv", (seen.runs, seen.wrapped), (1, 0))
    _expect_given_up_in_time(case, "degrade", call, seen)


@requires("BACKEND-SESSION-09", capability=SCRIPT)
@pytest.mark.parametrize("call", ["probe", "prepare"])
def test_degrade_counts_an_error_as_unavailable(case: BackendCase, call: str) -> None:
    seen = scripted(case, "degrade", **_of(call, "error"))
    expect(
        "whether the session opens, runs of the program, runs of the wrapped argv",
        (seen.opened, seen.runs, seen.wrapped),
        (True, 1, 0),
    )
    expect("the enforcement", seen.session.result["enforcement"], "none")


@requires("BACKEND-SESSION-10", capability=SCRIPT)
@pytest.mark.parametrize("probe", ["fully", "partial"])
def test_the_enforcement_is_the_claim(case: BackendCase, probe: str) -> None:
    seen = scripted(case, "degrade", probe=probe)
    result = seen.session.result
    enforcements = (result["enforcement"], seen.session.only.result.get("enforcement"))
    expect("the enforcement of the session and of its call", enforcements, (probe, probe))
    if probe == "partial":
        lacking = seen.session.claim("fs-write")
        expect("the claim of fs-write", lacking["claim"], one_of("partial", "unavailable"))
        # The reason may begin with the name of the aspect.
        expect(
            "the reasons that the session gives",
            "\n".join(result["reasons"]),
            contains(lacking["reasons"][0]),
        )


@requires("BACKEND-SESSION-10", capability=SCRIPT)
@pytest.mark.parametrize("probe", ["fully", "partial"])
def test_each_result_has_the_enforcement(case: BackendCase, probe: str) -> None:
    seen = scripted(case, "degrade", calls=3, probe=probe)
    enforcements = [call.result.get("enforcement") for call in seen.session.calls]
    expect("the enforcement of each call", enforcements, [probe] * 3)


def _asked_twice(
    case: BackendCase, profile: str, cwd: str | None = None, **context: Unpack[ProbeFields]
) -> tuple[str, ObservedSession]:
    """Return the overall claim of this run's backend, and a session with the same fields."""
    claimed = case.backend.probe(profile, **context).result["overall"]
    with made_ground() as ground:
        (ground.ws / "sub").mkdir()
        session = case.backend.run(
            [{"program": "/bin/true"}],
            root=ground.ws,
            profile=profile,
            cwd=None if cwd is None else ground.ws / cwd,
            on_unavailable="degrade",
            shim_env={"HOME": str(ground.home)},
            **context,
        )
    return claimed, session


def _expect_kept(case: BackendCase, asked: dict[str, Any]) -> None:
    claimed, session = _asked_twice(case, **asked)
    session.expect_enforcement(claimed)


def _expect_the_claim(case: BackendCase, asked: dict[str, Any]) -> None:
    claimed, session = _asked_twice(case, **asked)
    of_its_call = session.only.result.get("enforcement")
    expect(
        f"the enforcement of the session and of its call, with {claimed} claimed by backend.probe",
        (session.result["enforcement"], of_its_call),
        (ENFORCEMENT[claimed], ENFORCEMENT[claimed]),
        {"reasons": session.result["reasons"], "why": session.result.get("why")},
    )


@requires("BACKEND-SESSION-03")
@pytest.mark.parametrize("asked", ASKED)
def test_degrade_keeps_the_enforcement_that_probe_claims(case: BackendCase, asked: str) -> None:
    _expect_kept(case, ASKED[asked])


@requires("BACKEND-SESSION-03", capability=RULES)
@pytest.mark.parametrize("asked", RULED)
def test_degrade_keeps_the_enforcement_that_probe_claims_for_a_policy(
    case: BackendCase, asked: str
) -> None:
    _expect_kept(case, RULED[asked])


@requires("BACKEND-SESSION-10", needs=["BACKEND-SESSION-03", "BACKEND-PROBE-02"])
@pytest.mark.parametrize("asked", ASKED)
def test_the_enforcement_is_the_claim_of_probe(case: BackendCase, asked: str) -> None:
    _expect_the_claim(case, ASKED[asked])


@requires("BACKEND-SESSION-10", capability=RULES, needs=["BACKEND-SESSION-03", "BACKEND-PROBE-02"])
@pytest.mark.parametrize("asked", RULED)
def test_the_enforcement_is_the_claim_of_probe_for_a_policy(case: BackendCase, asked: str) -> None:
    _expect_the_claim(case, RULED[asked])


@requires("BACKEND-SESSION-11", capability=SCRIPT, needs=["BACKEND-SESSION-04"])
@pytest.mark.parametrize("cwd", [None, "sub"])
def test_without_a_sandbox_the_directory_is_the_same(case: BackendCase, cwd: str | None) -> None:
    with made_ground() as ground:
        folder = ground.ws / (cwd or ".")
        folder.mkdir(exist_ok=True)
        context: dict[str, Any] = {} if cwd is None else {"cwd": str(folder)}
        session = case.backend.run(
            [{"program": "/bin/pwd"}],
            script={"probe": "unavailable"},
            on_unavailable="degrade",
            root=ground.ws,
            profile="repo-write",
            **context,
        )
    expect("the working directory", session.only.stdout.decode(), f"{folder}\n")


@requires("BACKEND-SESSION-12", capability=SCRIPT, needs=["BACKEND-SESSION-04"])
@pytest.mark.parametrize("profile", ["repo-write", "ci-only"])
def test_without_a_sandbox_no_other_variable_is_passed(case: BackendCase, profile: str) -> None:
    with made_ground() as ground:
        names = ("BOXSPEC_SECRET", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "LC_SECRET", "LANG")
        session = case.backend.run(
            [{"program": "/usr/bin/env"}],
            script={"probe": "unavailable"},
            on_unavailable="degrade",
            root=ground.ws,
            profile=profile,
            shim_env={name: f"{name}-{ground.token}" for name in names},
        )
    lines = session.only.stdout.decode(errors="replace").splitlines()
    passed = {name for name in names if f"{name}={name}-{ground.token}" in lines}
    expect(
        "variables of the caller, of a secret and a language",
        passed,
        set() if profile == "ci-only" else {"LANG"},
    )
