"""Tests of umasks: a run does not depend on the caller's umask, and its result files have the mode
of that umask."""

from __future__ import annotations

import json
import shlex
import stat
import subprocess
from pathlib import Path

import pytest

from boxspec.places import ROOT
from selftest.tools import REFERENCE


@pytest.mark.parametrize("umask", ["0", "077", "0177", "0777"])
def test_a_run_conforms_under_a_umask(tmp_path: Path, umask: str) -> None:
    result = tmp_path / "result.json"
    selection = ["MODULE-DIR-02", "MODULE-DIR-04"]
    selection += ["--backend", "bubblewrap+seccomp", "--json", str(result)]
    kit = shlex.join([str(ROOT / "ci" / "boxspec"), "run", "--shim", str(REFERENCE)])
    line = f"umask {umask}; exec {kit} {shlex.join(selection)}"
    done = subprocess.run(["sh", "-c", line], stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert stat.S_IMODE(result.stat().st_mode) == 0o666 & ~int(umask, 8)
    result.chmod(0o600)
    requirements = {each["id"]: each for each in json.loads(result.read_text())["requirements"]}
    assert requirements["MODULE-DIR-02"]["verdict"] == "conforms"


def test_a_user_without_root_rights_runs_under_a_umask() -> None:
    line = "umask 0177; exec ci/as-user ci/boxspec run --topic EXEC-SPAWN --contract exec"
    done = subprocess.run(["sh", "-c", line], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert done.returncode in (0, 69), done.stdout
