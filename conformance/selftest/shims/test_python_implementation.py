"""Tests of the Python implementation without one of its contracts, and from another directory."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from selftest.tools import CONTRACTS, PYTHON_IMPLEMENTATION, ROOT, ask, converse, run

# For each contract a request that no other contract supports. In serve mode some of these are
# refused, which is not the same as `unsupported`.
QUESTIONS: dict[str, dict[str, Any]] = {
    "backend": {"op": "backend.probe", "backend": "none", "profile": "read-only"},
    "exec": {"op": "exec.format_env"},
    "module": {"op": "module.execute", "module_id": "a", "input": None, "enabled": False},
    "policy": {"op": "glob.match", "pattern": "*", "paths": ["a"]},
    "process": {"op": "process.script", "handles": [], "steps": []},
    "sbpl": {"op": "sbpl.compile", "rules": {}, "root": "/a"},
}
# For each contract the contracts that need it and are removed together with it.
BUILT_ON = {"exec": {"backend", "module", "process"}, "policy": {"backend", "sbpl"}}


def copied(folder: Path) -> Path:
    """Copy the Python implementation and its faults to another folder."""
    leave = shutil.ignore_patterns("__pycache__")
    for part in (PYTHON_IMPLEMENTATION.parent, PYTHON_IMPLEMENTATION.parents[1] / "faults"):
        shutil.copytree(part, folder / part.name, ignore=leave)
    return folder


def without(name: str, folder: Path) -> Path:
    """Copy the Python implementation without the folder of one contract."""
    shutil.rmtree(copied(folder) / PYTHON_IMPLEMENTATION.parent.name / name)
    return folder


def asked(shim: list[str | Path], *questions: dict[str, Any]) -> list[dict[str, Any]]:
    hello = {"op": "hello", "protocol": 1, "nonce": "n"}
    messages = [{"id": str(i), **each} for i, each in enumerate((hello, *questions))]
    answers: list[dict[str, Any]] = converse(shim, messages)
    return answers


def test_each_contract_has_its_question() -> None:
    assert set(QUESTIONS) == set(CONTRACTS)


@pytest.mark.parametrize("name", sorted(CONTRACTS))
def test_a_contract_that_is_away_leaves_the_others(name: str, tmp_path: Path) -> None:
    gone = {name} | BUILT_ON.get(name, set())
    shim = without(name, tmp_path) / PYTHON_IMPLEMENTATION.parent.name / PYTHON_IMPLEMENTATION.name
    hello, *answers = asked([sys.executable, "-I", "-S", shim], *QUESTIONS.values())
    declared = {each.split(".")[0] for each in hello["result"]["capabilities"]}
    assert declared & set(CONTRACTS) == set(CONTRACTS) - gone
    away = {
        name for name, answer in zip(QUESTIONS, answers, strict=True) if "unsupported" in answer
    }
    assert away == gone, answers


@pytest.mark.parametrize("name", sorted(CONTRACTS))
def test_faults_of_a_removed_contract_are_removed(name: str, tmp_path: Path) -> None:
    shim = without(name, tmp_path) / "faults" / "shim.py"
    done = run([sys.executable, "-I", "-S", shim, "--list"])
    assert done.returncode == 0, done.stderr
    left = {each["contract"] for each in json.loads(done.stdout)}
    assert left == set(CONTRACTS) - {name} - BUILT_ON.get(name, set())


MALFORMED = [
    *(b"", b"{", b"[1,]", b"[1 2]", b"-", b"1e", b'"abc', b"\xff", b"{} {}", b"nul"),
    *(b'{"a" 1}', b'{"a":1,}', b"{1:2}", b'{"\x01":1}', b'{"a":"\\x"}', b'{"a":"\\ud8'),
]


@pytest.mark.parametrize("text", MALFORMED)
def test_invalid_json_is_refused_with_a_message(text: bytes, tmp_path: Path) -> None:
    request, response = tmp_path / "request", tmp_path / "response"
    request.write_bytes(text)
    done = run([sys.executable, "-I", "-S", PYTHON_IMPLEMENTATION, "run", request, response])
    assert "Traceback" not in done.stderr
    answer = json.loads(response.read_text(encoding="utf-8"))
    assert answer["error"]["kind"] == "invalid_input"
    assert answer["error"]["message"].startswith("not")


def test_without_pyyaml_a_yaml_policy_is_unsupported(tmp_path: Path) -> None:
    shim = copied(tmp_path) / PYTHON_IMPLEMENTATION.parent.name / PYTHON_IMPLEMENTATION.name
    question = {"op": "policy.load", "text": "{}", "format": "yaml"}
    hello, answer = asked([sys.executable, "-I", "-S", shim], question)
    assert "policy.yaml" not in hello["result"]["capabilities"]
    assert answer.get("unsupported", {}).get("capability") == "policy.yaml", answer


def test_its_modules_run_when_it_is_started_by_a_relative_path(tmp_path: Path) -> None:
    module = tmp_path / "echo"
    module.write_text("#!/bin/sh\ncat\n")
    module.chmod(0o755)
    message = {"id": "1", "op": "module.execute", "module_id": "echo", "input": 1}
    message["extensions_root"] = str(tmp_path)
    shim: list[str | Path] = [sys.executable, PYTHON_IMPLEMENTATION.relative_to(ROOT)]
    assert ask(shim, message, tmp_path, cwd=ROOT) == {"id": "1", "result": {"value": 1}}
