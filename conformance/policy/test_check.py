"""POLICY-CHECK: from a list and a path to an answer."""

from __future__ import annotations

from boxspec.api import Box, Group, judge, vectors


@vectors("POLICY-CHECK")
def test_the_vectors_are_answered(box: Box, group: Group) -> None:
    judge(box, group)
