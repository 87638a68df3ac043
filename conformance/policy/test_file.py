"""POLICY-FILE: what is a policy file, and what is said about one that is none."""

from __future__ import annotations

from boxspec.api import Box, Group, judge, vectors


@vectors("POLICY-FILE")
def test_the_vectors_are_answered(box: Box, group: Group) -> None:
    judge(box, group)
