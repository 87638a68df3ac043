"""Tests of the comparison between what a confined session says about itself and what its backend
claims."""

from __future__ import annotations

from typing import Any, cast

import pytest

from boxspec.judge.verdict import Declared, Failure, NotApplicable, Verdict
from boxspec.subject.observed import Facts
from contracts.backend.answers import Claim, Claims, NotEnforced, ObservedSession
from contracts.backend.attempt import expect_nothing_outside
from contracts.backend.ruled import expect_unchanged


def claims(overall: str) -> Claims:
    each: Claim = {"claim": overall, "reasons": ["as it is told to be"]}
    return {"overall": overall, "aspects": {"fs-write": each}, "not_enforced": []}


def session(
    enforcement: str,
    own: Claims | None,
    probed: Claims | None,
    *,
    prepared: bool = True,
    on_unavailable: str = "degrade",
) -> ObservedSession:
    log = [{"call": "probe", "ok": True}, {"call": "prepare", "ok": prepared}]
    result: dict[str, Any] = {"enforcement": enforcement, "claims": own, "log": log}
    made = ObservedSession({"result": result}, cast(Facts, None), lambda _: probed)
    return made.of({"op": "backend.run", "on_unavailable": on_unavailable})


FULLY, PARTIAL, NONE = map(claims, ("fully", "partial", "unavailable"))


@pytest.mark.parametrize(
    ("own", "probed"),
    [(FULLY, FULLY), (PARTIAL, NONE), (NONE, PARTIAL), (None, FULLY), (FULLY, None)],
)
def test_a_backend_with_claims_is_not_dropped(own: Claims | None, probed: Claims | None) -> None:
    with pytest.raises(Failure) as why:
        session("none", own, probed).need_enforcement()
    assert why.value.needs == ("BACKEND-SESSION-03",)


@pytest.mark.parametrize("own", [NONE, None])
@pytest.mark.parametrize("probed", [NONE, None])
def test_an_unavailable_backend_may_be_dropped(own: Claims | None, probed: Claims | None) -> None:
    with pytest.raises(NotApplicable):
        session("none", own, probed).need_enforcement()


def test_a_prepare_that_failed_may_be_dropped() -> None:
    with pytest.raises(NotApplicable):
        session("none", FULLY, FULLY, prepared=False).need_enforcement()


def test_a_session_that_is_refused_is_not_dropped() -> None:
    with pytest.raises(NotApplicable):
        session("none", PARTIAL, PARTIAL, on_unavailable="refuse").need_enforcement()


@pytest.mark.parametrize("probed", [PARTIAL, NONE, None])
def test_an_aspect_without_a_claim_before_the_run_is_declared(probed: Claims | None) -> None:
    with pytest.raises(Declared):
        session("partial", PARTIAL, probed).excuse("fs-write", "out/file")


@pytest.mark.parametrize("own", [PARTIAL, NONE, None])
def test_a_claim_before_the_run_is_a_contradiction(own: Claims | None) -> None:
    with pytest.raises(Failure) as why:
        session("partial", own, FULLY).excuse("fs-write", "out/file")
    assert why.value.verdict is Verdict.CONTRADICTION


def test_an_excuse_does_not_judge_claims_of_the_session() -> None:
    session("fully", FULLY, NONE).excuse("fs-write", "out/file")


NAMED: list[NotEnforced] = [{"pointer": "/policy", "rule": "src/**", "why": "a mount needs a name"}]


@pytest.mark.parametrize("denied", ["kept", "a/b/kept"])
def test_a_denied_path_under_a_partial_claim_with_named_rules_is_declared(denied: str) -> None:
    one = session("partial", PARTIAL, PARTIAL)
    one.result["not_enforced"] = NAMED
    with pytest.raises(Declared):
        expect_unchanged(one, denied, [f"changed: ws/{denied}"])


def test_a_denied_path_without_a_named_rule_is_a_contradiction() -> None:
    one = session("partial", PARTIAL, PARTIAL)
    one.result["not_enforced"] = []
    with pytest.raises(Failure) as why:
        expect_unchanged(one, "kept", ["changed: ws/kept"])
    assert why.value.verdict is Verdict.CONTRADICTION


def test_a_denied_path_under_a_full_claim_is_a_contradiction() -> None:
    one = session("fully", FULLY, FULLY)
    one.result["not_enforced"] = NAMED
    with pytest.raises(Failure):
        expect_unchanged(one, "kept", ["changed: ws/kept"])


def test_an_effect_outside_through_a_link_under_a_partial_claim_is_declared() -> None:
    with pytest.raises(Declared):
        expect_nothing_outside(session("partial", PARTIAL, PARTIAL), ["made: out/x"], "a link")
