"""The schemas of the operations: real transcripts pass, bad ones are refused."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from selftest.tools import OP_SCHEMAS, PROTOCOL, REFERENCE, TWIN, ask, converse, fenced, op_schema

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
SHIMS = {"reference": REFERENCE, "twin": TWIN}


@pytest.fixture(params=SHIMS)
def shim(request: pytest.FixtureRequest) -> Path:
    return SHIMS[request.param]


@pytest.mark.parametrize("path", OP_SCHEMAS, ids=lambda path: path.stem)
def test_a_schema_is_one(path: Path) -> None:
    document = json.loads(path.read_text())
    Draft202012Validator.check_schema(document)
    assert document["$id"] == f"urn:boxspec:ops:{path.stem}"


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
    # Those that differ from policy.check in little are in a table there.
    missing = {"policy.check_resolved", "policy.explain", "policy.audit", "envelope"}
    assert {path.stem for path in OP_SCHEMAS} - set(asked) == missing


RUN = {"id": "1", "op": "exec.run", "request": {"program": "true"}}
RESULT = {
    "id": "1",
    "result": {
        "success": True,
        "stdout": "",
        "stderr": "",
        "exit_code": 0,
        "duration_ms": 1,
        "output": None,
    },
}
ABSENT = object()
BAD_REQUESTS: dict[str, tuple[str, dict[str, Any], str, Any]] = {
    "no id": ("exec.run", RUN, "id", ABSENT),
    "a numeric id": ("exec.run", RUN, "id", 1),
    "no program": ("exec.run", RUN, "request/program", ABSENT),
    "program and its twin": ("exec.run", RUN, "request/program_b64", "dHJ1ZQ=="),
    "null for an absent field": ("exec.run", RUN, "request/timeout_ms", None),
    "a negative timeout": ("exec.run", RUN, "request/timeout_ms", -1),
    "a timeout above 2^64-1": ("exec.run", RUN, "request/timeout_ms", 2**64),
    "a fractional timeout": ("exec.run", RUN, "request/timeout_ms", 1.5),
    "an unknown field": ("exec.run", RUN, "request/shell", True),
    "an unknown field outside": ("exec.run", RUN, "priority", 1),
    "base64 without padding": ("exec.run", RUN, "request/args_b64", ["YQ"]),
    "an unknown stdin": ("exec.run", RUN, "request/stdin", "pipe"),
    "stdin as text and bytes": (
        "exec.run",
        RUN,
        "request/stdin",
        {"bytes": "a", "bytes_b64": "YQ=="},
    ),
    "half a pair": ("exec.run", RUN, "request/env", {"clear_and_set": [["A"]]}),
    "another protocol": ("hello", HELLO, "protocol", 2),
    "hello without nonce": ("hello", HELLO, "nonce", ABSENT),
    "an empty batch": ("exec.batch", {"id": "1", "op": "exec.batch"}, "runs", []),
    "format_env without env": ("exec.format_env", FORMAT, "env", ABSENT),
    "bye with more": ("bye", BYE, "status", 0),
}
BAD_ANSWERS: dict[str, tuple[str, dict[str, Any], str, Any]] = {
    "no id": ("exec.run", RESULT, "id", ABSENT),
    "null as id of a result": ("exec.run", RESULT, "id", None),
    "nothing": ("exec.run", RESULT, "result", ABSENT),
    "result and error": (
        "exec.run",
        RESULT,
        "error",
        {"kind": "execution", "message": "failed to spawn"},
    ),
    "an unknown kind": ("exec.run", {"id": "1"}, "error", {"kind": "other", "message": "x"}),
    "unsupported without name": ("exec.run", {"id": "1"}, "unsupported", {"why": "no"}),
    "success as text": ("exec.run", RESULT, "result/success", "true"),
    "no stdout": ("exec.run", RESULT, "result/stdout", ABSENT),
    "stdout and its twin": ("exec.run", RESULT, "result/stdout_b64", ""),
    "a digest without length": (
        "exec.run",
        RESULT,
        "result/stdout",
        {"sha256": "0" * 64, "head_b64": "", "tail_b64": ""},
    ),
    "an exit code above 255": ("exec.run", RESULT, "result/exit_code", 256),
    "a negative exit code": ("exec.run", RESULT, "result/exit_code", -9),
    "no exit code": ("exec.run", RESULT, "result/exit_code", ABSENT),
    "an output": ("exec.run", RESULT, "result/output", {}),
    "an unknown termination": ("exec.run", RESULT, "result/termination", "killed"),
    "a signal by number": ("exec.run", RESULT, "result/signal", 9),
}


def changed(message: dict[str, Any], pointer: str, value: Any) -> dict[str, Any]:
    copied = copy.deepcopy(message)
    *way, last = pointer.split("/")
    holder = copied
    for step in way:
        holder = holder[step]
    if value is ABSENT:
        del holder[last]
    else:
        holder[last] = value
    return copied


def test_an_error_may_stand_without_an_id() -> None:
    error = {"id": None, "error": {"kind": "invalid_input", "message": "not JSON"}}
    op_schema("envelope", "answer").validate(error)


def test_what_the_bad_ones_are_made_from_is_good() -> None:
    op_schema("exec.run", "request").validate(RUN)
    op_schema("exec.run", "answer").validate(RESULT)


@pytest.mark.parametrize("name", BAD_REQUESTS)
def test_a_bad_request_is_refused(name: str) -> None:
    op, message, pointer, value = BAD_REQUESTS[name]
    assert not op_schema(op, "request").is_valid(changed(message, pointer, value))


@pytest.mark.parametrize("name", BAD_ANSWERS)
def test_a_bad_answer_is_refused(name: str) -> None:
    op, message, pointer, value = BAD_ANSWERS[name]
    assert not op_schema(op, "answer").is_valid(changed(message, pointer, value))
