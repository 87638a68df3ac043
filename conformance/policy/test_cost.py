"""POLICY-COST: no pattern, path or list of rules makes the engine explode."""

from __future__ import annotations

from boxspec.api import Box, Group, judge, vectors


@vectors("POLICY-COST")
def test_the_vectors_are_answered(box: Box, group: Group) -> None:
    judge(box, group)
