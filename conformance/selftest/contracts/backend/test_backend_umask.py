"""Tests of umasks: under every umask of the caller both implementations make private folders that
they can use."""

from __future__ import annotations

import shlex
import stat
from pathlib import Path

import pytest

from selftest.tools import PYTHON_IMPLEMENTATION, REFERENCE, boxspec

pytestmark = pytest.mark.turns(6)

TOPICS = ("BACKEND-ENV", "MODULE-DIR", "SBPL-FILE")
SHIMS = {"reference": REFERENCE, "python": PYTHON_IMPLEMENTATION}


@pytest.mark.parametrize("umask", ["0", "027", "077", "0177"])
@pytest.mark.parametrize("name", SHIMS)
@pytest.mark.parametrize("topic", TOPICS)
def test_an_implementation_conforms_under_a_umask(
    tmp_path: Path, topic: str, name: str, umask: str
) -> None:
    shim = tmp_path / "shim"
    shim.write_text(f'#!/bin/sh\numask {umask}\nexec {shlex.quote(str(SHIMS[name]))} "$@"\n')
    shim.chmod(shim.stat().st_mode | stat.S_IXUSR)
    words = ["run", "--shim", str(shim), "--profile", "all", "-k", "scratch or gone or private"]
    words += ["--topic", topic, "--contract", topic.partition("-")[0].lower()]
    # This backend makes its scratch directory in the file system of the host.
    words += ["--backend", "landlock"] if topic == "BACKEND-ENV" else []
    done = boxspec(*words)
    assert done.returncode == 0, done.stdout + done.stderr
