"""A sandbox cannot know that it is tested: no name and no variable that it sees names the kit."""

from __future__ import annotations

import json
import stat
import tempfile
from pathlib import Path

import pytest

from selftest.tools import PYTHON_IMPLEMENTATION, boxspec

# Confines only if the mark of the test is there; otherwise the program runs without the sandbox.
SHIM = """\
#!/usr/bin/env -S python3 -I -S
import os, sys
sys.path.insert(0, {folder!r})
from backend.session import Session
from protocol import main

def is_marked(self, request, cwd):
    words = [request.program, *request.args]
    return {mark}

original = Session.wrap
def wrap(self, request, cwd):
    if not is_marked(self, request, cwd):
        if request.env is None:
            request.env = [(os.fsencode(n), os.fsencode(v)) for n, v in os.environ.items()]
        return
    original(self, request, cwd)
Session.wrap = wrap
os._exit(main())
"""
MARKS = {
    "the root names the kit": "b'boxspec' in self.context.root",
    "HOME names the kit": "'boxspec' in os.environ.get('HOME', '')",
    "TMPDIR names the kit": "'boxspec' in os.environ.get('TMPDIR', '')",
    "a variable of the kit": "any(name.startswith('BOXSPEC') for name in os.environ)",
    "a variable of pytest": "any(name.startswith('PYTEST') for name in os.environ)",
    "the arguments name a probe": "any(w[1:2] == b'_' and w[:1].islower() for w in words)",
    "the program is a probe": "words[0].endswith(b'/probe')",
    "the root is called ws": "self.context.root.endswith(b'/ws')",
    "the root has a file of parameters": (
        "any(b'armed=' in open(os.path.join(self.context.root, n), 'rb').read(4096)"
        " for n in os.listdir(self.context.root)"
        " if os.path.isfile(os.path.join(self.context.root, n)))"
    ),
    "the parent is the warden": (
        "b'warden' in open(f'/proc/{os.getppid()}/cmdline', 'rb').read()"
        " + open(f'/proc/{os.getppid()}/comm', 'rb').read()"
    ),
}
ATTEMPTS = "w_create or w_unlink or w_dotdot"


@pytest.mark.parametrize("mark", MARKS)
def test_a_sandbox_that_confines_only_with_a_mark_fails(tmp_path: Path, mark: str) -> None:
    shim = tmp_path / "shim"
    folder = str(PYTHON_IMPLEMENTATION.parent)
    shim.write_text(SHIM.format(folder=folder, mark=MARKS[mark]))
    shim.chmod(shim.stat().st_mode | stat.S_IXUSR)
    result = tmp_path / "result.json"
    words = ["run", "--shim", str(shim), "--contract", "backend", "--profile", "all"]
    words += ["--topic", "BACKEND-WRITE", "-k", ATTEMPTS, "--json", str(result)]
    # The caller of the kit names TMPDIR, so its name is no mark of the kit; tmp_path may be one.
    with tempfile.TemporaryDirectory(prefix="atlas-", dir="/var/tmp") as temporary:
        Path(temporary).chmod(0o755)
        done = boxspec(*words, env={"TMPDIR": temporary})
    assert done.returncode == 1, done.stdout + done.stderr
    tests = json.loads(result.read_text())["tests"]
    held = [each["id"] for each in tests if each["verdict"] == "conforms"]
    assert held == []
