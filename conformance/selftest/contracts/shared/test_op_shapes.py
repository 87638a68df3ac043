"""Requests and answers of the wrong shape are refused, and the message names the wrong place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from boxspec.errors import ShimBroke
from boxspec.judge.verdict import Failure
from boxspec.subject.client import known, shape
from boxspec.subject.client.strict import strict_json
from contracts.shared.runs import RunAnswer
from selftest.contracts.shared.wrong_messages import ABSENT, changed, wrong
from selftest.tools import op_schema

HELLO: dict[str, Any] = {"id": "h", "op": "hello", "protocol": 1, "nonce": "n"}
BYE: dict[str, Any] = {"id": "b", "op": "bye"}
FORMAT: dict[str, Any] = {
    "id": "f",
    "op": "exec.format_env",
    "env": {"clear_and_set": [["A", "1"]]},
}
RUN = {"id": "1", "op": "exec.run", "request": {"program": "true"}}
RESULT: dict[str, Any] = {
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
BAD_REQUESTS: dict[str, tuple[str, dict[str, Any], str, Any]] = {
    "no id": ("exec.run", RUN, "id", ABSENT),
    "a numeric id": ("exec.run", RUN, "id", 1),
    "no program": ("exec.run", RUN, "request/program", ABSENT),
    "program and its base64 field": ("exec.run", RUN, "request/program_b64", "dHJ1ZQ=="),
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
ERROR = {"kind": "execution", "message": "failed to spawn"}
UINT = "an integer from 0 to 18446744073709551615"
LONG = "an integer from 1048577 to 18446744073709551615, for a shorter stream is given whole"
DIGEST = {"bytes": 1_048_577, "sha256": "0" * 64, "head_b64": "", "tail_b64": ""}
# For each label: the place in the answer, the wrong value, and the expected message.
BAD_ANSWERS: dict[str, tuple[str, Any, str]] = {
    "no id": ("id", ABSENT, "/id: is null; wanted: '1', the id of the request"),
    "null as id of a result": ("id", None, "/id: is null; wanted: '1', the id of the request"),
    "another id": ("id", "2", "/id: is '2'; wanted: '1', the id of the request"),
    "nothing": ("result", ABSENT, "/: exactly one of result, unsupported, error; given: []"),
    "result and error": (
        "error",
        ERROR,
        "/: exactly one of result, unsupported, error; given: ['result', 'error']",
    ),
    "success as text": ("result/success", "true", '/result/success: true or false; given: "true"'),
    "no success": ("result/success", ABSENT, "/result/success: is missing; wanted: true or false"),
    "no stdout": (
        "result/stdout",
        ABSENT,
        "/result: exactly one of stdout, stdout_b64; given: []",
    ),
    "stdout and its base64 field": (
        "result/stdout_b64",
        "",
        "/result: exactly one of stdout, stdout_b64; given: ['stdout', 'stdout_b64']",
    ),
    "stdout as a list": (
        "result/stdout",
        [],
        "/result/stdout: a string, or the digest of a long one; given: []",
    ),
    "a digest without length": (
        "result/stdout",
        {name: value for name, value in DIGEST.items() if name != "bytes"},
        f"/result/stdout/bytes: is missing; wanted: {LONG}",
    ),
    "a digest of a short text": (
        "result/stdout",
        {**DIGEST, "bytes": 1_048_576},
        f"/result/stdout/bytes: {LONG}; given: 1048576",
    ),
    "a digest of half a hash": (
        "result/stdout",
        {**DIGEST, "sha256": "0" * 32},
        f'/result/stdout/sha256: 64 hexadecimal digits; given: "{"0" * 32}"',
    ),
    "an exit code above 255": (
        "result/exit_code",
        256,
        "/result/exit_code: an integer from 0 to 255 or null; given: 256",
    ),
    "a negative exit code": (
        "result/exit_code",
        -9,
        "/result/exit_code: an integer from 0 to 255 or null; given: -9",
    ),
    "no exit code": (
        "result/exit_code",
        ABSENT,
        "/result/exit_code: is missing; wanted: an integer from 0 to 255 or null",
    ),
    "no output": ("result/output", ABSENT, "/result/output: is missing; wanted: null"),
    "a boolean as an integer": (
        "result/duration_ms",
        True,
        f"/result/duration_ms: {UINT}; given: true",
    ),
    "an integer above 2^64-1": (
        "result/group_left",
        2**64,
        f"/result/group_left: {UINT}; given: 18446744073709551616",
    ),
    "an unknown termination": (
        "result/termination",
        "killed",
        '/result/termination: one of "exit", "signal", "timeout", "parent_signal", "cap", "stdin";'
        ' given: "killed"',
    ),
    "a termination that is a list": ("result/termination", [], "/result/termination: one of"),
    "a signal by number": (
        "result/signal",
        9,
        "/result/signal: a name like SIGKILL, or null; given: 9",
    ),
}
BAD_ERRORS: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown kind": (
        {"error": {"kind": "other", "message": "x"}},
        '/error/kind: one of "execution", "policy_denied", "invalid_input", "io"; given: "other"',
    ),
    "no message": (
        {"error": {"kind": "io"}},
        "/error/message: is missing; wanted: a string",
    ),
    "a line before the first": (
        {"error": {**ERROR, "problems": [{"pointer": "", "message": "", "line": 0}]}},
        "/error/problems/0/line: an integer from 1 to 18446744073709551615; given: 0",
    ),
    "unsupported without name": (
        {"unsupported": {"why": "no"}},
        "/unsupported/capability: is missing; wanted: a string",
    ),
    "a result that is a list": ({"result": []}, "/result: an object; given: []"),
}
# Answers that the shape check must accept although they may be wrong, because a requirement judges
# them.
JUDGED_ELSEWHERE: dict[str, tuple[str, Any]] = {
    "an output": ("result/output", {}),
    "half a surrogate pair": ("result/stdout", "\ud800"),
    "an unknown field": ("result/rusage", {"maxrss": 1.5}),
    "a digest of a long text": ("result/stdout", DIGEST),
}


def test_an_error_may_have_no_id() -> None:
    error = {"id": None, "error": {"kind": "invalid_input", "message": "not JSON"}}
    op_schema("envelope", "answer").validate(error)
    shape.envelope(error)
    with pytest.raises(shape.BadShape, match=r"^/error: is missing"):
        shape.envelope({"id": None, "result": {}})


def test_the_messages_before_modification_are_valid() -> None:
    op_schema("exec.run", "request").validate(RUN)
    shape.check(RUN, RESULT, frozenset())


@pytest.mark.parametrize("name", BAD_REQUESTS)
def test_a_bad_request_is_refused(name: str) -> None:
    op, message, pointer, value = BAD_REQUESTS[name]
    assert not op_schema(op, "request").is_valid(changed(message, pointer, value))


@pytest.mark.parametrize("name", BAD_ANSWERS)
def test_a_bad_answer_is_refused_and_the_place_is_named(name: str) -> None:
    pointer, value, words = BAD_ANSWERS[name]
    assert wrong(RUN, changed(RESULT, pointer, value)).startswith(words)


@pytest.mark.parametrize("name", BAD_ERRORS)
def test_a_bad_error_is_refused_whatever_the_operation(name: str) -> None:
    answer, words = BAD_ERRORS[name]
    for op in ("exec.run", "sbpl.wrap", "no.such.op"):
        assert wrong({"id": "1", "op": op}, {"id": "1", **answer}) == words


@pytest.mark.parametrize("name", JUDGED_ELSEWHERE)
def test_answers_that_a_requirement_judges_pass_the_shape_check(name: str) -> None:
    shape.check(RUN, changed(RESULT, *JUDGED_ELSEWHERE[name]), frozenset())


def test_a_digest_in_place_of_a_short_text_is_a_failure_of_the_subject() -> None:
    answer = RunAnswer(changed(RESULT, "result/stdout", {**DIGEST, "bytes": 5_000_000}))
    with pytest.raises(Failure, match="stdout: expected a short text, got 5000000 bytes, as a dig"):
        answer.stdout.decode()
    assert answer.stdout_len == 5_000_000


def test_half_a_surrogate_pair_hides_nothing() -> None:
    half = {"id": "1", "error": {"kind": "execution", "message": "\ud800"}}
    shape.check(RUN, half, frozenset())
    bad = changed(half, "error/kind", "\udfff")
    assert wrong(RUN, bad).startswith("/error/kind: one of ")
    bad = changed(half, "error/problems", [{"pointer": "\ud800", "message": "\ud800", "line": 0}])
    assert wrong(RUN, bad).startswith("/error/problems/0/line: ")


def test_a_wrong_hello_is_named() -> None:
    asked = {"id": "1", "op": "hello"}
    result = {
        "protocol": 1,
        "nonce": "n",
        "pid": 1,
        "implementation": {"name": "n", "version": "1"},
        "capabilities": [],
    }
    answer = {"id": "1", "result": result}
    shape.check(asked, answer, frozenset())
    for pointer, value, words in (
        ("result/protocol", 2, "/result/protocol: 1; given: 2"),
        ("result/pid", 0, "/result/pid: an integer from 1 to 18446744073709551615; given: 0"),
        ("result/limits", {"max_line_bytes": "1"}, "/result/limits/max_line_bytes: an integer "),
        ("result/limits", {"max_integer": "-1"}, "/result/limits/max_integer: an integer as a str"),
        ("result/constants", {"a/b~": -1}, "/result/constants/a~1b~0: an integer from 0 to "),
    ):
        assert wrong(asked, changed(answer, pointer, value)).startswith(words)


@pytest.mark.parametrize("answer", ["text", [], None, 1.5], ids=repr)
def test_an_answer_that_is_no_object_is_refused(answer: Any) -> None:
    assert wrong(RUN, answer) == f"/: an object; given: {json.dumps(answer)}"


TERMINATION: dict[str, Any] = {
    "termination": "exit",
    "signal": None,
    "detached_writers": False,
    "group_left": 0,
    "pending_signals": [],
}


@pytest.mark.parametrize("capability", ["exec.termination", "exec.cap"])
def test_a_declared_capability_makes_its_fields_mandatory(capability: str) -> None:
    fields: dict[str, Any] = (
        TERMINATION if capability == "exec.termination" else {"truncated": False}
    )
    run = {**dict(RESULT["result"]), **fields}
    batch = {"id": "1", "op": "exec.batch", "runs": [{}]}
    for name in fields:
        less = {key: value for key, value in run.items() if key != name}
        for message, pointer, result in (
            (RUN, "/result", less),
            (batch, "/result/runs/0/result", {"runs": [{"result": less}]}),
        ):
            answer = {"id": "1", "result": result}
            shape.check(message, answer, frozenset())
            said = f"{pointer}/{name}: is missing, {capability} is declared"
            assert wrong(message, answer, capability) == said
    shape.check(RUN, {"id": "1", "result": run}, frozenset({capability}))
    shape.check(batch, {"id": "1", "result": {"runs": [{"result": run}]}}, frozenset({capability}))


def test_a_batch_has_one_entry_for_each_run() -> None:
    message = {"id": "1", "op": "exec.batch", "runs": [{}, {}]}
    said = wrong(message, {"id": "1", "result": {"runs": [{"error": ERROR}]}})
    assert said == "/result/runs: a list of 2, as `runs`; given: 1"
    said = wrong(message, {"id": "1", "result": {"runs": [{"error": ERROR}, {}]}})
    assert said == "/result/runs/1: exactly one of result, error; given: []"


def test_too_deeply_nested_answers_are_refused() -> None:
    deep: list[Any] = []
    for _ in range(600):
        deep = [deep]
    assert wrong(RUN, changed(RESULT, "result/stderr", deep)).startswith("/: ")
    shape.check(RUN, changed(RESULT, "result/more", deep), frozenset())


@pytest.mark.parametrize(
    "number", ["1.0", "0.0", "-0.0", "1e3", "1E400", "NaN", "Infinity", "-Infinity"]
)
def test_an_integer_has_no_fraction_and_no_exponent(number: str) -> None:
    with pytest.raises(ShimBroke, match=f"is not JSON that the protocol allows: {number}"):
        strict_json(f'{{"exit_code": {number}}}'.encode(), "the answer")


@pytest.mark.parametrize("number", ["1.0", "-0.0", "1.7976931348623157e+308"])
def test_the_value_of_a_module_may_have_such_a_number(number: str) -> None:
    answer = f'{{"id": "1", "result": {{"value": [{number}]}}}}'
    assert strict_json(answer.encode(), "the answer")["result"]["value"] == [float(number)]
    beside = f'{{"id": "1", "result": {{"exit_code": {number}, "value": [1.5]}}}}'
    with pytest.raises(ShimBroke, match="is an integer with a fraction"):
        strict_json(beside.encode(), "the answer")


def test_a_fraction_in_an_unused_field_is_ignored() -> None:
    assert strict_json(b'{"load": 1.5}', "the answer") == {"load": 1.5}


UNKNOWN = {"took_us": 4711}
# Results with unknown fields at several depths.
WITH_MORE: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "hello": (
        "hello",
        {**UNKNOWN, "implementation": {"name": "x", **UNKNOWN}, "constants": {"grace_ms": 5000}},
        {"implementation": {"name": "x"}, "constants": {"grace_ms": 5000}},
    ),
    "a batch": (
        "exec.batch",
        {"runs": [{"result": {**RESULT["result"], **UNKNOWN}}, {"error": {**UNKNOWN}}]},
        {"runs": [{"result": RESULT["result"]}, {"error": {}}]},
    ),
    "an empty result": ("bye", UNKNOWN, UNKNOWN),
}


@pytest.mark.parametrize("what", WITH_MORE)
def test_only_known_fields_of_answers_are_compared(what: str) -> None:
    op, result, wanted = WITH_MORE[what]
    assert known.result(op, result) == wanted
