"""POLICY-AUDIT: what is written down about a check."""

from __future__ import annotations

from boxspec.api import Box, Group, judge, vectors


@vectors("POLICY-AUDIT")
def test_the_vectors_are_answered(box: Box, group: Group) -> None:
    judge(box, group)
