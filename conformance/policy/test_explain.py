"""POLICY-EXPLAIN: why an answer is what it is."""

from __future__ import annotations

from boxspec.api import Box, Group, judge, vectors


@vectors("POLICY-EXPLAIN")
def test_the_vectors_are_answered(box: Box, group: Group) -> None:
    judge(box, group)
