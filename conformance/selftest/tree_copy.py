"""Copy this tree for tests that change it."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from selftest.tools import CONFORMANCE, ROOT, Done, run

# The parts of this tree that the copy only links, because it does not change them.
LENT = (".pytest.ini", "build", "fixtures", "fuzz", "conftest.py")


class TreeCopy:
    """A copy of the kit without its self-tests, in which a test may add or remove contracts."""

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
