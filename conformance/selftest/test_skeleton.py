"""Tests that a contract is one folder, apart from its Python implementation and its faults.

The smallest contract is added to a copy of the tree, which finds it without an edit. Each real
contract is removed, and the rest still runs.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from selftest.tools import CONTRACTS
from selftest.tree_copy import TreeCopy

SKELETON = Path(__file__).parent / "skeleton"


@pytest.fixture(scope="module")
def with_echo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TreeCopy]:
    copy = TreeCopy(tmp_path_factory.mktemp("added"))
    shutil.copytree(SKELETON, copy.conformance, dirs_exist_ok=True)
    yield copy
    shutil.rmtree(copy.root)


def test_the_requirement_is_listed_with_its_tests(with_echo: TreeCopy) -> None:
    found = [each for each in with_echo.listed()["requirements"] if each["contract"] == "echo"]
    assert [(each["id"], len(each["tests"])) for each in found] == [("ECHO-SAY-01", 4)]


def test_the_requirement_is_explained(with_echo: TreeCopy) -> None:
    done = with_echo.boxspec("explain", "ECHO-SAY-01")
    assert done.returncode == 0, done.stderr
    assert "The answer has the text of the request, unchanged." in done.stdout


def test_its_page_is_as_it_is_made(with_echo: TreeCopy) -> None:
    page = "conformance/contracts/echo/page.md"
    done = with_echo.boxspec("dev", "pages")
    # The command may name the page of the protocol, which lists all contracts. The copy has one
    # contract more than the page.
    assert page not in done.stdout, done.stdout


def test_a_shim_that_declares_it_is_trusted(with_echo: TreeCopy) -> None:
    done = with_echo.boxspec("smoke", "--shim", with_echo.python_implementation)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok    echo: declared, answers" in done.stdout


def test_a_shim_that_does_not_declare_it_is_trusted_too(with_echo: TreeCopy) -> None:
    done = with_echo.boxspec("smoke")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok    echo: not declared, unsupported" in done.stdout


def test_the_python_implementation_conforms(with_echo: TreeCopy) -> None:
    done = with_echo.boxspec("run", "--contract", "echo", "--shim", with_echo.python_implementation)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\nPASS  1 of 1 required · exit 0\n" in done.stdout


def test_its_fault_is_caught(with_echo: TreeCopy) -> None:
    done = with_echo.boxspec("dev", "faults", "--contract", "echo")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "by the requirement they break 1 · also by other topics 0" in done.stdout


def test_an_answer_of_another_shape_is_refused(with_echo: TreeCopy, tmp_path: Path) -> None:
    """Each answer is checked against the JSON Schema in the folder."""
    shim = tmp_path / "shim"
    shutil.copytree(with_echo.conformance / "shims" / "python", shim)
    ops = shim / "echo" / "ops.py"
    ops.write_text(ops.read_text().replace('{"text": text}', '{"text": 7}'))
    words = ("run", "--contract", "echo", "--shim", f"{sys.executable} -I -S {shim / 'shim.py'}")
    done = with_echo.boxspec(*words)
    assert done.returncode in (1, 2), done.stdout
    assert "/result/text" in done.stdout + done.stderr


@pytest.mark.turns(10)
@pytest.mark.long
@pytest.mark.parametrize("gone", sorted(CONTRACTS))
def test_a_kit_without_a_contract_runs(gone: str, tmp_path: Path) -> None:
    copy = TreeCopy(tmp_path / "copy")
    shutil.rmtree(copy.conformance / "contracts" / gone)
    left = sorted({*CONTRACTS} - {gone})
    assert sorted({each["contract"] for each in copy.listed()["requirements"]}) == left
    few = "test_text or test_check or test_form"
    done = copy.boxspec("run", "--profile", "contract", "-k", few)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\nPASS  " in done.stdout
