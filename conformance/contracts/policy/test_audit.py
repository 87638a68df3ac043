"""POLICY-AUDIT: the record of a check, which is meant for a log."""

from __future__ import annotations

import datetime
import random
import re
import time
from typing import Any

import pytest

from boxspec.api import expect, requires
from contracts.policy.api import (
    Group,
    judge,
    judge_decisions,
    many_rules,
    one_profile,
    oracle,
    policy,
    question,
    questions,
    vectors,
)
from contracts.policy.client import PolicyCase
from contracts.shared.moments import pass_time


@vectors("POLICY-AUDIT")
def test_the_vectors_are_answered(case: PolicyCase, group: Group) -> None:
    judge(case, group)


LISTS = {"read": ["a", "b"], "modify": ["a"]}
POLICY = one_profile(LISTS["read"], LISTS["modify"], ["x"], ["x"])
CHECKS = [question(op, path) for op in ("read", "modify") for path in ("a", "b", "x", "elsewhere")]
# RFC 3339, section 5.6, but only with offsets that mean UTC.
RFC_3339 = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]+))?(?:[Zz]|[+-]00:00)"
)
# A coarse clock, such as time() in C, returns the last tick, which may be 10 ms old (15.6 ms on
# Windows).
TICK_S = 0.02


@requires("POLICY-AUDIT-01")
def test_an_event_has_the_decision_of_check(case: PolicyCase) -> None:
    """Compare events with the oracle, and not with `check`, which the topic CHECK tests."""
    events = case.policy.audit(POLICY, CHECKS)
    for check, event in zip(CHECKS, events, strict=True):
        wanted = oracle.decide(LISTS[check["op"]], ["x"], check["path"])
        got = (event["allowed"], event["path"], event["matched_rule"])
        expect(f"the event of {check}", got, (wanted.allowed, check["path"], wanted.matched_rule))
    asked = [{key: check[key] for key in ("profile", "op")} for check in CHECKS]
    named = [{key: event[key] for key in ("profile", "op")} for event in events]
    expect("profile and op in the events", named, asked)


@requires("POLICY-AUDIT-01")
def test_a_refused_check_is_an_error_at_its_position(case: PolicyCase) -> None:
    checks = [CHECKS[0], question("read", "/a"), question("read", "a", "nobody"), CHECKS[1]]
    kinds = [
        "error" if "error" in event else "event" for event in case.policy.audit(POLICY, checks)
    ]
    expect("the events", kinds, ["event", "error", "error", "event"])


@requires("POLICY-AUDIT-01")
def test_events_of_many_rules_of_two_files_are_right(case: PolicyCase) -> None:
    made = many_rules.many_rules(random.Random(case.session.seed), 70)
    events = case.policy.audit(made.policy, questions("modify", made.paths))
    judge_decisions(case, events, made.wanted(), 70)


def moment_of(text: str) -> tuple[float, str]:
    """Return the time of an event in seconds since the epoch, and the digits of its fraction."""
    form = RFC_3339.fullmatch(text)
    expect(f"whether {text!r} is RFC 3339 in UTC", form is not None, True)
    assert form is not None
    fraction = form[3] or ""
    second = datetime.datetime.strptime(f"{form[1]} {form[2]} +0000", "%Y-%m-%d %H:%M:%S %z")
    return second.timestamp() + float(f"0.{fraction or 0}"), fraction


@requires("POLICY-AUDIT-03")
def test_time_is_that_of_the_decision_in_utc(case: PolicyCase) -> None:
    for _ in range(3):
        before = time.time()
        event = case.policy.audit(POLICY, CHECKS[:1])[0]
        after = time.time()
        text = event["time"]
        moment, fraction = moment_of(text)
        # An implementation may round the time, or cut it to whole seconds or to fewer digits.
        coarse = 10.0 ** -len(fraction)
        expect(
            f"whether {text!r} lies between question and answer",
            before - coarse - TICK_S <= moment <= after + coarse / 2,
            True,
            {"asked": before, "answered": after},
        )
        # Wait, so that a time which the shim wrongly keeps is clearly earlier than the next
        # question.
        pass_time(round(1000 * (coarse + 2 * TICK_S)))


@requires("POLICY-AUDIT-03")
@pytest.mark.parametrize("zone", ["EAST-13:45", "WEST+11"])
def test_time_is_utc_in_each_time_zone(case: PolicyCase, zone: str) -> None:
    message = {"op": "policy.audit", "policy": POLICY, "checks": CHECKS[:1]}
    before = time.time()
    events = case.policy.send(message, shim_env={"TZ": zone}).result["events"]
    text = events[0]["time"]
    moment, _ = moment_of(text)
    expect(
        f"whether {text!r} is within an hour of the question",
        abs(moment - before) < 3600,
        True,
        {"asked": before},
    )


@requires("POLICY-AUDIT-02", needs=["POLICY-MERGE-01", "POLICY-PROFILE-03"])
def test_a_profile_of_a_workspace_has_the_origin_defined(case: PolicyCase) -> None:
    asked = [question("read", "a", name) for name in ("unrestricted", None, "p")]
    lists = {"read": ["a"]}
    nothing: dict[str, Any] = {}
    one: dict[str, Any] = {"unrestricted": lists}
    for above, below, origin in (
        (nothing, one, "defined"),
        (one, nothing, "defined"),
        (nothing, nothing, "synthesized"),
    ):
        both = policy({"fsProfiles": {**above, "p": lists}}, {"fsProfiles": below})
        got = [each["profile_origin"] for each in case.policy.audit(both, asked)]
        expect(
            f"origins of the rules, with global {[*above]} and workspace {[*below]}",
            got,
            [origin, origin, "defined"],
        )
