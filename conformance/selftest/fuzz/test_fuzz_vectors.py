"""Promotion of a finding: vectors with the correct answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from contracts.policy import vectors
from contracts.policy.fuzzing.expected import vectors_of

GLOB = {"op": "glob.match", "request": {"pattern": "a/**", "paths": ["a", "ab", "../a"]}}
BAD_GLOB = {"op": "glob.match", "request": {"pattern_b64": "/w==", "paths": ["a"]}}
PATHS = {"op": "path.normalize", "request": {"paths_b64": ["Li9h", "YQBi"]}}
TEXT = '{"schemaVersion": 2, "kind": "Policy", "metadata": {"name": "p"}, "spec": %s}'
POLICY = {"format": "json", "text": TEXT % '{"denyRead": ["x"]}'}
CHECK = {
    "op": "policy.check",
    "request": {"policy": POLICY, "checks": [{"op": "read", "path": "./x"}]},
}
LOAD = {"op": "policy.load", "request": {"format": "json", "text": TEXT % "{},"}}
RESOLVE = {"op": "policy.resolve", "request": {"policy": POLICY}}
EXEC = {"op": "exec.run", "request": {"program": "true"}}


@pytest.mark.parametrize(
    ("case", "answers"),
    [
        (GLOB, [{"match": True}, {"match": False}, {"refused": True}]),
        (BAD_GLOB, [{"kind": "glob-refused"}]),
        (PATHS, [{"normal": "a"}, {"refused": True}]),
        (CHECK, [{"allowed": False, "matched_rule": "x", "normal": "x"}]),
        (LOAD, [{"loads": False}]),
        (RESOLVE, [{"read": ["**", "!x"], "modify": ["**"]}]),
        (EXEC, []),
    ],
    ids=lambda each: each["op"] if isinstance(each, dict) else "",
)
def test_a_case_becomes_vectors_with_the_right_answers(
    case: dict[str, Any], answers: list[dict[str, Any]]
) -> None:
    made = list(vectors_of(case))
    told = [{name: got[name] for name in want} for got, want in zip(made, answers, strict=True)]
    assert told == answers
    schema = json.loads((vectors.FOLDER / "vector.schema.json").read_text())
    for number, fields in enumerate(made, 9001):
        topic = fields["requirement"].rpartition("-")[0]
        entry = {
            "id": f"{topic.removeprefix('POLICY-')}-{number}",
            "why": "Found by fuzzing.",
            **fields,
        }
        Draft202012Validator(schema).validate({"topic": topic, "vectors": [entry]})


CHECKS = {
    "op": "policy.check",
    "request": {
        "policy": POLICY,
        "checks": [{"op": "read", "path": path} for path in ("./x", "a", "b", "c", "d", "x/y")],
    },
}
TWO = {"op": "policy.load", "request": {"format": "json", "text": TEXT % '{"a": 1, "b": 2}'}}


@pytest.mark.parametrize(
    ("case", "accused", "only"),
    [
        (
            GLOB,
            {"result": {"items": [{"match": True}, {"match": True}, {"error": {}}]}},
            [{"path": "ab", "match": False}],
        ),
        (PATHS, {"result": {"items": [{"path": "./a"}, {"error": {}}]}}, [{"normal": "a"}]),
        (
            CHECKS,
            {"result": {"checks": [{"allowed": True, "matched_rule": "**", "path": "x"}] * 6}},
            [{"path": name} for name in ("./x", "a", "b", "c", "d", "x/y")],
        ),
        (
            TWO,
            {"error": {"problems": [{"pointer": "/spec/a", "line": 1, "column": 1}]}},
            [{"loads": False, "problems": [{"pointer": "/spec/a"}, {"pointer": "/spec/b"}]}],
        ),
        (TWO, {"result": {"name": "p", "warnings": []}}, [{"loads": False}]),
        (
            {**LOAD, "request": POLICY},
            {"result": {"name": "q", "warnings": []}},
            [{"loads": True, "name": "p"}],
        ),
        # If the answer is invalid, or correct, no entry can be left out, so all are kept.
        (GLOB, {"result": {"items": 7}}, [{"path": "a"}, {"path": "ab"}, {"path": "../a"}]),
        (RESOLVE, {"result": None}, [{"kind": "resolve"}]),
        (GLOB, {"result": {"items": [{"match": True}, {"match": False}, {"error": {}}]}}, [{}] * 3),
    ],
)
def test_of_a_case_the_vectors_are_kept_that_the_accused_fails(
    case: dict[str, Any], accused: dict[str, Any], only: list[dict[str, Any]]
) -> None:
    made = list(vectors_of(case, accused))

    def named(got: Any, want: Any) -> Any:
        if isinstance(want, list):
            return [named(*pair) for pair in zip(got, want, strict=True)]
        return {n: named(got[n], want[n]) for n in want} if isinstance(want, dict) else got

    assert [named(got, want) for got, want in zip(made, only, strict=True)] == only
