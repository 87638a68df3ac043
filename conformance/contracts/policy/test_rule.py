"""POLICY-RULE: the normal form of a rule, and refused rules."""

from __future__ import annotations

import random
import re

from boxspec.api import expect, law, requires
from contracts.policy.api import Group, judge, one_profile, oracle, vectors
from contracts.policy.client import PolicyCase


@vectors("POLICY-RULE")
def test_the_vectors_are_answered(case: PolicyCase, group: Group) -> None:
    judge(case, group)


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
