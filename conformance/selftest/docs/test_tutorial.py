"""Tests of each tutorial from start to end: its commands run, its changes are applied, and the
shown parts of an answer are in the answer."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from selftest.tools import CONFORMANCE, run

pytestmark = pytest.mark.turns(6)

# Each tutorial, with its number of changes.
PAGES = {"tutorial.md": 5, "tutorial-backend.md": 3, "tutorial-policy.md": 2}


def kit(folder: Path) -> dict[str, str]:
    """Return an environment in which `boxspec` is the kit of this tree."""
    (folder / "boxspec").write_text(f'#!/bin/sh\nexec {sys.executable} -P -m boxspec "$@"\n')
    (folder / "boxspec").chmod(0o755)
    # Use this python3 for the shim: with a version manager, `python3` would be a shell script that
    # delays each run.
    path = f"{folder}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {"PATH": path, "COLUMNS": "100"}


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES)
def test_the_tutorial_works_as_written(tmp_path: Path, page: str) -> None:
    if page == "tutorial-backend.md" and shutil.which("bwrap") is None:
        pytest.skip("this machine lacks bwrap")
    bin_folder, work = tmp_path / "bin", tmp_path / "work"
    bin_folder.mkdir()
    work.mkdir()
    env, said = kit(bin_folder), ""
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", (CONFORMANCE / page).read_text(), re.M | re.S)
    for kind, text in blocks:
        if kind == "diff":
            # Apply a change as a reader would do.
            done = subprocess.run(
                ["patch", "-p0", "--fuzz=0"], input=text, cwd=work, capture_output=True, text=True
            )
            assert done.returncode == 0, done.stdout + done.stderr
            assert "offset" not in done.stdout, done.stdout
        elif kind == "text":
            missing = [line for line in text.splitlines() if line.strip() not in said]
            assert not missing, f"not in the answer: {missing}\n{said}"
        else:
            assert kind == "sh"
            command, _, exits = text.strip().partition("  # exits ")
            done = run(["sh", "-c", command], cwd=work, env=env, within_s=600)
            said = done.stdout + done.stderr
            assert done.returncode == int(exits or 0), f"{command}\n{said}"
    assert [kind for kind, _ in blocks].count("diff") == PAGES[page]
