"""The runner of mutants in reference/tests/mutants."""

from __future__ import annotations

import sys
from pathlib import Path

from selftest.tools import ROOT, run

# A recursive removal in Python stops at 1,000 levels.
DEEP = 2000
LEAVES_A_DEEP_TREE = f"""
import os
import run
with run.workplace() as place:
    os.chdir(place)
    for _ in range({DEEP}):
        os.mkdir("d")
        os.chdir("d")
"""


def test_a_deep_tree_that_a_mutant_leaves_is_deleted(tmp_path: Path) -> None:
    done = run(
        [sys.executable, "-c", LEAVES_A_DEEP_TREE],
        cwd=ROOT / "reference" / "tests" / "mutants",
        env={"TMPDIR": str(tmp_path)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == []
