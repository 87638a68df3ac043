"""What a client knows of an answer: the fields that a schema names."""

from __future__ import annotations

from typing import Any

from boxspec.subject.client import known

WORDS = {"kind": "io", "message": "no"}
PLACE = {"pointer": "/a", "message": "no"}
ENTRY: dict[str, Any] = {"rule": {"except": "a"}, "origin": "exception", "file": None}


def explained(more: dict[str, Any]) -> dict[str, Any]:
    """One answer, with `more` in each object that a schema describes."""
    item = {"allowed": True, "entries": [{**ENTRY, "rule": {**ENTRY["rule"], **more}, **more}]}
    refused = {"error": {**WORDS, "problems": [{**PLACE, **more}], **more}}
    return {"id": "1", "result": {"checks": [{**item, **more}, {**refused, **more}], **more}}


def test_what_no_schema_names_is_gone_at_every_depth() -> None:
    answer = explained({"its_own": 7})
    assert known.answer("policy.explain", answer | {"its_own": 7}) == explained({})
    assert known.result("policy.explain", answer["result"]) == explained({})["result"]


def test_fields_that_others_name_are_known() -> None:
    constants = {"grace_ms": 5000, "mine": 1}
    assert known.result("hello", {"constants": constants, "up_s": 3}) == {"constants": constants}


def test_of_an_operation_that_nobody_knows_the_envelope_is_known() -> None:
    answer = {"id": "1", "result": {"a": 1}}
    assert known.answer("no.such", answer | {"its_own": 7}) == answer
