"""Tests of imports: the rules of .importlinter detect forbidden ones, chains are short, and helpers
are not in test files."""

from __future__ import annotations

import ast
import shutil
from functools import cache
from pathlib import Path

import pytest

from selftest.tools import CONFORMANCE, ROOT, Done, run

# The driver of orders has six modules of the longest chain: explore, world, steps, observer,
# tracer, task.
LONGEST = 11
# boxspec.errors does not count: it imports no module of the core, and every module may import it.
RAISED = {"boxspec.errors"}
LINT = ROOT / ".venv" / "bin" / "lint-imports"


@cache
def modules() -> dict[str, Path]:
    """Return the modules of the core by name, without `__init__`."""
    paths = (CONFORMANCE / "boxspec").rglob("*.py")
    return {
        ".".join(path.relative_to(CONFORMANCE).with_suffix("").parts): path
        for path in paths
        if path.name != "__init__.py"
    }


def named(text: str) -> set[str]:
    """Return the imports of a file: at its top, in functions, and for type checkers."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import"
            found |= {str(node.module), *(f"{node.module}.{each.name}" for each in node.names)}
    return found


@cache
def chain(name: str) -> tuple[str, ...]:
    """Return the longest import chain that starts at this module."""
    below = named(modules()[name].read_text()) & set(modules()) - RAISED
    return (name, *max(map(chain, sorted(below)), key=len, default=()))


def test_imports_are_found_in_every_place() -> None:
    text = """
import a.b
from c import d
if TYPE_CHECKING:
    from e.f import g
def late():
    import h
"""
    assert named(text) == {"a.b", "c", "c.d", "e.f", "e.f.g", "h"}


def test_no_chain_of_imports_is_long() -> None:
    longest = max(map(chain, modules()), key=len)
    assert len(longest) <= LONGEST, " -> ".join(longest)


def lint(folder: Path) -> Done:
    """Run the linter with the rules on copies of the core and of the contracts."""
    shutil.copy(ROOT / ".importlinter", folder)
    return run([LINT, "--no-logo", "--no-cache"], cwd=folder, env={"PYTHONPATH": str(folder)})


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    for part in ("boxspec", "contracts"):
        shutil.copytree(
            CONFORMANCE / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__")
        )
    return tmp_path


def test_the_rules_are_kept(copies: Path) -> None:
    done = lint(copies)
    assert done.returncode == 0, done.stdout


# A wrong import in a file, and the rule that it breaks.
WRONG = {
    "the target knows the schedule": (
        "boxspec/subject/laws.py",
        "from boxspec.schedule import keys",
        "The rooms of the core know each other one way",
    ),
    "a report knows the fuzzer": (
        "boxspec/report/json.py",
        "from boxspec.fuzz import place",
        "The rooms of the core know each other one way",
    ),
    "a new room has no place": (
        "boxspec/shed.py",
        "",
        "The rooms of the core know each other one way",
    ),
    "an observer knows the client": (
        "boxspec/subject/observe/lines.py",
        "from boxspec.subject.client import b64",
        "The subject talks to a shim and observes it; neither of the two knows of cases",
    ),
    "a circle for type checkers": (
        "boxspec/judge/verdict.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
        "    from boxspec.judge.expect import expect",
        "No circle, in no room",
    ),
    "the core names a contract in a function": (
        "boxspec/judge/record.py",
        "def late() -> None:\n    import contracts.exec.contract",
        "The core knows no contract by name",
    ),
    "a contract knows another": (
        "contracts/exec/request.py",
        "from contracts.policy import trees",
        "A contract knows no other one",
    ),
    "a contract knows a verb": (
        "contracts/exec/request.py",
        "from boxspec.cli import verbs",
        "Contracts know the subject and the judge",
    ),
    "a contract fuzzes beside its folder for that": (
        "contracts/policy/trees.py",
        "from boxspec.fuzz import targets",
        "Contracts know the subject and the judge",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_import_is_detected(name: str, copies: Path) -> None:
    file, line, rule = WRONG[name]
    with (copies / file).open("a") as text:
        text.write(f"{line}\n")
    done = lint(copies)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{rule} BROKEN" in " ".join(done.stdout.split())


def test_self_tests_share_helpers_in_modules_and_not_in_test_files() -> None:
    found = {
        f"{path.relative_to(CONFORMANCE)} imports {name}"
        for path in (CONFORMANCE / "selftest").rglob("*.py")
        for name in named(path.read_text())
        if any(part.startswith("test_") for part in name.split(".")[:-1])
    }
    assert found == set()
