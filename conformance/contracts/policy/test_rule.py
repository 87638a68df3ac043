"""POLICY-RULE: the normal form of a rule, and refused rules."""

from __future__ import annotations

import random
import re

import pytest

from boxspec.api import expect, law, requires
from contracts.policy.api import Group, judge, loads, one_profile, oracle, vectors
from contracts.policy.client import PolicyCase


@vectors("POLICY-RULE")
def test_the_vectors_are_answered(case: PolicyCase, group: Group) -> None:
    judge(case, group)


# Characters that some libraries drop as blanks, or read as a sign.
KEPT = ["\r", "\n", "\x0b", "\x0c", "\x1c", "\x7f", "\x85", "\xa0", "\xad", "\u2028", "\u3000",
        "\u200b", "\ufeff", "#", ";", "\uff01", "-", "+", "$HOME", "%41"]  # fmt: skip


@requires("POLICY-RULE-01")
@pytest.mark.parametrize("kept", KEPT, ids=ascii)
def test_only_spaces_and_tabs_are_dropped(case: PolicyCase, kept: str) -> None:
    rules = [f"{kept}a", f"a{kept}", kept, f"!{kept}b", f"!b{kept}", f"a {kept} b"]
    answer = case.policy.resolve(one_profile(read=rules, modify=[]))
    expect("rules of the profile", answer.result["read"], rules)


@requires("POLICY-RULE-02")
def test_a_rule_is_not_made_shorter(case: PolicyCase) -> None:
    """Other spellings of one meaning are rules of their own, in answers too."""
    rules = [
        "**/**",
        "a/**/**",
        "**/a/**/**/b",
        "**/*",
        "*/**",
        "a/*/**/*",
        "..a",
        "a/...",
        "e\u0301",
    ]
    answer = case.policy.resolve(one_profile(read=rules, modify=[]))
    expect("rules of the profile", answer.result["read"], rules)


@requires("POLICY-RULE-04")
@pytest.mark.parametrize("rule", ["Z:x", "z:", "m:/x", "\\!x", "\\*", "!\\x", "\\\\host\\x"])
def test_a_rule_that_is_absolute_on_some_system_is_refused(case: PolicyCase, rule: str) -> None:
    loads(case, one_profile(read=["1:x", "aux"], modify=[]))
    loads(case, one_profile(read=[rule], modify=[]), False)


WORDS = [
    "a",
    "b",
    ".",
    "..",
    "...",
    "~",
    "\\",
    " ",
    "\t",
    "!",
    ":",
    "*",
    "**",
    "***",
    "?",
    "C:",
    "é",
]
PIECES = ["/", "/", "./", "a", "b", "!"]


def rules(chance: random.Random) -> list[str]:
    """Make different rules, in spellings for which the contract defines the answer."""
    made: dict[str, None] = {}
    while len(made) < 12:
        pieces = [
            chance.choice(chance.choice((PIECES, WORDS))) for _ in range(chance.randint(0, 7))
        ]
        if is_spelling_fixed(rule := "".join(pieces)):
            made[rule] = None
    return [*made]


def is_spelling_fixed(rule: str) -> bool:
    """True if the contract defines how answers spell the rule.

    It does not define this for a rule whose body begins or ends with a blank.
    """
    body = (oracle.normal_rule(rule) or " ").removeprefix("!").removeprefix("./")
    return body.strip(" \t") == body


@requires("POLICY-RULE-01", "POLICY-RULE-02")
def test_rules_have_the_normal_form_of_the_oracle(case: PolicyCase) -> None:
    def holds(rules: list[str]) -> None:
        wanted = [oracle.normal_rule(rule) for rule in rules]
        resolved = [
            # Three or more stars mean two, but the contract does not define their spelling in
            # answers.
            re.sub(r"\*{3,}", "**", str(rule))
            for rule in case.policy.resolve(one_profile(read=rules, modify=[])).result["read"]
        ]
        wrong = [
            (rule, got)
            for rule, got, want in zip(rules, resolved, wanted, strict=False)
            if got != want
        ]
        expect("the rules in their normal form", resolved, wanted, {"wrong": wrong})

    law(case, rules, holds)


@requires("POLICY-RULE-03", "POLICY-RULE-04", "POLICY-RULE-05")
def test_rules_that_the_oracle_refuses_are_refused(case: PolicyCase) -> None:
    chance = random.Random(case.session.seed)
    asked = 0
    while asked < 60:
        rule = "".join(chance.choices(["/", "./", "..", "!", *WORDS], k=chance.randint(0, 6)))
        if oracle.normal_rule(rule) is not None:
            continue
        asked += 1
        # Each file contains one rule, because another topic tests the number of reported problems.
        answer = case.policy.load(one_profile(read=[rule], modify=[]))
        expect(f"whether the rule {rule!r} loads", answer.ok, False)
