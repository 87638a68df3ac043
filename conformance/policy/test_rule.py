"""POLICY-RULE: the normal form of a rule, and what is none."""

from __future__ import annotations

from boxspec.api import Box, Group, judge, vectors


@vectors("POLICY-RULE")
def test_the_vectors_are_answered(box: Box, group: Group) -> None:
    judge(box, group)
