"""Tests that a sandbox cannot recognise a test: no name and no variable that it sees shows
the kit."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from selftest.contracts.backend.changed_shim import failed_run

pytestmark = pytest.mark.turns(6)

# The program is confined only if the mark of a test is present. Otherwise it runs without the
# sandbox.
CONFINES_IF_MARKED = """\
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
    change = CONFINES_IF_MARKED.format(mark=MARKS[mark])
    # The name of TMPDIR comes from the caller of the kit. tmp_path itself may have such a mark in
    # its name.
    with tempfile.TemporaryDirectory(prefix="atlas-", dir="/var/tmp") as temporary:
        Path(temporary).chmod(0o755)
        words = ("--topic", "BACKEND-WRITE", "-k", ATTEMPTS)
        result = failed_run(tmp_path, change, *words, env={"TMPDIR": temporary})
    held = [each["id"] for each in result["tests"] if each["verdict"] == "conforms"]
    assert held == []
