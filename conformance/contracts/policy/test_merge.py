"""POLICY-MERGE: a workspace file over a global one."""

from __future__ import annotations

import random

import pytest

from boxspec.api import Box, requires
from contracts.policy.api import Group, crowds, judge, judge_decisions, questions, vectors


@vectors("POLICY-MERGE")
def test_the_vectors_are_answered(box: Box, group: Group) -> None:
    judge(box, group)


@requires("POLICY-MERGE-02")
@pytest.mark.parametrize("count", [12, 150])
def test_many_rules_of_two_files_decide_as_one_list(box: Box, count: int) -> None:
    made = crowds.crowd(random.Random(box.session.seed + count), count, holes=())
    items = box.policy.check(made.policy, questions("modify", made.paths))
    judge_decisions(box, items, made.wanted(), count)
