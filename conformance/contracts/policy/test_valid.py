"""POLICY-VALID: policies that are well-formed but must be refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from boxspec.api import requires
from contracts.policy.api import (
    Group,
    judge,
    loads,
    offsets,
    one_profile,
    policy,
    spellings,
    vectors,
)
from contracts.policy.client import PolicyCase


@vectors("POLICY-VALID")
def test_the_vectors_are_answered(case: PolicyCase, group: Group) -> None:
    judge(case, group)


def profiles(lists: list[tuple[str, str]]) -> dict[str, object]:
    """Return a policy with one profile for each pair of a read rule and a modify rule."""
    made = {
        str(at): {"read": [read], "modify": [modify]} for at, (read, modify) in enumerate(lists)
    }
    return policy({"fsProfiles": made})


@requires("POLICY-VALID-02", needs=["POLICY-COST-02"])
@pytest.mark.parametrize("pad", offsets.PADS)
def test_rules_are_covered_at_every_length(case: PolicyCase, pad: Callable[[int], str]) -> None:
    covered = [
        (f"{pad(length)}/**", f"{pad(length)}{below}")
        for length in offsets.EVERY
        for below in ("", "/k", "/k/**", "/**", "/b/*.c")
    ]
    loads(case, profiles(covered))


@requires("POLICY-VALID-02")
@pytest.mark.parametrize("pad", offsets.PADS)
def test_neighbouring_rules_are_not_covered_at_any_length(
    case: PolicyCase, pad: Callable[[int], str]
) -> None:
    for length in offsets.NEAR:
        place = f"{pad(length)}/k"
        for neighbours in (f"{place}k", f"{place}k/x", f"{place}k/**", pad(length)):
            loads(case, one_profile([f"{place}/**"], [neighbours]), False)


@requires("POLICY-VALID-02")
def test_rules_are_covered_however_both_are_spelled(case: PolicyCase) -> None:
    covered = [
        *spellings.pairs("a/b/**", "a/b/c"),
        *spellings.pairs("a/b/**", "a/b"),
        *spellings.pairs("a/*/c", "a/*/c"),
        *spellings.pairs("**", "a/b"),
    ]
    loads(case, profiles(covered))


@requires("POLICY-VALID-05", needs=["POLICY-RULE-01", "POLICY-RULE-02"])
@pytest.mark.parametrize("kind", ["denyRead of read", "denyModify of modify", "denyRead of modify"])
def test_a_rule_equals_a_deny_however_both_are_spelled(case: PolicyCase, kind: str) -> None:
    deny, _, rules = kind.split()
    for left, right in spellings.few_pairs("a/b/**", "a/b/**"):
        for sign in ("", "!", " ! "):
            own = {"read": ["**"], "modify": ["**"]}
            own[rules] = ["**", sign + left]
            loads(case, policy({deny: [right], "fsProfiles": {"p": own}}), False)


# Pairs of names that only folding or a form of Unicode makes equal.
SIMILAR = [("k", "K"), ("\u00e9", "e\u0301"), ("k", "\u212a"), ("\u00df", "ss"), ("\ufb01", "fi")]


@requires("POLICY-VALID-05")
@pytest.mark.parametrize(("one", "other"), SIMILAR, ids=ascii)
def test_a_similar_name_is_no_equal_rule(case: PolicyCase, one: str, other: str) -> None:
    for left, right in ((one, other), (other, one)):
        loads(case, one_profile(["**", left, f"!{left}/x"], ["**", left], [right, f"{right}/x"]))
        loads(case, one_profile(["**"], ["**", f"{left}/**"], [], [f"{right}/**"]))


@requires("POLICY-VALID-05")
@pytest.mark.parametrize("pad", offsets.PADS)
def test_a_rule_equals_a_deny_at_every_length(case: PolicyCase, pad: Callable[[int], str]) -> None:
    names = [f"{pad(length)}/{length}" for length in offsets.EVERY]
    neighbours = [f"{name}{more}" for name in names for more in ("/k", "k", "/**")]
    loads(case, one_profile(["**", *neighbours], ["**"], names))
    for length in offsets.NEAR:
        name = f"{pad(length)}/{length}"
        loads(case, one_profile(["**", name], ["**"], names), False)


@requires("POLICY-VALID-06")
@pytest.mark.parametrize("mark", ["!", " !", "! ", "\t!\t", "!./", "!.\\\\"])
def test_an_exception_in_deny_read_is_refused_however_it_is_spelled(
    case: PolicyCase, mark: str
) -> None:
    loads(case, one_profile(["**"], ["**"], ["a/**", "a/b/**"]))
    loads(case, one_profile(["**"], ["**"], ["a/**", f"{mark}a/b/**"]), False)
