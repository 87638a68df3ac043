"""Tests that a client keeps only the fields of an answer that a schema names."""

from __future__ import annotations

from typing import Any

from boxspec.subject.client import known

WORDS = {"kind": "io", "message": "no"}
PLACE = {"pointer": "/a", "message": "no"}
ENTRY: dict[str, Any] = {"rule": {"except": "a"}, "origin": "exception", "file": None}


def explained(more: dict[str, Any]) -> dict[str, Any]:
    """Return an answer with `more` in each object that a schema describes."""
    item = {"allowed": True, "entries": [{**ENTRY, "rule": {**ENTRY["rule"], **more}, **more}]}
    refused = {"error": {**WORDS, "problems": [{**PLACE, **more}], **more}}
    return {"id": "1", "result": {"checks": [{**item, **more}, {**refused, **more}], **more}}


def test_unknown_fields_are_removed_at_each_depth() -> None:
    answer = explained({"its_own": 7})
    assert known.answer("policy.explain", answer | {"its_own": 7}) == explained({})
    assert known.result("policy.explain", answer["result"]) == explained({})["result"]


def test_fields_that_others_name_are_known() -> None:
    constants = {"grace_ms": 5000, "mine": 1}
    assert known.result("hello", {"constants": constants, "up_s": 3}) == {"constants": constants}


def test_the_envelope_of_an_unknown_operation_is_known() -> None:
    answer = {"id": "1", "result": {"a": 1}}
    assert known.answer("no.such", answer | {"its_own": 7}) == answer
