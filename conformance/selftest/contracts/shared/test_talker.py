"""Tests of effects outside a sandbox that enforces only some aspects: an effect is allowed if the
backend declared it before the run, otherwise it is an escape."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from boxspec.judge.verdict import Declared, Failure, NotApplicable, Verdict
from boxspec.subject.case import Case
from contracts.shared import talker
from contracts.shared.talker import CANARY, Outside

BOTH = (CANARY + "x", 1)
CONNECTED = (CANARY, 1)


def judge(effects: tuple[str, int], enforcement: str, **claims: str) -> None:
    """Judge the effects of a call outside.

    claims: the claims of backend.probe, by aspect; None if the shim has no backend.probe.
    """
    aspects = {name.replace("_", "-"): {"claim": each} for name, each in claims.items()}
    answer = SimpleNamespace(result={"overall": "partial", "aspects": aspects})
    case = SimpleNamespace(
        capabilities={"backend"} if claims else set(),
        send=lambda _: answer,
    )
    there = SimpleNamespace(effects=lambda: effects)
    result: dict[str, Any] = {"enforcement": enforcement, "enforcement_reasons": ["a reason"]}
    said = ["did"] * 4
    talker.expect_refused(cast(Case, case), said, cast(Outside, there), result, "one")


def test_a_connection_is_declared_where_the_network_is_partial() -> None:
    with pytest.raises(Declared):
        judge(CONNECTED, "partial", network="partial", fs_write="fully")


def test_without_a_probe_the_result_declares_it() -> None:
    with pytest.raises(Declared):
        judge(BOTH, "partial")


@pytest.mark.parametrize(
    ("effects", "enforcement", "network"),
    [
        (CONNECTED, "fully", "partial"),
        (CONNECTED, "partial", "fully"),
        (BOTH, "partial", "partial"),
    ],
    ids=["told as fully", "claimed fully", "more than is declared"],
)
def test_an_effect_against_full_enforcement_is_an_escape(
    effects: tuple[str, int], enforcement: str, network: str
) -> None:
    with pytest.raises(Failure) as why:
        judge(effects, enforcement, network=network, fs_write="fully")
    assert why.value.verdict is Verdict.ESCAPED


def test_an_excuse_of_one_backend_applies_to_no_other() -> None:
    session = SimpleNamespace(backend=None)
    case = SimpleNamespace(session=session, hello={"backends": {"one": {}, "other": {}}})
    asked = []

    def ask(name: str) -> None:
        asked.append(name)
        raise NotApplicable(name)

    with pytest.raises(NotApplicable, match="one"):
        talker.ask_each(cast(Case, case), ask)
    assert asked == ["one", "other"]
