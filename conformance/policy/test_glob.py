"""POLICY-GLOB: which paths a glob matches."""

from __future__ import annotations

from boxspec.api import Box, Group, judge, vectors


@vectors("POLICY-GLOB")
def test_the_vectors_are_answered(box: Box, group: Group) -> None:
    judge(box, group)
