"""POLICY-PROFILE: from the name of a profile to its lists."""

from __future__ import annotations

import pytest

from boxspec.api import Box, expect, requires
from contracts.policy.api import Group, judge, one_profile, policy, question, vectors


@vectors("POLICY-PROFILE")
def test_the_vectors_are_answered(box: Box, group: Group) -> None:
    judge(box, group)


@requires("POLICY-PROFILE-01")
@pytest.mark.parametrize("name", ["\u00e9", "e\u0301", "\u212b", "A\u030a", "\ufb01", "fi"])
def test_a_name_is_no_other_spelling_of_one(box: Box, name: str) -> None:
    """Composed, decomposed, and what a compatible form makes of it."""
    others = {"\u00e9", "e\u0301", "\u212b", "A\u030a", "\u00c5", "\ufb01", "fi"} - {name}
    own = policy({"fsProfiles": {name: {"read": ["**"]}}})
    asked = [question("read", "x", each) for each in (name, *sorted(others))]
    wanted = [True, *(None for _ in others)]
    expect("decisions by the name and by its like", box.policy.allowed(own, asked), wanted)


# What a table answers to in one language or another, though nobody put it there.
INHERITED = [
    *("constructor", "toString", "hasOwnProperty", "valueOf", "__proto__", "prototype"),
    *("__class__", "__dict__", "items", "get", "__index", "metatable", "length", "0", "null"),
]


@requires("POLICY-PROFILE-01", needs=["POLICY-CHECK-03", "POLICY-CHECK-04"])
@pytest.mark.parametrize("name", INHERITED)
def test_what_a_language_puts_into_its_tables_is_no_profile(box: Box, name: str) -> None:
    asked = [question(op, "x", name) for op in ("read", "modify")]
    expect(
        "decisions by a name that is unknown", box.policy.allowed(one_profile(), asked), [None] * 2
    )
    own = policy({"fsProfiles": {name: {"read": ["**"], "modify": ["y"]}}})
    expect("decisions by the same name, defined", box.policy.allowed(own, asked), [True, False])
