"""Sessions of several calls, without a sandbox, or in the directory of the sandbox itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from boxspec.api import NotApplicable, Verdict, expect, requires
from contracts.backend.client import BackendCase
from contracts.backend.ground import made_ground
from contracts.backend.scripted import scripted
from contracts.shared.requests import ExecRequest

SCRIPT = "backend.script"
# A backend that fails at its probe, or after it.
LOST: dict[str, dict[str, Any]] = {
    "unavailable": {"probe": "unavailable"},
    "no probe": {"probe": "error"},
    "no prepare": {"prepare": "error"},
}
WITHOUT = pytest.mark.parametrize("why", LOST)
DEGRADED = ["BACKEND-SESSION-04", "BACKEND-SESSION-09"]


@requires("BACKEND-SESSION-11", capability=SCRIPT, needs=DEGRADED)
@WITHOUT
def test_each_call_without_a_sandbox_has_its_directory(case: BackendCase, why: str) -> None:
    with made_ground() as ground:
        folder = ground.ws / "sub"
        folder.mkdir()
        pwd: ExecRequest = {"program": "/bin/pwd"}
        session = case.backend.run(
            [pwd, pwd | {"current_dir": str(folder)}, pwd],
            script=LOST[why],
            on_unavailable="degrade",
            root=ground.ws,
            profile="repo-write",
        )
        found = [call.stdout.decode(errors="replace").strip() for call in session.calls]
        wanted = [str(ground.ws), str(folder), str(ground.ws)]
        expect("working directories of the calls", found, wanted)


@requires("BACKEND-SESSION-12", capability=SCRIPT, needs=DEGRADED)
@WITHOUT
def test_no_call_without_a_sandbox_gets_other_variables(case: BackendCase, why: str) -> None:
    with made_ground() as ground:
        session = case.backend.run(
            [{"program": "/usr/bin/env"}] * 3,
            script=LOST[why],
            on_unavailable="degrade",
            root=ground.ws,
            profile="repo-write",
            shim_env={"BOXSPEC_SECRET": ground.token},
        )
        passed = [ground.token.encode() in call.stdout for call in session.calls]
        expect("calls that got a secret of the caller", passed, [False] * 3)


@requires("BACKEND-LIFE-06", capability=SCRIPT)
@pytest.mark.parametrize("on_unavailable", ["refuse", "degrade"])
def test_each_failed_wrap_is_a_failed_call(case: BackendCase, on_unavailable: str) -> None:
    seen = scripted(case, on_unavailable, calls=3, wrap="error")
    expect("runs of the program", seen.runs, 0, verdict=Verdict.ESCAPED)
    kinds = [call.error["kind"] for call in seen.session.calls]
    expect("the kind of each error", kinds, ["execution"] * 3)


@requires("BACKEND-LIFE-02", capability=SCRIPT, needs=["BACKEND-SESSION-01"])
def test_a_call_after_one_that_cannot_start_is_wrapped_and_run(case: BackendCase) -> None:
    with made_ground() as ground:
        missing: ExecRequest = {"program": "/no/such/program"}
        session = case.backend.run(
            [missing, {"program": "/bin/pwd"}, missing, {"program": "/bin/pwd"}],
            script={},
            on_unavailable="refuse",
            root=ground.ws,
            profile="repo-write",
        )
        succeeded = [call.ok for call in session.calls]
        expect("whether the calls succeed", succeeded, [False, True, False, True])
        expect("calls of wrap", session.times("wrap"), 4)


# Calls that end in different ways, each followed by one that succeeds.
ENDS: list[ExecRequest] = [
    {"program": "/no/such/program"},
    {"program": "/bin/sh", "args": ["-c", "exit 3"]},
    {"program": "/bin/sh", "args": ["-c", "kill -9 $$"]},
    {"program": "/bin/sleep", "args": ["600"], "timeout_ms": 100},
]


@requires("BACKEND-SESSION-10", capability=SCRIPT, needs=["BACKEND-LIFE-02"])
@pytest.mark.parametrize("probe", ["fully", "partial"])
def test_the_enforcement_stays_after_a_call_of_any_end(case: BackendCase, probe: str) -> None:
    with made_ground() as ground:
        plain: ExecRequest = {"program": "/bin/true"}
        session = case.backend.run(
            [call for end in ENDS for call in (end, plain)],
            script={"probe": probe},
            on_unavailable="degrade",
            root=ground.ws,
            profile="repo-write",
        )
        found = [call.result.get("enforcement") for call in session.calls[1::2]]
        expect("the enforcement of each later call", found, [probe] * len(ENDS))


@requires("BACKEND-LIFE-08", capability=SCRIPT, needs=["BACKEND-SESSION-01", "BACKEND-SESSION-10"])
@pytest.mark.parametrize("probe", ["fully", "partial"])
def test_a_failed_shutdown_changes_no_enforcement(case: BackendCase, probe: str) -> None:
    seen = scripted(case, "degrade", calls=2, probe=probe, shutdown="error")
    expect("runs of the program, and runs of the wrapped argv", (seen.runs, seen.wrapped), (2, 2))
    found = [call.result.get("enforcement") for call in seen.session.calls]
    expect("the enforcement of each call", found, [probe] * 2)


@requires("BACKEND-SESSION-03", needs=["BACKEND-LAUNCH-04"])
def test_a_workspace_may_contain_the_files_of_the_sandbox(case: BackendCase) -> None:
    """Open a session in the directory of the shim, as of a tool that a project installs in itself.

    The profile is read-only, so that no program can change the shim.
    """
    files = [path.resolve() for path in map(Path, case.session.argv) if path.is_file()]
    if not files or files[-1].parent == Path("/"):
        raise NotApplicable("the command of the shim names no file in a directory")
    claimed = case.backend.probe("read-only").result["overall"]
    session = case.backend.run(
        [{"program": "/bin/true"}],
        root=files[-1].parent,
        profile="read-only",
        on_unavailable="degrade",
        within_s=60.0,
    )
    session.expect_enforcement(claimed)
    expect("exit code of the program", session.only.result["exit_code"], 0)
