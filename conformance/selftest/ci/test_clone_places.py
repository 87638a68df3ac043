"""Tests that unit tests of sandboxes and a run of the kit pass in a checkout in an unusual
place."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from selftest.tools import ROOT, Done, run

pytestmark = pytest.mark.turns(6)

# Tests of the first requirement start programs of the checkout inside a sandbox. The other two
# requirements stand for other ways in which tests start a program.
ASKED = ("BACKEND-LAUNCH-01", "EXEC-DEBUG-03", "MODULE-RUNNER-01")
# Only root can start a shim as another user, who may not be able to enter the checkout.
OTHER_USERS = ("EXEC-KILL-16",) if os.geteuid() == 0 else ()
BUILT = (
    "build/release/fixtures",
    "build/release/reference/boxspec-ref",
    "build/release/reference/boxspec-launch",
    "build/release/reference/tests/test-backend-confined",
)
PLACES = (
    "below /tmp",
    "below a directory of mode 0700",
    "in a path with [ ] and *",
    "read-only",
)


def copy_of_checkout(root: Path) -> Path:
    """Copy what git tracks and what the tests need of the build to `root`."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", ".pytest.ini", "conftest.py", "conformance", "fixtures", "ci"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout
    for name in [os.fsdecode(each) for each in listed.split(b"\0") if each]:
        if (ROOT / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / name)
    for name in BUILT:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name)
        else:
            shutil.copy(ROOT / name, root / name)
    return root


@pytest.fixture(params=PLACES)
def clone(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A copy of the checkout in an unusual place, such as below /tmp or in a path with blanks."""
    # The copy is not below tmp_path, because the tests need a folder below /tmp, which sandboxes
    # replace by another one.
    with tempfile.TemporaryDirectory(prefix="clone-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        inside = {
            "below a directory of mode 0700": folder / "private" / "clone",
            "in a path with [ ] and *": folder / "two  blanks" / "a [clone]*'",
        }
        root = copy_of_checkout(inside.get(request.param, folder / "clone"))
        if request.param == "below a directory of mode 0700":
            root.parent.chmod(0o700)
        if request.param == "read-only":
            for path in (root, *root.rglob("*")):
                path.chmod(path.stat().st_mode & ~0o222)
        yield root
        if request.param == "read-only":
            for path in (root, *root.rglob("*")):
                path.chmod(path.stat().st_mode | 0o200)


def judged(root: Path, *words: str) -> Done:
    """Run the kit of the copy as ci/boxspec does, with the interpreter of this test."""
    argv = [sys.executable, "-P", "-m", "boxspec", "run", *words, *ASKED]
    env = {"PYTHONPATH": str(root / "conformance"), "PYTHONDONTWRITEBYTECODE": "1"}
    return run(argv, cwd=root, env=env)


def test_unit_tests_of_sandboxes_pass(clone: Path) -> None:
    done = run([clone / "build/release/reference/tests/test-backend-confined"], cwd=clone)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.turns(6)
@pytest.mark.parametrize(
    "words",
    [
        ("--backend", "bubblewrap+seccomp"),
        ("--shim", "conformance/shims/python/shim.py", *OTHER_USERS),
    ],
    ids=["reference", "python"],
)
def test_an_implementation_conforms(words: tuple[str, str], clone: Path) -> None:
    done = judged(clone, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS" in done.stdout
