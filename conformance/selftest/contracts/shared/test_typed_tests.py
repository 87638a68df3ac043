"""Tests that mypy can check each request of a test: every test names the class of its case instead
of `Any`."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from boxspec.subject.case import Case
from boxspec.subject.contract import find
from selftest.tools import CONTRACTS, ROOT, run

MYPY = ROOT / ".venv" / "bin" / "mypy"

# Wrong lines in a test. mypy must report each of these lines and no other one.
MISTAKES = {
    "exec": """
        case.exec.rum(program="true")
        case.exec.run(programme="true")
        case.exec.run(program="true", timeout_ms="soon")
        case.exec.run(program="true").stdoud
        case.exec.run(program="true").result["exit_cod"]
        case.exec.run(program="true").error["kinds"]
        case.exec.batch([{"program": "true", "timeout": 3}])
        case.policy
    """,
    "process": """
        case.process.bridges("true")
        case.process.start_bridge("true", stdinn="pipe")
        case.process.script({}, []).step
        case.process.script({}, []).steps[0]["exit"]
        case.process.bridge("true").result["exit"]
    """,
    "module": """
        case.module.executes("id")
        case.module.execute("id", timeout="soon")
        case.module.execute("id").values
        case.module.execute("id").result["values"]
    """,
    "policy": """
        case.policy.resolves({})
        case.policy.ask("policy.check", policies={})
        case.policy.normalize(["a"]).items
        case.policy.check({}, [])[0]["allow"]
        case.policy.load({}).result["warning"]
    """,
    "sbpl": """
        case.sbpl.compiles(None)
        case.sbpl.wrap(["true"], fallback=True)
        case.sbpl.wrap(["true"]).texts
        case.sbpl.wrap(["true"]).result["warning"]
    """,
    "backend": """
        case.backend.runs([])
        case.backend.run([], profil="repo-write")
        case.backend.probe("repo-write", backends="none")
        case.backend.run([]).onlyy
        case.backend.run([]).result["enforced"]
        case.backend.probe("repo-write").result["aspects"]["network"]["claims"]
    """,
}


# For each TypedDict of a result: the definition in the schema that must have the same fields.
RESULTS = {
    "exec.run": ("contracts.shared.runs:RunResult", "result"),
    "process.script": ("contracts.process.client:StepResult", "done"),
    "process.bridge": ("contracts.process.client:BridgeResult", "result"),
    "module.execute": ("contracts.module.client:ExecuteResult", "result"),
    "policy.load": ("contracts.policy.client:LoadResult", "result"),
    "policy.resolve": ("contracts.policy.client:ResolveResult", "result"),
    "sbpl.compile": ("contracts.sbpl.client:CompileResult", "result"),
    "sbpl.wrap": ("contracts.sbpl.client:WrapResult", "result"),
    "backend.probe": ("contracts.backend.answers:Claims", "result"),
    "backend.run": ("contracts.backend.answers:SessionResult", "result"),
}


@pytest.mark.parametrize("operation", RESULTS)
def test_a_typed_result_has_the_fields_of_its_schema(operation: str) -> None:
    place, definition = RESULTS[operation]
    module, _, name = place.partition(":")
    schema = CONTRACTS[operation.partition(".")[0]] / "schemas" / f"{operation}.json"
    fields = json.loads(schema.read_text(encoding="utf-8"))["$defs"][definition]["properties"]
    assert set(getattr(importlib.import_module(module), name).__annotations__) == set(fields)


def case_class(contract: str) -> str:
    return find(contract).case_class().__name__


def test_mypy_finds_each_wrong_request_of_a_test(tmp_path: Path) -> None:
    lines = []
    for contract, mistakes in MISTAKES.items():
        name = case_class(contract)
        lines.append(f"from contracts.{contract}.client import {name}")
        lines.append(f"def {contract}_test(case: {name}) -> None:")
        lines += [f"    {line.strip()}  # wrong" for line in mistakes.strip().splitlines()]
    program = tmp_path / "mistakes.py"
    program.write_text("\n".join(lines) + "\n", encoding="utf-8")
    cache = ROOT / "build" / "mypy"
    done = run([MYPY, "--config-file", ROOT / ".mypy.ini", "--cache-dir", cache, program])
    reported = {int(number) for number in re.findall(r"mistakes\.py:(\d+): error", done.stdout)}
    wrong = {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
    assert reported == wrong, done.stdout + done.stderr


def cases_of(contract: str) -> Iterator[tuple[str, str]]:
    """Yield each parameter `case` of a contract's tests and helpers: where it is, and its
    annotation."""
    for path in sorted(CONTRACTS[contract].glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef):
                continue
            for argument in (*node.args.args, *node.args.kwonlyargs):
                if argument.arg == "case":
                    said = ast.unparse(argument.annotation) if argument.annotation else "nothing"
                    yield f"{path.name}:{argument.lineno} {node.name}", said


@pytest.mark.parametrize("contract", CONTRACTS)
def test_each_test_names_the_class_of_its_cases(contract: str) -> None:
    # The client itself may get any case. In policy, a parameter `case` may also select how letters
    # are compared.
    allowed = {case_class(contract), "Case", "str | None"}
    strangers = [f"{place}: {said}" for place, said in cases_of(contract) if said not in allowed]
    in_tests = [place for place, said in cases_of(contract) if said == "Case"]
    assert strangers == []
    assert [place for place in in_tests if not place.startswith("client.py")] == []


@pytest.mark.parametrize("contract", CONTRACTS)
def test_no_method_of_a_client_has_the_type_any(contract: str) -> None:
    made = inspect.getattr_static(find(contract).case_class(), contract)
    returned = inspect.signature(made.func).return_annotation
    module = inspect.getmodule(made.func)
    holes = []
    for name, method in inspect.getmembers(getattr(module, returned), inspect.isfunction):
        signature = inspect.signature(method)
        annotations = [each.annotation for each in signature.parameters.values()]
        if not name.startswith("_") and "Any" in [*annotations, signature.return_annotation]:
            holes.append(name)
    assert holes == []
    assert not hasattr(Case, "__getattr__")
    assert not hasattr(getattr(module, returned), "__getattr__")
