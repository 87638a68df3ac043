"""Tests that a contract is one folder, apart from its Python implementation and its faults.

The smallest contract is added to a copy of the tree, which finds it without an edit. Each real
contract is removed, and the rest still runs.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from selftest.tools import CONFORMANCE, CONTRACTS, ROOT, Done, run

SKELETON = Path(__file__).parent / "skeleton"
# The parts of this tree that the copy only links, because it does not change them.
LENT = (".pytest.ini", "build", "fixtures", "fuzz", "conftest.py")


class Copy:
    def __init__(self, folder: Path) -> None:
        self.root = folder
        self.conformance = folder / "conformance"
        left_out = shutil.ignore_patterns("__pycache__", "selftest")
        shutil.copytree(CONFORMANCE, self.conformance, ignore=left_out)
        for name in LENT:
            (folder / name).symlink_to(ROOT / name)

    @property
    def python_implementation(self) -> str:
        return f"{sys.executable} -I -S {self.conformance / 'shims' / 'python' / 'shim.py'}"

    def boxspec(self, *words: str) -> Done:
        # The copy comes first in the path, before the suite that this interpreter would find
        # otherwise.
        env = {"PYTHONPATH": str(self.conformance)}
        return run([sys.executable, "-P", "-m", "boxspec", *words], cwd=self.root, env=env)

    def listed(self) -> dict[str, Any]:
        done = self.boxspec("list", "--json")
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found


@pytest.fixture(scope="module")
def with_echo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copy]:
    copy = Copy(tmp_path_factory.mktemp("added"))
    shutil.copytree(SKELETON, copy.conformance, dirs_exist_ok=True)
    yield copy
    shutil.rmtree(copy.root)


def test_the_requirement_is_listed_with_its_tests(with_echo: Copy) -> None:
    found = [each for each in with_echo.listed()["requirements"] if each["contract"] == "echo"]
    assert [(each["id"], len(each["tests"])) for each in found] == [("ECHO-SAY-01", 4)]


def test_the_requirement_is_explained(with_echo: Copy) -> None:
    done = with_echo.boxspec("explain", "ECHO-SAY-01")
    assert done.returncode == 0, done.stderr
    assert "The answer has the text of the request, unchanged." in done.stdout


def test_its_page_is_as_it_is_made(with_echo: Copy) -> None:
    page = "conformance/contracts/echo/page.md"
    done = with_echo.boxspec("dev", "pages")
    # The command may name the page of the protocol, which lists all contracts. The copy has one
    # contract more than the page.
    assert page not in done.stdout, done.stdout


def test_a_shim_that_declares_it_is_trusted(with_echo: Copy) -> None:
    done = with_echo.boxspec("smoke", "--shim", with_echo.python_implementation)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok    echo: declared, answers" in done.stdout


def test_a_shim_that_does_not_declare_it_is_trusted_too(with_echo: Copy) -> None:
    done = with_echo.boxspec("smoke")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok    echo: not declared, unsupported" in done.stdout


def test_the_python_implementation_conforms(with_echo: Copy) -> None:
    done = with_echo.boxspec("run", "--contract", "echo", "--shim", with_echo.python_implementation)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\nPASS  1 of 1 required · exit 0\n" in done.stdout


def test_its_fault_is_caught(with_echo: Copy) -> None:
    done = with_echo.boxspec("dev", "faults", "--contract", "echo")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "by the requirement they break 1 · also by other topics 0" in done.stdout


def test_an_answer_of_another_shape_is_refused(with_echo: Copy, tmp_path: Path) -> None:
    """Each answer is checked against the JSON Schema in the folder."""
    shim = tmp_path / "shim"
    shutil.copytree(with_echo.conformance / "shims" / "python", shim)
    ops = shim / "echo" / "ops.py"
    ops.write_text(ops.read_text().replace('{"text": text}', '{"text": 7}'))
    words = ("run", "--contract", "echo", "--shim", f"{sys.executable} -I -S {shim / 'shim.py'}")
    done = with_echo.boxspec(*words)
    assert done.returncode in (1, 2), done.stdout
    assert "/result/text" in done.stdout + done.stderr


@pytest.mark.turns(5)
@pytest.mark.long
@pytest.mark.parametrize("gone", sorted(CONTRACTS))
def test_a_kit_without_a_contract_runs(gone: str, tmp_path: Path) -> None:
    copy = Copy(tmp_path / "copy")
    shutil.rmtree(copy.conformance / "contracts" / gone)
    left = sorted({*CONTRACTS} - {gone})
    assert sorted({each["contract"] for each in copy.listed()["requirements"]}) == left
    few = "test_text or test_check or test_form"
    done = copy.boxspec("run", "--profile", "contract", "-k", few)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\nPASS  " in done.stdout
