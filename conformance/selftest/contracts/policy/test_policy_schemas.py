"""Tests of the schemas of the operations on globs and policies: they accept real answers and refuse
bad ones."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from boxspec.subject.client import shape
from selftest.contracts.policy.policy_files import POLICY, TEXT
from selftest.contracts.shared.wrong_messages import ABSENT, changed, wrong
from selftest.tools import Asked, op_schema

CHECKS = [
    {"profile": "p", "op": "read", "path": "./x"},
    {"op": "modify", "path": "s/c/d"},
    {"profile": "p", "op": "read", "path_b64": "/w=="},
    {"profile": "nobody", "op": "modify", "path": "y"},
]
REQUESTS: dict[str, dict[str, Any]] = {
    "paths": {"op": "path.normalize", "paths": ["a//b", "/a"]},
    "paths in bytes": {"op": "path.normalize", "paths_b64": ["YS8vYg==", "/w=="]},
    "glob": {"op": "glob.match", "pattern": "a/*", "paths": ["a/b", "c", ".."]},
    "glob in bytes": {"op": "glob.match", "pattern_b64": "YQ==", "paths_b64": ["YQ=="]},
    "glob, folded": {"op": "glob.match", "pattern": "A", "paths": ["a"], "case": "fold"},
    "bad glob": {"op": "glob.match", "pattern": "../a", "paths": ["a"]},
    "load": {"op": "policy.load", **POLICY},
    "load bytes": {
        "op": "policy.load",
        "format": "json",
        "text_b64": base64.b64encode(TEXT.encode()).decode(),
    },
    "load YAML": {"op": "policy.load", "format": "yaml", "text": "schemaVersion: 1\n"},
    "load nothing": {"op": "policy.load", "format": "json", "text": ""},
    "resolve": {"op": "policy.resolve", "policy": POLICY, "profile": "p"},
    "resolve nobody": {"op": "policy.resolve", "policy": POLICY, "profile": "nobody"},
    "check": {"op": "policy.check", "policy": POLICY, "checks": CHECKS},
    "check, folded": {"op": "policy.check", "policy": POLICY, "checks": CHECKS, "case": "fold"},
    "check_resolved": {
        "op": "policy.check_resolved",
        "policy": POLICY,
        "root": "/usr",
        "checks": [{"op": "read", "path": "bin", "follow": "parent"}, *CHECKS],
    },
    "explain": {"op": "policy.explain", "policy": POLICY, "checks": CHECKS},
    "audit": {"op": "policy.audit", "policy": POLICY, "checks": CHECKS},
}
ANSWERED = Asked(REQUESTS)


@pytest.mark.parametrize("shim", Asked.shims)
@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_and_its_answer_follow_the_schema(shim: str, name: str) -> None:
    answer = ANSWERED.by_the_schema(shim, name)
    wrong = name in ("bad glob", "load YAML", "load nothing", "resolve nobody")
    assert ("error" if wrong else "result") in answer


def good(op: str, result: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return op, {"id": "1", "result": result}


DECIDED = {"allowed": True, "path": "a", "matched_rule": "a"}
ENTRY = {
    "rule": {"except": "a"},
    "origin": "exception",
    "file": None,
    "line": None,
    "matched": True,
    "deciding": True,
}
EVENT = {
    "time": "2026-11-20T12:00:00.000Z",
    "profile": "p",
    "profile_origin": "defined",
    "op": "read",
    **DECIDED,
}
WARNING = {
    "code": "empty-read",
    "pointer": "/spec",
    "line": 1,
    "column": 1,
    "file": "global",
    "message": "m",
}
GOOD = dict(
    [
        good("path.normalize", {"items": [{"path": "a"}]}),
        good("glob.match", {"items": [{"match": True}]}),
        good("policy.load", {"name": "n", "warnings": [WARNING]}),
        good(
            "policy.resolve",
            {"profile": "p", "profile_origin": "defined", "read": ["!a"], "modify": []},
        ),
        good("policy.check", {"checks": [DECIDED]}),
        good("policy.check_resolved", {"checks": [{**DECIDED, "real": None}]}),
        good("policy.explain", {"checks": [{**DECIDED, "entries": [ENTRY]}]}),
        good("policy.audit", {"events": [EVENT]}),
    ]
)
ERROR = {"kind": "invalid_input", "message": "m"}
DECISION = "exactly one of (allowed, path, matched_rule), error"
FILES = 'one of "global", "workspace"'
PLACE = "an integer from 1 to 18446744073709551615"
BAD: list[tuple[str, str, Any, str]] = [
    ("path.normalize", "result/items", ABSENT, "/result/items: is missing"),
    ("path.normalize", "result/items/0/path", ABSENT, "/result/items/0: exactly one of path, "),
    ("path.normalize", "result/items/0/error", ERROR, "/result/items/0: exactly one of path, "),
    ("glob.match", "result/items/0/match", "yes", "/result/items/0/match: true or false"),
    ("glob.match", "result/items/0/match", ABSENT, "/result/items/0: exactly one of match, "),
    ("policy.load", "result/name", ABSENT, "/result/name: is missing; wanted: a string"),
    ("policy.load", "result/description", None, "/result/description: a string; given: null"),
    ("policy.load", "result/warnings", ABSENT, "/result/warnings: is missing"),
    ("policy.load", "result/warnings/0/line", 0, f"/result/warnings/0/line: {PLACE}; given: 0"),
    ("policy.load", "result/warnings/0/file", "local", f"/result/warnings/0/file: {FILES}"),
    ("policy.load", "result/warnings/0/pointer", ABSENT, "/result/warnings/0/pointer: is missing"),
    ("policy.resolve", "result/profile_origin", "invented", "/result/profile_origin: one of"),
    ("policy.resolve", "result/read", ABSENT, "/result/read: is missing"),
    ("policy.resolve", "result/modify", [{"not": "a"}], "/result/modify/0/except: is missing"),
    ("policy.resolve", "result/modify", [1], "/result/modify/0: a rule, or an object with"),
    ("policy.check", "result/checks/0/allowed", 1, "/result/checks/0/allowed: true or false"),
    ("policy.check", "result/checks/0/matched_rule", ABSENT, f"/result/checks/0: {DECISION}; "),
    (
        "policy.check",
        "result/checks/0",
        {"error": {"kind": "denied", "message": "m"}},
        "/result/checks/0/error/kind: one of",
    ),
    ("policy.check_resolved", "result/checks/0/real", ABSENT, "/result/checks/0: exactly one of"),
    ("policy.check_resolved", "result/checks/0/real", 1, "/result/checks/0/real: a string or null"),
    ("policy.explain", "result/checks/0/entries", ABSENT, "/result/checks/0: exactly one of"),
    (
        "policy.explain",
        "result/checks/0/entries/0/origin",
        "global",
        '/result/checks/0/entries/0/origin: one of "profile", "denyRead", "denyModify", ',
    ),
    (
        "policy.explain",
        "result/checks/0/entries/0/line",
        0,
        f"/result/checks/0/entries/0/line: {PLACE} or null; given: 0",
    ),
    (
        "policy.explain",
        "result/checks/0/entries/0/deciding",
        ABSENT,
        "/result/checks/0/entries/0/deciding: is missing; wanted: true or false",
    ),
    ("policy.audit", "result/events/0/op", "write", '/result/events/0/op: one of "read", "modify"'),
    ("policy.audit", "result/events/0/time", 1, "/result/events/0/time: a string; given: 1"),
    ("policy.audit", "result/events/0/profile_origin", ABSENT, "/result/events/0: exactly one of"),
]


ASKED: dict[str, Any] = {"id": "1", "paths": ["a"], "checks": [{}]}


@pytest.mark.parametrize("op", GOOD)
def test_the_messages_before_modification_are_valid(op: str) -> None:
    shape.check({**ASKED, "op": op}, GOOD[op], frozenset())


def deep(message: dict[str, Any], pointer: str, value: Any) -> dict[str, Any]:
    """Return a copy of the message with this value at the pointer.

    Numbers in the pointer are indexes of lists.
    """
    copied: dict[str, Any] = json.loads(json.dumps(message))
    holder: Any = copied
    *way, last = pointer.split("/")
    for step in way:
        holder = holder[int(step) if step.isdecimal() else step]
    if value is ABSENT:
        del holder[last]
    else:
        holder[int(last) if last.isdecimal() else last] = value
    return copied


@pytest.mark.parametrize(
    ("op", "pointer", "value", "words"), BAD, ids=[f"{op} {pointer}" for op, pointer, *_ in BAD]
)
def test_a_bad_answer_is_refused_and_the_place_is_named(
    op: str, pointer: str, value: Any, words: str
) -> None:
    said = wrong({**ASKED, "op": op}, deep(GOOD[op], pointer, value))
    assert said.startswith(words)


def test_the_form_of_a_time_is_the_matter_of_a_requirement() -> None:
    noon = deep(GOOD["policy.audit"], "result/events/0/time", "noon")
    shape.check({**ASKED, "op": "policy.audit"}, noon, frozenset())


@pytest.mark.parametrize("count", [0, 2])
@pytest.mark.parametrize("op", sorted(set(GOOD) - {"policy.load", "policy.resolve"}))
def test_too_few_or_too_many_answers_are_refused(op: str, count: int) -> None:
    of = "paths" if op in ("path.normalize", "glob.match") else "checks"
    said = f": a list of {count}, as `{of}`; given: 1"
    assert wrong({"id": "1", "op": op, of: [{}] * count}, GOOD[op]).endswith(said)
    if of == "paths":
        assert wrong({"id": "1", "op": op, "paths_b64": ["YQ=="] * count}, GOOD[op]).endswith(said)


CHECK = {"id": "1", "op": "policy.check", "policy": POLICY, "checks": CHECKS[:1]}
BAD_REQUESTS: dict[str, tuple[dict[str, Any], str, Any]] = {
    "no policy": (CHECK, "policy", ABSENT),
    "no checks": (CHECK, "checks", ABSENT),
    "an unknown case": (CHECK, "case", "insensitive"),
    "an unknown format": (CHECK, "policy/format", "toml"),
    "text and its base64 field": (CHECK, "policy/text_b64", ""),
    "an unknown field": (CHECK, "policy/name", "x"),
}


@pytest.mark.parametrize("name", BAD_REQUESTS)
def test_a_bad_request_is_refused(name: str) -> None:
    message, pointer, value = BAD_REQUESTS[name]
    assert op_schema("policy.check", "request").is_valid(message)
    assert not op_schema("policy.check", "request").is_valid(changed(message, pointer, value))
