"""POLICY-WARN: what loads with a warning."""

from __future__ import annotations

from boxspec.api import Box
from contracts.policy.api import Group, judge, vectors


@vectors("POLICY-WARN")
def test_the_vectors_are_answered(box: Box, group: Group) -> None:
    judge(box, group)
