"""Tests of the schemas of the operations: they accept real transcripts and refuse bad ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import meta

from boxspec.subject.client import schema
from boxspec.subject.contract import every
from selftest.tools import (
    OP_SCHEMAS,
    PROTOCOL,
    PYTHON_IMPLEMENTATION,
    REFERENCE,
    ask,
    converse,
    fenced,
    op_schema,
)

HELLO: dict[str, Any] = {"id": "h", "op": "hello", "protocol": 1, "nonce": "n"}
BYE: dict[str, Any] = {"id": "b", "op": "bye"}
FORMAT: dict[str, Any] = {
    "id": "f",
    "op": "exec.format_env",
    "env": {"clear_and_set": [["A", "1"]]},
}
RUNS: dict[str, dict[str, Any]] = {
    "plain": {"program": "true"},
    "exit code": {"program": "sh", "args": ["-c", "echo out; echo err >&2; exit 3"]},
    "own signal": {"program": "sh", "args": ["-c", "kill -9 $$"]},
    "timeout": {"program": "sleep", "args": ["60"], "timeout_ms": 50},
    "stdin text": {"program": "cat", "stdin": {"bytes": "hi"}},
    "stdin bytes": {"program": "cat", "stdin": {"bytes_b64": "/wD+"}},
    "bytes": {"program_b64": "cHJpbnRm", "args_b64": ["/w=="]},
    "environment": {"program": "env", "env": {"clear_and_set": [["A", "1"]]}},
    "digest": {"program": "head", "args": ["-c", "1048577", "/dev/zero"]},
    "spawn failure": {"program": "no-such-program"},
}
DECLARED = frozenset(name for contract in every() for name in contract.capabilities)
SHIMS = {"reference": REFERENCE, "python": PYTHON_IMPLEMENTATION}


@pytest.fixture(params=SHIMS)
def shim(request: pytest.FixtureRequest) -> Path:
    return SHIMS[request.param]


@pytest.mark.parametrize("path", OP_SCHEMAS, ids=lambda path: path.stem)
def test_a_schema_is_one(path: Path) -> None:
    document = json.loads(path.read_text())
    meta.validate(document)
    assert document["$id"] == f"urn:boxspec:ops:{path.stem}"
    # Compiling a schema detects a reference to a definition that does not exist.
    if schema.is_operation(path.stem):
        schema.of_request(path.stem)
        schema.of_answer(path.stem, DECLARED)


def test_each_operation_has_a_schema_and_each_schema_an_operation() -> None:
    declared = {op for contract in every() for op in contract.operations}
    assert {name for name in schema.documents() if schema.is_operation(name)} == {
        *declared,
        "hello",
        "bye",
    }


def test_a_schema_names_only_capabilities_that_a_contract_declares() -> None:
    named = {
        name.removeprefix(schema.DECLARED)
        for document in schema.documents().values()
        for name in document["$defs"]
        if name.startswith(schema.DECLARED)
    }
    assert named == {"exec.termination", "exec.cap", "backend.scan"}
    assert named <= DECLARED


@pytest.mark.parametrize("name", RUNS)
def test_a_run_and_its_answer_follow_the_schema(shim: Path, name: str, tmp_path: Path) -> None:
    message = {"id": name, "op": "exec.run", "request": RUNS[name]}
    op_schema("exec.run", "request").validate(message)
    answer = ask([shim], message, tmp_path)
    op_schema("exec.run", "answer").validate(answer)
    assert answer["id"] == name
    assert ("error" in answer) == (name == "spawn failure")


def test_a_stream_above_a_mebibyte_is_a_digest(shim: Path, tmp_path: Path) -> None:
    answer = ask([shim], {"id": "1", "op": "exec.run", "request": RUNS["digest"]}, tmp_path)
    assert answer["result"]["stdout"]["bytes"] == 1048577


def test_a_batch_and_its_answer_follow_the_schema(shim: Path, tmp_path: Path) -> None:
    runs = [{"after_ms": 0, "request": request} for request in RUNS.values()]
    message = {"id": "b", "op": "exec.batch", "runs": runs}
    op_schema("exec.batch", "request").validate(message)
    answer = ask([shim], message, tmp_path)
    op_schema("exec.batch", "answer").validate(answer)
    kinds = ["error" if "error" in entry else "result" for entry in answer["result"]["runs"]]
    assert kinds == ["error" if name == "spawn failure" else "result" for name in RUNS]


def test_a_serve_session_follows_the_schemas(shim: Path) -> None:
    messages = [HELLO, FORMAT, BYE]
    for message, answer in zip(messages, converse([shim], messages), strict=True):
        op_schema(message["op"], "request").validate(message)
        op_schema(message["op"], "answer").validate(answer)
        assert "result" in answer
        assert answer["id"] == message["id"]


def test_a_run_is_refused_in_serve(shim: Path) -> None:
    message = {"id": "1", "op": "exec.run", "request": {"program": "true"}}
    answer = converse([shim], [message, BYE])[0]
    op_schema("exec.run", "answer").validate(answer)
    assert answer["error"]["kind"] == "invalid_input"


def test_an_unknown_operation_is_unsupported(shim: Path, tmp_path: Path) -> None:
    answer = ask([shim], {"id": "1", "op": "no.such.op"}, tmp_path)
    assert answer["unsupported"]["capability"] == "no.such.op"


def test_the_examples_of_the_page_follow_the_schemas() -> None:
    asked = []
    for block in fenced(PROTOCOL, "json"):
        lines = [json.loads(line) for line in block.splitlines()]
        if "op" not in lines[0]:
            for line in lines:
                op_schema("envelope", "answer").validate(line)
            continue
        for request, answer in zip(lines[::2], lines[1::2], strict=True):
            op_schema(request["op"], "request").validate(request)
            op_schema(request["op"], "answer").validate(answer)
            assert request["id"] == answer["id"]
            asked.append(request["op"])
    # test_policy_schemas.py has a table of these operations, which are similar to policy.check.
    shared = {"envelope", "policies", "backends"}
    missing = {"policy.check_resolved", "policy.explain", "policy.audit", *shared}
    assert {path.stem for path in OP_SCHEMAS} - set(asked) == missing
