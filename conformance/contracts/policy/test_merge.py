"""POLICY-MERGE: a workspace file is merged with a global file, and takes precedence."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from boxspec.api import expect, requires
from contracts.policy.api import (
    Group,
    Policy,
    judge,
    judge_decisions,
    loads,
    many_rules,
    offsets,
    policy,
    questions,
    spellings,
    vectors,
)
from contracts.policy.client import PolicyCase


@vectors("POLICY-MERGE")
def test_the_vectors_are_answered(case: PolicyCase, group: Group) -> None:
    judge(case, group)


# Decisions by the rules of one file depend on these requirements.
DECIDED = [f"POLICY-CHECK-{number}" for number in ("01", "02", "04", "05", "11")]


@requires("POLICY-MERGE-02", needs=DECIDED)
@pytest.mark.parametrize("count", [12, 70])
def test_many_rules_of_two_files_decide_as_one_list(case: PolicyCase, count: int) -> None:
    made = many_rules.many_rules(random.Random(case.session.seed + count), count, holes=())
    items = case.policy.check(made.policy, questions("modify", made.paths))
    judge_decisions(case, items, made.wanted(), count)


@requires("POLICY-MERGE-02", needs=DECIDED)
@pytest.mark.parametrize("count", [2, 12, 70])
def test_of_denies_of_two_files_that_match_the_workspaces_is_the_last(
    case: PolicyCase, count: int
) -> None:
    wide, narrow = ([f"n{number}/{end}" for number in range(count)] for end in ("**", "*"))
    # For every second name the global file has the wide rule and the workspace the narrow one; for
    # the other names it is the reverse.
    above = [(wide, narrow)[number % 2][number] for number in range(count)]
    below = [(narrow, wide)[number % 2][number] for number in range(count)]
    given = policy(
        {"denyModify": above, "fsProfiles": {"p": {"read": ["**"], "modify": ["**"]}}},
        {"denyModify": below},
    )
    wanted = {f"n{number}/a": (False, below[number]) for number in range(count)}
    items = case.policy.check(given, questions("modify", wanted))
    judge_decisions(case, items, wanted, count)


def over(above: Sequence[str], below: Sequence[str]) -> Policy:
    """Return a policy with these lists as denyModify of the global file and of the workspace."""
    return policy({"denyModify": list(above)}, {"denyModify": list(below)})


@requires("POLICY-MERGE-04", needs=["POLICY-RULE-01", "POLICY-RULE-02", "POLICY-EXCEPT-01"])
def test_an_exception_repeats_a_global_one_however_both_are_spelled(case: PolicyCase) -> None:
    for above, below in spellings.few_pairs("a/b/**", "a/b/**"):
        loads(case, over(["a/**", f"!{above}"], [f"!{below}"]))
        loads(case, over(["a/**", f"!{above}"], ["a/**", f"!{below}x"]), False)
    for above, below in spellings.few_pairs("a/b/**", "a/b/c"):
        loads(case, over(["a/**", f"!{above}"], [f" ! {below}"]))
    for above, below in spellings.few_pairs("a/b", "a/b/c"):
        loads(case, over(["a/**", f"!{above}"], ["a/**", f"!{below}"]), False)


@requires("POLICY-MERGE-04")
@pytest.mark.parametrize("pad", offsets.PADS)
def test_an_exception_lies_in_a_global_one_at_every_length(
    case: PolicyCase, pad: Callable[[int], str]
) -> None:
    for length in offsets.SOME:
        place = pad(length)
        above = ["**", f"!{place}/**"]
        loads(case, over(above, [f"!{place}/k", f"!{place}/k/**", f"!{place}"]))
        if length in offsets.NEAR:
            loads(case, over(above, [f"!{place}k"]), False)
            loads(case, over(above, [f"!{place}k/**"]), False)


# Pairs of names that only folding or a form of Unicode makes equal.
SIMILAR = [("k", "K"), ("\u00e9", "e\u0301"), ("k", "\u212a"), ("\u00df", "ss"), ("\ufb01", "fi")]


@requires("POLICY-MERGE-04")
@pytest.mark.parametrize(("one", "other"), SIMILAR, ids=ascii)
def test_an_exception_of_a_similar_name_is_no_global_one(
    case: PolicyCase, one: str, other: str
) -> None:
    for above, below in ((one, other), (other, one)):
        loads(case, over(["a/**", f"!a/{above}/**"], [f"!a/{above}/x"]))
        for words in (f"!a/{below}/**", f"!a/{below}/x", f"!a/{below}"):
            loads(case, over(["a/**", f"!a/{above}/**"], ["a/**", words]), False)


@requires("POLICY-MERGE-05")
@pytest.mark.parametrize(("one", "other"), SIMILAR, ids=ascii)
def test_a_rule_of_a_similar_name_is_no_global_deny(case: PolicyCase, one: str, other: str) -> None:
    for deny, rule in ((one, other), (other, one)):
        own = {"fsProfiles": {"p": {"read": ["**", rule], "modify": [rule]}}}
        loads(case, policy({"denyRead": [deny], "denyModify": [deny]}, own))


@requires("POLICY-MERGE-05", needs=["POLICY-RULE-01", "POLICY-RULE-02"])
def test_a_rule_equals_a_deny_of_the_other_file_however_both_are_spelled(case: PolicyCase) -> None:
    for deny, rule in spellings.few_pairs("a/b", "a/b"):
        own = {"fsProfiles": {"p": {"read": ["**", rule], "modify": []}}}
        loads(case, policy({"denyRead": [deny]}, own), False)
        loads(case, policy(own, {"denyRead": [deny]}))
        loads(case, policy({"denyRead": [f"{deny}x"]}, own))


@requires("POLICY-MERGE-07")
@pytest.mark.parametrize("text", ["", " ", "\n", "\n\n", "{}", "null"], ids=ascii)
@pytest.mark.parametrize("place", ["global", "workspace"])
def test_a_file_without_a_policy_is_not_left_out(case: PolicyCase, place: str, text: str) -> None:
    """A request with a workspace has two files, even if one of them is empty."""
    made = policy({"denyRead": ["k"]}, {"denyRead": ["x"]})
    loads(case, made)
    (made if place == "global" else made["workspace"])["text"] = text
    answer = case.policy.load(made)
    told = [] if answer.ok else [each["file"] for each in answer.error.get("problems", [])]
    expect("files with a problem", {*told}, {place})
