"""Tests of inside.yaml, which lists what a launcher changes for tests inside a sandbox, and of the
conditions of such a run."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from boxspec.judge.requirements import load
from boxspec.places import CONTRACTS
from contracts.shared.inside import Change, changes
from selftest.tools import PYTHON_IMPLEMENTATION, REFERENCE, boxspec

TABLES = sorted(path.parent.name for path in CONTRACTS.glob("*/inside.yaml"))
ENTRIES = [(name, each) for name in TABLES for each in changes(name)]


@cache
def requirements_by_test(contract: str) -> dict[str, set[str]]:
    """Return, for each test of a contract, the requirements that its `@requires` names."""
    found: dict[str, set[str]] = {}
    for path in (CONTRACTS / contract).glob("test_*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                found[node.name] = {id_ for each in node.decorator_list for id_ in _ids(each)}
    return found


def _ids(decorator: ast.expr) -> list[str]:
    named = isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "requires"
    if not named or not isinstance(decorator, ast.Call):
        return []
    return [str(each.value) for each in decorator.args if isinstance(each, ast.Constant)]


def test_there_is_a_table() -> None:
    assert "exec" in TABLES


@pytest.mark.parametrize(
    ("contract", "entry"),
    ENTRIES,
    ids=[f"{each.requirement}-{each.tests[0]}" for _, each in ENTRIES],
)
def test_an_entry_names_a_requirement_and_tests_of_it(contract: str, entry: Change) -> None:
    known = requirements_by_test(contract)
    assert entry.requirement in load()
    for name in (*(each.partition("[")[0] for each in entry.tests), entry.instead):
        assert entry.requirement in known.get(name, set()), name


@pytest.mark.parametrize("contract", TABLES)
def test_each_replacing_test_is_named_by_an_entry(contract: str) -> None:
    # Each test of test_inside*.py must have an entry; otherwise its requirement would be tested by
    # this test and by the ordinary one.
    files = (CONTRACTS / contract).glob("test_inside*.py")
    written = [node for file in files for node in ast.parse(file.read_text("utf-8")).body]
    names = [node.name for node in written if isinstance(node, ast.FunctionDef)]
    tests = [name for name in names if name.startswith("test_")]
    asked = {each.requirement for each in changes(contract)}
    assert all(requirements_by_test(contract)[name] <= asked for name in tests)


def test_a_run_that_is_not_confined_is_no_run_inside() -> None:
    # The backend `none` declares that it confines nothing, so this is not a run inside a sandbox.
    done = boxspec("run", "--contract", "exec", "--topic", "EXEC-REQUEST", "--backend", "none")
    assert done.returncode == 2
    assert "it confines nothing here" in done.stderr


BARE = """\
#!/usr/bin/env python3
import json, os, sys
if sys.argv[1] == "run":
    with open(sys.argv[2]) as file:
        message = json.load(file)
    message.pop("backend", None)
    sys.argv[2] += ".bare"
    with open(sys.argv[2], "w") as file:
        json.dump(message, file)
os.execv("{reference}", ["{reference}", *sys.argv[1:]])
"""


def test_a_shim_that_forgets_the_sandbox_is_detected_by_its_write(tmp_path: Path) -> None:
    shim = tmp_path / "bare"
    shim.write_text(BARE.replace("{reference}", str(REFERENCE)))
    shim.chmod(0o755)
    asked = ("run", "--contract", "exec", "--topic", "EXEC-REQUEST", "--backend", "landlock")
    done = boxspec(*asked, "--shim", shim)
    assert done.returncode == 2
    assert "a run inside wrote to" in done.stdout + done.stderr


def test_an_unknown_backend_is_bad_usage() -> None:
    done = boxspec("run", "--contract", "exec", "--topic", "EXEC-REQUEST", "--backend", "nobody")
    assert done.returncode == 2
    assert "the shim has no such backend" in done.stdout + done.stderr


def test_a_shim_without_exec_backends_does_not_run_inside_tests() -> None:
    asked = ("run", "--contract", "exec", "--topic", "EXEC-REQUEST", "--backend", "landlock")
    done = boxspec(*asked, "--shim", PYTHON_IMPLEMENTATION)
    assert "not declared" in done.stdout
