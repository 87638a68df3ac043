"""Tests with fake sandboxes that refuse everything, wrap nothing, claim everything or hang: none of
them conforms."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from boxspec.judge.verdict import Late
from boxspec.subject.attempt import Attempt
from boxspec.subject.case import Case
from boxspec.subject.observe.probes import ProbeResult
from contracts.backend.answers import ObservedSession
from contracts.backend.client import BackendClient
from selftest.tools import CONFORMANCE, boxspec

pytestmark = pytest.mark.turns(6)

FAULTS = CONFORMANCE / "shims" / "faults" / "shim.py"


def judged(mode: str, tmp_path: Path, *asked: str) -> tuple[int, dict[str, str]]:
    """Judge a shim with the fault backend-control.MODE.

    Return the exit status, and the verdict of each requirement in `asked`.
    """
    out = tmp_path / "result.json"
    shim = f"{FAULTS} --fault backend-control.{mode}"
    # The faults are in this backend. Without the option, the run would judge another backend, the
    # strongest that starts here.
    words = ["--backend", "bubblewrap+seccomp", "--profile", "all", "--json", str(out)]
    done = boxspec("run", "--shim", shim, "--contract", "backend", *words, *asked)
    if not out.exists():
        return done.returncode, {"said": done.stdout + done.stderr}
    tree: dict[str, Any] = json.loads(out.read_text())
    found = {each["id"]: each["verdict"] for each in tree["requirements"]}
    return done.returncode, {name: found[name] for name in asked}


def test_one_that_refuses_to_run_anything_is_overrefused(tmp_path: Path) -> None:
    code, verdicts = judged("refuses-everything", tmp_path, "BACKEND-META-01", "BACKEND-ALLOW-01")
    assert verdicts == {"BACKEND-META-01": "overrefused", "BACKEND-ALLOW-01": "overrefused"}
    assert code == 1


@pytest.mark.parametrize("mode", ["wraps-nothing", "claims-everything"])
def test_one_that_wraps_nothing_contradicts_itself(mode: str, tmp_path: Path) -> None:
    code, verdicts = judged(mode, tmp_path, "BACKEND-META-01", "BACKEND-IPC-01")
    assert verdicts == {"BACKEND-META-01": "contradiction", "BACKEND-IPC-01": "contradiction"}
    assert code == 1


def test_one_that_claims_for_nothing_is_seen_through(tmp_path: Path) -> None:
    code, verdicts = judged("claims-everything", tmp_path, "BACKEND-PROBE-07")
    assert verdicts == {"BACKEND-PROBE-07": "contradiction"}
    assert code == 1


@pytest.mark.turns(10)
def test_one_in_which_no_attempt_is_made_proves_nothing(tmp_path: Path) -> None:
    """The allowed operation works, but all attempts crash. A crash does not prove that an attempt
    was refused."""
    asked = ("META-01", "RULE-02", "RULE-06", "LAUNCH-02", "PROC-03")
    code, verdicts = judged("attempts-crash", tmp_path, *(f"BACKEND-{name}" for name in asked))
    assert set(verdicts.values()) == {"unproven"}
    assert code == 1


@pytest.mark.parametrize(("signal", "is_told"), [("SIGSYS", True), ("SIGSEGV", False)])
def test_a_filter_that_kills_refuses_and_a_crash_does_not(signal: str, is_told: bool) -> None:
    lines = '{"sibling": true}\n{"outcome": "killed", "signal": "%s"}\n'
    said = ProbeResult.of((lines % signal).encode())
    assert (said.is_told, str(said)) == (is_told, f"killed by {signal}")


@pytest.mark.turns(10)
def test_one_that_hangs_gets_no_score(tmp_path: Path) -> None:
    code, verdicts = judged("hangs", tmp_path, "BACKEND-META-01")
    assert verdicts == {"BACKEND-META-01": "not-measured"}
    assert code == 3


class FakeSession:
    """A session. The client keeps weak references to it, which a SimpleNamespace cannot have."""

    def __init__(self, name: str) -> None:
        self.argv, self.backend = [name], "one"


@pytest.mark.parametrize(
    ("took_ms", "attempt", "before", "again"),
    [
        (4500, 1, "fully", True),
        (4500, 1, "partial", True),
        (100, 1, "fully", False),
        (4500, 2, "fully", False),
        (4500, 1, "none", False),
    ],
    ids=["cut off", "partial", "at once", "asked again", "never there"],
)
def test_a_backend_with_a_late_probe_is_probed_again(
    took_ms: float, attempt: int, before: str, again: bool
) -> None:
    """If the machine gave the backend no processor time, a time limit of the backend proves
    nothing."""
    session = FakeSession(f"shim-{took_ms}-{attempt}-{before}")
    case = SimpleNamespace(session=session, attempt=Attempt(attempt))
    asks = BackendClient(cast(Case, case))

    def look_at(enforcement: str) -> None:
        seen = SimpleNamespace(ok=True, elapsed_ms=took_ms, result={"enforcement": enforcement})
        asks._look_again_if_cut_off(cast(ObservedSession, seen), "one")

    look_at(before)
    if again:
        with pytest.raises(Late):
            look_at("none")
    else:
        look_at("none")
