"""A backend that hangs in a call of its life cycle gets one verdict, and the run ends soon."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from selftest.tools import PYTHON_IMPLEMENTATION, boxspec

SHIM = """\
#!/usr/bin/env -S python3 -I -S
import os, sys, threading
sys.path.insert(0, {folder!r})
from backend.bubblewrap import Bubblewrap
from backend.session import Session
from protocol import main

def hang(*_, **__):
    threading.Event().wait()

# Without the limit of the session for probe and prepare.
Session.limited = lambda self, work: work()
{owner}.{call} = hang
os._exit(main())
"""
CALLS = {
    "probe": "Bubblewrap",
    "open": "Session",
    "prepare": "Bubblewrap",
    "wrap": "Bubblewrap",
    "execute": "Session",
    "shutdown": "Bubblewrap",
    "close": "Session",
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_that_hangs_fails_at_the_first_test(tmp_path: Path, call: str) -> None:
    shim, result = tmp_path / "shim", tmp_path / "result.json"
    folder = str(PYTHON_IMPLEMENTATION.parent)
    shim.write_text(SHIM.format(folder=folder, owner=CALLS[call], call=call))
    shim.chmod(shim.stat().st_mode | stat.S_IXUSR)
    words = ["run", "--shim", str(shim), "--contract", "backend", "--profile", "all", "-x"]
    done = boxspec(*words, "--backend", "bubblewrap", "--json", str(result), within_s=180)
    assert done.returncode == 1, done.stdout + done.stderr
    known = json.loads(result.read_text())["requirements"]
    broken = [each["id"] for each in known if each["verdict"] == "fails"]
    assert broken
    assert {*broken} <= {"BACKEND-ALLOW-01", "BACKEND-PROBE-01", "BACKEND-SESSION-01"}
