"""POLICY-FOLD: paths and rules that differ by case."""

from __future__ import annotations

from boxspec.api import Box, Group, judge, vectors


@vectors("POLICY-FOLD")
def test_the_vectors_are_answered(box: Box, group: Group) -> None:
    judge(box, group)
