"""The names that the tests of this contract import."""

from contracts.policy import many_rules, offsets, readings, spellings
from contracts.policy.client import question, questions, refused
from contracts.policy.deciding import (
    WITHIN_S,
    decided,
    expect_normal_forms,
    judge_decisions,
    loads,
)
from contracts.policy.judging import both_ways, judge, same_both_ways
from contracts.policy.trees import PAGE_AND_KEY, Tree
from contracts.policy.unloaded import refused_as_workspaces, refuses_policies
from contracts.policy.vectors import Group, every, vectors
from contracts.shared import globs as oracle
from contracts.shared.documents import Policy, one_profile, policy

__all__ = [
    "PAGE_AND_KEY",
    "WITHIN_S",
    "Group",
    "Policy",
    "Tree",
    "both_ways",
    "decided",
    "every",
    "expect_normal_forms",
    "judge",
    "judge_decisions",
    "loads",
    "many_rules",
    "offsets",
    "one_profile",
    "oracle",
    "policy",
    "question",
    "questions",
    "readings",
    "refused",
    "refused_as_workspaces",
    "refuses_policies",
    "same_both_ways",
    "spellings",
    "vectors",
]
