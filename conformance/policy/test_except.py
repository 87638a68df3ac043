"""POLICY-EXCEPT: exceptions from denies."""

from __future__ import annotations

from boxspec.api import Box, Group, judge, vectors


@vectors("POLICY-EXCEPT")
def test_the_vectors_are_answered(box: Box, group: Group) -> None:
    judge(box, group)
