"""The shim at the end of the protocol page runs unchanged, and the kit accepts it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from selftest.tools import PROTOCOL, ask, boxspec, converse, named_block, op_schema

pytestmark = pytest.mark.turns(6)

PAGE = PROTOCOL


@pytest.fixture
def example(tmp_path: Path) -> Path:
    path = tmp_path / "subprocess-shim"
    path.write_text(named_block(PAGE, "subprocess-shim"))
    path.chmod(0o755)
    return path


RUNS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "success": ({"program": "true"}, {"success": True, "exit_code": 0}),
    "failure": ({"program": "sh", "args": ["-c", "exit 3"]}, {"success": False, "exit_code": 3}),
    "stdin": ({"program": "cat", "stdin": {"bytes": "hi"}}, {"stdout": "hi"}),
    "bytes": (
        {"program_b64": "cHJpbnRm", "args_b64": ["/w=="]},
        {"stdout": "\N{REPLACEMENT CHARACTER}"},
    ),
    "environment": (
        {"program": "env", "env": {"clear_and_set": [["A", "1"]]}},
        {"stdout": "A=1\n"},
    ),
    "folder": ({"program": "pwd", "current_dir": "/"}, {"stdout": "/\n"}),
    "deadline": (
        {"program": "sleep", "args": ["60"], "timeout_ms": 20},
        {"success": False, "exit_code": None, "stderr": "process timed out"},
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_the_example_runs_programs(example: Path, name: str, tmp_path: Path) -> None:
    request, expected = RUNS[name]
    answer = ask([example], {"id": "1", "op": "exec.run", "request": request}, tmp_path)
    op_schema("exec.run", "answer").validate(answer)
    assert {field: answer["result"][field] for field in expected} == expected


@pytest.mark.parametrize(
    ("more", "capability"),
    [
        ({"request": {"program": "true", "max_output_bytes": 1}}, "exec.cap"),
        ({"request": {"program": "true", "debug": True}}, "exec.debug"),
        ({"sandbox": {"refuse": "no"}, "request": {"program": "true"}}, "exec.sandbox"),
    ],
)
def test_the_example_refuses_undeclared_operations(
    example: Path, more: dict[str, Any], capability: str, tmp_path: Path
) -> None:
    answer = ask([example], {"id": "1", "op": "exec.run", **more}, tmp_path)
    assert answer["unsupported"]["capability"] == capability


def test_the_example_serves(example: Path) -> None:
    hello = {"id": "1", "op": "hello", "protocol": 1, "nonce": "n"}
    first, last = converse([example], [hello, {"id": "2", "op": "bye"}])
    op_schema("hello", "answer").validate(first)
    assert last == {"id": "2", "result": {}}


def test_the_kit_takes_the_example(example: Path) -> None:
    done = boxspec("smoke", "--shim", example)
    assert done.returncode == 0, done.stdout + done.stderr
