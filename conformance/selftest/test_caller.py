"""A run-time that changes its own process before any run is not accused of it."""

from __future__ import annotations

import sys
from pathlib import Path

from selftest.tools import ROOT, boxspec

ODD_TWIN = ROOT / "conformance" / "selftest" / "slow_twin.py"
INTERPRETER = f"{Path(sys.executable).resolve()} -I -S"
# What they compare with is the caller.
IDS = ["EXEC-CHILD-07", "EXEC-CHILD-08", "EXEC-CHILD-09", "EXEC-SIGNAL-12", "EXEC-STDIN-09"]


def test_the_caller_is_the_idle_shim_and_not_what_was_started() -> None:
    wanted = [word for each in IDS for word in ("--requirement", each)]
    done = boxspec("run", "--shim", f"{INTERPRETER} {ODD_TWIN} runtime=100 --", *wanted)
    assert done.returncode == 0, done.stdout
    assert f"hardened MUST {len(IDS)}/{len(IDS)}" in done.stdout.splitlines()[-1]
