"""POLICY-EXCEPT: exceptions from denies."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from boxspec.api import expect, law, requires
from contracts.policy.api import (
    Group,
    Policy,
    judge,
    judge_decisions,
    loads,
    many_rules,
    offsets,
    one_profile,
    oracle,
    questions,
    spellings,
    vectors,
)
from contracts.policy.client import PolicyCase


@vectors("POLICY-EXCEPT")
def test_the_vectors_are_answered(case: PolicyCase, group: Group) -> None:
    judge(case, group)


# In each list an exception covers some of the paths, because the topic CHECK tests lists without
# exceptions.
PROFILE = ["**", "d/c/k", "d/c/e/**", "!d/c/k", "!d/c/e/s", "!d/**"]
DENIES = ["d/**", "!d/c/**", "!d/c/k", "d/c/e/**", "d/c/k", "!d/c/e/s"]
PATHS = ["d/a", "d/c/a", "d/c/k", "d/c/e/a", "d/c/e/s", "elsewhere"]


def allowed_by_rules(denies: list[str]) -> list[str]:
    """Return the list without invalid exceptions.

    An exception must lie inside an earlier deny with another body.
    """
    kept: list[str] = []
    for rule in denies:
        inside = [each for each in kept if each[0] != "!" and each.endswith("/**")]
        lies = any(
            rule[1:] != each and oracle.matches(each, rule[1:].removesuffix("/**"))
            for each in inside
        )
        if rule[0] != "!" or lies:
            kept.append(rule)
    return kept


def lists(chance: random.Random) -> tuple[list[str], list[str]]:
    profile = chance.choices(PROFILE, k=chance.randint(1, 5))
    more = allowed_by_rules(["d/**", "!d/c/**", *chance.choices(DENIES, k=chance.randint(0, 4))])
    # A profile with a rule that equals a deny would be refused, so such rules are left out.
    bodies = {rule for rule in more if not rule.startswith("!")}
    return ["**", *(rule for rule in profile if rule.removeprefix("!") not in bodies)], more


@requires("POLICY-EXCEPT-04", "POLICY-EXCEPT-05")
def test_lists_with_exceptions_decide_as_the_oracle(case: PolicyCase) -> None:
    def holds(example: tuple[list[str], list[str]]) -> None:
        profile, denies = example
        policy = one_profile(read=["**"], modify=profile, deny_modify=denies)
        got = case.policy.allowed(policy, questions("modify", PATHS))
        wanted = [oracle.decide(profile, denies, path).allowed for path in PATHS]
        expect("decisions", got, wanted, {"profile": profile, "denyModify": denies})

    law(case, lists, holds, examples=40)


@requires("POLICY-EXCEPT-03")
def test_lists_with_exceptions_name_the_rule_of_the_oracle(case: PolicyCase) -> None:
    def holds(example: tuple[list[str], list[str]]) -> None:
        profile, denies = example
        policy = one_profile(read=["**"], modify=profile, deny_modify=denies)
        items = case.policy.check(policy, questions("modify", PATHS))
        got = {
            path: (item.get("allowed"), item.get("matched_rule"))
            for path, item in zip(PATHS, items, strict=True)
        }
        wanted = {}
        for path in PATHS:
            decision = oracle.decide(profile, denies, path)
            wanted[path] = (decision.allowed, decision.matched_rule)
        expect("decisions and rules", got, wanted, {"profile": profile, "denyModify": denies})

    law(case, lists, holds, examples=30)


@requires("POLICY-EXCEPT-04")
def test_an_exception_grants_nothing_that_the_profile_does_not(case: PolicyCase) -> None:
    def holds(example: tuple[list[str], list[str]]) -> None:
        profile, denies = example
        policy = one_profile(read=["**"], modify=profile, deny_modify=denies)
        allowed = case.policy.allowed(policy, questions("modify", PATHS))
        more = [
            path
            for path, has in zip(PATHS, allowed, strict=True)
            # The oracle decides, because the topic CHECK tests lists without exceptions.
            if has and not oracle.decide(profile, [], path).allowed
        ]
        expect(
            "paths that the denies with their exceptions allow, and the profile does not",
            more,
            [],
            {"profile": profile, "denyModify": denies},
        )

    law(case, lists, holds)


@requires("POLICY-EXCEPT-04")
@pytest.mark.parametrize("count", [12, 70])
def test_inside_an_exception_many_rules_of_the_profile_decide(case: PolicyCase, count: int) -> None:
    made = many_rules.many_rules(random.Random(case.session.seed + count), count)
    items = case.policy.check(made.in_one_file, questions("modify", made.paths))
    # Only the decision counts here, because POLICY-EXCEPT-03 tests the named rule.
    judge_decisions(case, items, made.wanted(), count, by_rule=False)


def denying(*denies: str) -> Policy:
    return one_profile(["**"], ["never"], [], denies)


@requires("POLICY-EXCEPT-02", needs=["POLICY-RULE-01", "POLICY-RULE-02"])
def test_an_exception_lies_in_its_deny_however_both_are_spelled(case: PolicyCase) -> None:
    for deny, hole in spellings.few_pairs("a/b/**", "a/b/c"):
        loads(case, denying(deny, f"!{hole}"))
        loads(case, denying(deny, f" ! {hole}/**"))
        loads(case, denying(f"{deny}x", f"!{hole}"), False)


@requires("POLICY-EXCEPT-02", needs=["POLICY-RULE-01", "POLICY-RULE-02"])
@pytest.mark.parametrize("body", ["a/b/**", "a/b", "**"])
def test_an_exception_equals_its_deny_however_both_are_spelled(case: PolicyCase, body: str) -> None:
    for deny, hole in spellings.few_pairs(body, body):
        loads(case, denying("k/**", deny, f"!{hole}"), False)


@requires("POLICY-EXCEPT-02", needs=["POLICY-RULE-01", "POLICY-RULE-02"])
@pytest.mark.parametrize("pad", offsets.PADS)
def test_an_exception_lies_in_its_deny_at_every_length(
    case: PolicyCase, pad: Callable[[int], str]
) -> None:
    for length in offsets.SOME:
        place = pad(length)
        for deny, inside in ((f"{place}/**", place), (f"*-x/{place}/**", f"k-x/{place}")):
            loads(case, denying(deny, f"!{inside}/k", f"!{inside}/k/**", f"!{inside}"))
            if length in offsets.NEAR:
                loads(case, denying(deny, f"!{inside}k"), False)
                loads(case, denying(deny, f"!{inside}k/**"), False)


@requires("POLICY-EXCEPT-02")
@pytest.mark.parametrize("glob", ["*", "?", "??", ".*", "*/**", "**/*"])
def test_an_exception_for_the_root_needs_a_deny_that_matches_it(
    case: PolicyCase, glob: str
) -> None:
    loads(case, denying("**", "!."))
    loads(case, denying(glob, "!."), False)


@requires("POLICY-EXCEPT-02")
def test_the_root_is_an_exact_path(case: PolicyCase) -> None:
    for deny in ("**", "./**"):
        loads(case, one_profile(modify=["m"], deny_modify=[deny, "!."]))
    for deny in ("a/**", "*", "*/**"):
        loads(case, one_profile(modify=["m"], deny_modify=[deny, "!."]), False)


@requires("POLICY-EXCEPT-02")
@pytest.mark.parametrize("deny", ["*.d/**", "**/*.key", "k/?/**", "a*b"])
@pytest.mark.parametrize("others", [0, 1, 3], ids="{} other denies".format)
def test_many_exceptions_lie_in_the_same_deny(case: PolicyCase, deny: str, others: int) -> None:
    """An engine may change its method after many exceptions, and then it must still see the
    deny."""
    before = [f"other{at}/*" for at in range(others)]
    inside = {"*.d/**": "!{}.d/x/**", "**/*.key": "!k/{}.key", "k/?/**": "!k/n/{}", "a*b": "!a{}b"}
    holes = [inside[deny].format(at) for at in range(700)]
    loads(case, denying(*before, deny, *holes))
    loads(case, denying(*before, deny, *holes, "!elsewhere"), False)
