"""Tests of the lists that a program inside writes for the next start."""

from __future__ import annotations

from boxspec.verify.linked import with_more


def test_a_list_of_texts_gets_one_more() -> None:
    old = {"write": [], "nested": [{"read": ["a"]}], "numbers": [1], "deny": ["b"]}
    new = {"write": ["x"], "nested": [{"read": ["a", "x"]}], "numbers": [1], "deny": ["b"]}
    assert with_more(old, "x") == new
