"""POLICY-CHECK: lists so long that an engine looks up rules and does not try each one."""

from __future__ import annotations

import random

import pytest

from boxspec.api import expect, requires
from contracts.policy.api import (
    WITHIN_S,
    judge_decisions,
    many_rules,
    one_profile,
    oracle,
    questions,
)
from contracts.policy.client import PolicyCase

PATHS = 80


def last(rules: list[str], path: str) -> tuple[bool, str]:
    met = (each for each in reversed(rules) if oracle.matches(each.removeprefix("!"), path))
    found = next(met, "!<no matching rule>")
    return not found.startswith("!"), found.removeprefix("!")


@requires("POLICY-CHECK-11")
@pytest.mark.parametrize("count", [3, 50, 150])
@pytest.mark.parametrize("where", many_rules.RULES)
def test_the_last_match_of_many_rules_decides(case: PolicyCase, where: str, count: int) -> None:
    chance = random.Random(case.session.seed + count)
    rules = ["never", *(many_rules.rule(chance, where) for _ in range(count))]
    bodies = [rule.removeprefix("!") for rule in rules[1:]]
    wanted = {path: last(rules, path) for path in many_rules.paths_near(chance, bodies, PATHS)}
    items = case.policy.check(one_profile(rules, []), questions("read", wanted), None, WITHIN_S)
    judge_decisions(case, items, wanted, len(rules))


# Names with equal hashes. An engine that looks up rules by hash must compare the names too. The
# hashes are Java's for strings, djb2, FNV-1a of 32 bits and CRC-32.
ALIKE = {
    "java": ("Aa", "BB"),
    "djb2": ("hetairas", "mentioner"),
    "fnv": ("costarring", "liquid"),
    "crc": ("plumless", "buckeroo"),
}


@requires("POLICY-CHECK-11")
@pytest.mark.parametrize("count", [0, 100])
@pytest.mark.parametrize("names", ALIKE)
def test_names_with_equal_hashes_stay_different(case: PolicyCase, names: str, count: int) -> None:
    others_first = [f"n{at}" for at in range(count)]
    for one, other in (ALIKE[names], ALIKE[names][::-1]):
        for rules in (
            [*others_first, one],
            [*others_first, one, f"!{other}"],
            ["**", *others_first, f"!{one}"],
            [*others_first, f"{one}/**", f"!{other}/**"],
        ):
            wanted = {path: last(rules, path) for path in (one, other, f"{one}/x", f"{other}/x")}
            items = case.policy.check(one_profile(rules, []), questions("read", wanted))
            judge_decisions(case, items, wanted, len(rules))


@requires("POLICY-CHECK-11")
@pytest.mark.parametrize("count", [0, 100])
@pytest.mark.parametrize("end", ["e?v", "e*", "*v", "???", "e*v", "e**v", "tar.*", "*.gz"])
def test_an_end_with_wildcards_is_found_among_plain_ones(
    case: PolicyCase, end: str, count: int
) -> None:
    names = ["a.env", "a.exv", "a.tar.gz", "a.tar.xz", "a.n1", ".env", "env", "a.env.b"]
    paths = [f"{folder}{name}" for folder in ("", "d/", "d.e/") for name in names]
    for where in ("**/*.", "*.", "d/*.", "**/a."):
        rules = ["**", *(f"!**/*.n{at}" for at in range(count)), f"!{where}{end}"]
        wanted = {path: last(rules, path) for path in paths}
        items = case.policy.check(one_profile(rules, []), questions("read", wanted))
        judge_decisions(case, items, wanted, len(rules))


@requires("POLICY-CHECK-11")
def test_policies_that_differ_only_far_from_their_start_are_two(case: PolicyCase) -> None:
    """Check two policies of equal length, which begin and end alike, one after the other."""
    rules = [f"never/{number:06}" for number in range(4000)]
    for name in ("x", "y"):
        policy = one_profile([*rules[:2000], name, *rules[2000:]], [])
        items = case.policy.check(policy, questions("read", ["x", "y"]), None, WITHIN_S)
        got = [item.get("allowed") for item in items]
        expect(f"may x and y be read by the rule {name}", got, [name == "x", name == "y"])


@requires("POLICY-CHECK-11")
def test_each_of_many_checks_of_a_request_has_an_answer_of_its_own(case: PolicyCase) -> None:
    paths = [f"{'a' if number % 3 else 'b'}/{number}" for number in range(4100)]
    items = case.policy.check(one_profile(["a/**"], []), questions("read", paths), None, WITHIN_S)
    got = [(item.get("path"), item.get("allowed")) for item in items]
    wanted = [(path, path.startswith("a/")) for path in paths]
    wrong = [at for at, right in enumerate(wanted) if got[at : at + 1] != [right]]
    expect(
        f"answers to {[paths[at] for at in wrong[:1]]}",
        [got[at : at + 1] for at in wrong[:1]],
        [[wanted[at]] for at in wrong[:1]],
        {"asked": len(wanted), "wrong": len(wrong)},
    )
