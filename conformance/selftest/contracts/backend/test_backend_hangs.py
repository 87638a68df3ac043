"""Tests of a backend that hangs in a call of its life cycle: it gets one verdict, and the run ends
soon."""

from __future__ import annotations

from pathlib import Path

import pytest

from selftest.contracts.backend.changed_shim import failed_run

HANGS = """\
def hang(*_, **__):
    threading.Event().wait()

# Without the limit of the session for probe and prepare.
Session.limited = lambda self, work: work()
{owner}.{call} = hang
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


@pytest.mark.turns(10)
@pytest.mark.parametrize("call", CALLS)
def test_a_call_that_hangs_fails_at_the_first_test(tmp_path: Path, call: str) -> None:
    change = HANGS.format(owner=CALLS[call], call=call)
    result = failed_run(tmp_path, change, "-x", "--backend", "bubblewrap", within_s=400)
    broken = [each["id"] for each in result["requirements"] if each["verdict"] == "fails"]
    assert broken
    names = ("ALLOW-01", "PROBE-01", "SESSION-01", "SESSION-08")
    assert {*broken} <= {f"BACKEND-{name}" for name in names}
