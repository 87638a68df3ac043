"""Tests of wrong calls of the reference shim: one clear line, exit status 2, and an error in
RESPONSE if possible."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from selftest.tools import REFERENCE, Done, op_schema, run

RUN = '{"id": "1", "op": "exec.run", "request": {"program": "true"%s}%s}'
BAD: dict[str, tuple[str, str]] = {
    "not JSON": ("program: true\n", "JSON"),
    "an empty file": ("", "JSON"),
    "half a request": (RUN[:40], "JSON"),
    "two requests": (RUN % ("", "") + RUN % ("", ""), "JSON"),
    "a list": ("[]", "object"),
    "no operation": ('{"id": "1"}', "op"),
    "no id": ('{"op": "exec.run", "request": {"program": "true"}}', "id"),
    "no program": ('{"id": "1", "op": "exec.run", "request": {}}', "program"),
    "an unknown field": (RUN % (', "shell": true', ""), "shell"),
    "an unknown field outside": (RUN % ("", ', "priority": 1'), "priority"),
    "a field twice": (RUN % (', "program": "false"', ""), "twice"),
    "a negative timeout": (RUN % (', "timeout_ms": -1', ""), "timeout_ms"),
    "a fractional timeout": (RUN % (', "timeout_ms": 1.5', ""), "timeout_ms"),
    "a timeout above 2^64-1": (RUN % (', "timeout_ms": 18446744073709551616', ""), "timeout_ms"),
    "a timeout as text": (RUN % (', "timeout_ms": "5"', ""), "timeout_ms"),
    "null for a timeout": (RUN % (', "timeout_ms": null', ""), "timeout_ms"),
    "an unknown stdin": (RUN % (', "stdin": "pipe"', ""), "stdin"),
    "an argument that is not a string": (RUN % (', "args": [1]', ""), "args"),
    "a program and its base64 field": (RUN % (', "program_b64": "dHJ1ZQ=="', ""), "program"),
    "broken base64": (RUN % (', "args_b64": ["YQ"]', ""), "args_b64"),
}


def one_line(done: Done) -> str:
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.endswith("\n")
    return done.stderr


@pytest.mark.parametrize("name", BAD)
def test_a_bad_request_is_one_line_and_exit_2(name: str, tmp_path: Path) -> None:
    text, named = BAD[name]
    request, response = tmp_path / "request.json", tmp_path / "response.json"
    request.write_text(text)
    assert named in one_line(run([REFERENCE, "run", request, response]))
    answer = json.loads(response.read_text())
    assert answer["error"]["kind"] == "invalid_input"
    assert named in json.dumps(answer["error"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["request.json", "response.json"]


def test_text_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    request, response = tmp_path / "request.json", tmp_path / "response.json"
    request.write_bytes(b'{"id": "1", "op": "exec.run", "request": {"program": "\xff"}}')
    one_line(run([REFERENCE, "run", request, response]))
    assert json.loads(response.read_text())["error"]["kind"] == "invalid_input"


def test_a_problem_points_at_its_place(tmp_path: Path) -> None:
    request, response = tmp_path / "request.json", tmp_path / "response.json"
    request.write_text(RUN % (', "timeout_ms": -1', ""))
    run([REFERENCE, "run", request, response])
    answer = json.loads(response.read_text())
    op_schema("exec.run", "answer").validate(answer)
    assert [problem["pointer"] for problem in answer["error"]["problems"]] == [
        "/request/timeout_ms"
    ]


def test_a_missing_request_file_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "no-such.json"
    assert str(missing) in one_line(run([REFERENCE, "run", missing, tmp_path / "response.json"]))


@pytest.mark.parametrize("kind", ["a folder", "in a missing folder"])
def test_a_response_that_cannot_be_written_is_named(kind: str, tmp_path: Path) -> None:
    request = tmp_path / "request.json"
    request.write_text(RUN % ("", ""))
    response = tmp_path / "folder" if kind == "a folder" else tmp_path / "missing" / "response"
    if kind == "a folder":
        response.mkdir()
    assert str(response) in one_line(run([REFERENCE, "run", request, response]))
    assert {path.name for path in tmp_path.iterdir()} <= {"request.json", "folder"}


@pytest.mark.parametrize("words", [[], ["no-such-verb"], ["run"], ["run", "only-one"]])
def test_a_wrong_command_line_is_refused(words: list[str]) -> None:
    done = run([REFERENCE, *words])
    assert done.returncode == 2
    assert done.stderr != ""
    assert done.stdout == ""


def test_serve_answers_a_bad_line_and_goes_on() -> None:
    lines = ["no JSON", '{"id": "2", "op": "bye"}']
    done = run([REFERENCE, "serve"], stdin="".join(line + "\n" for line in lines))
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert first["error"]["kind"] == "invalid_input"
    assert second == {"id": "2", "result": {}}
    assert done.returncode == 0


def test_serve_that_cannot_write_names_the_reason() -> None:
    script = f'echo \'{{"id": "1", "op": "bye"}}\' | {REFERENCE} serve >/dev/full'
    assert "No space left on device" in one_line(run(["sh", "-c", script]))


def test_serve_that_is_out_of_memory_reports_it() -> None:
    script = f"ulimit -v 60000; {REFERENCE} serve"
    line = '{"id": "1", "op": "' + "x" * 50_000_000
    assert "Cannot allocate memory" in one_line(run(["sh", "-c", script], stdin=line))
