"""POLICY-PROFILE: from the name of a profile to its lists."""

from __future__ import annotations

from boxspec.api import Box
from contracts.policy.api import Group, judge, vectors


@vectors("POLICY-PROFILE")
def test_the_vectors_are_answered(box: Box, group: Group) -> None:
    judge(box, group)
