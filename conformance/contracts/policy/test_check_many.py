"""POLICY-CHECK: lists so long that an engine looks rules up instead of asking each."""

from __future__ import annotations

import random

import pytest

from boxspec.api import Box, requires
from contracts.policy.api import WITHIN_S, crowds, judge_decisions, one_profile, oracle, questions

PATHS = 80


def last(rules: list[str], path: str) -> tuple[bool, str]:
    met = (each for each in reversed(rules) if oracle.matches(each.removeprefix("!"), path))
    found = next(met, "!<no matching rule>")
    return not found.startswith("!"), found.removeprefix("!")


@requires("POLICY-CHECK-11")
@pytest.mark.parametrize("count", [3, 50, 150])
@pytest.mark.parametrize("where", crowds.RULES)
def test_the_last_match_of_many_rules_decides(box: Box, where: str, count: int) -> None:
    chance = random.Random(box.session.seed + count)
    rules = ["never", *(crowds.rule(chance, where) for _ in range(count))]
    bodies = [rule.removeprefix("!") for rule in rules[1:]]
    wanted = {path: last(rules, path) for path in crowds.paths_near(chance, bodies, PATHS)}
    items = box.policy.check(one_profile(rules, []), questions("read", wanted), None, WITHIN_S)
    judge_decisions(box, items, wanted, len(rules))
