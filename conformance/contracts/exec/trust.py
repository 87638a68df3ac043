"""Trust checks of exec. They make runs that must succeed, runs that must fail, and requests for
each capability."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from boxspec.errors import HarnessError, UsageError
from boxspec.judge.expect import shown
from boxspec.programs import programs
from boxspec.subject.contract import Say
from boxspec.subject.sentinels import UNSUPPORTED, sentinel, undeclared
from boxspec.subject.sentinels import no as _no
from boxspec.subject.shim_process import ShimProcess
from contracts.exec.client import ExecCase, Run
from contracts.shared.helper_processes import WITHIN_S, observe_helpers
from contracts.shared.inside import blame_place
from contracts.shared.requests import Command, Limits, exec_request


def trust(case: ExecCase, say: Say) -> None:
    if "exec" in case.capabilities:
        _confined(case, say)
        _success_and_failure(case, say)
        _sentinels(case, say)
    else:
        _no_exec(case, say)


def _success_and_failure(case: ExecCase, say: Say) -> None:
    """Expect that a program which exits with 0 succeeds, and that two similar programs do not."""
    for _ in range(2):
        yes = case.exec.run(program=programs.exit_with, args=["0"], within_s=WITHIN_S)
        if not yes.ok:
            blame_place(case)
        if not yes.ok or not yes.result["success"]:
            raise _no(f"a program that exits 0 is answered with {shown(yes.raw)}")
        case.session.startup_ms = yes.elapsed_ms
    missing = case.exec.run(program="/boxspec/no/such/program", within_s=WITHIN_S)
    seven = case.exec.run(program=programs.exit_with, args=["7"], within_s=WITHIN_S)
    if missing.ok and missing.result["success"] and seven.ok and seven.result["success"]:
        raise _no("a missing program and one that exits 7 are both a success: it says yes to all")
    say("a program that exits 0 succeeds (twice); a missing program and one that exits 7 fail")
    _helpers(case)


def _confined(case: ExecCase, say: Say) -> None:
    """With --backend, expect that a run inside cannot write to a place outside.

    A run without the backend must be able to write there.
    """
    asked = case.exec.inside.use()
    if not asked:
        return
    folder_outside = case.session.case_folder()
    mark = folder_outside / "mark"
    message = {"op": "exec.run", "request": {"program": "/usr/bin/touch", "args": [str(mark)]}}
    case.send(message, within_s=WITHIN_S)
    outside = mark.exists()
    mark.unlink(missing_ok=True)
    seen = case.send({**message, **asked}, within_s=WITHIN_S)
    inside = mark.exists()
    case.session.delete(folder_outside)
    name = asked["backend"]["name"]
    if not outside:
        raise HarnessError(f"touch makes no {mark}, without any sandbox")
    if seen.ok and seen.result.get("enforcement") == "none":
        reasons = "; ".join(seen.result.get("enforcement_reasons", ())) or "no reason is given"
        raise UsageError(f"--backend {name}", f"it confines nothing here: {reasons}", "try another")
    if inside:
        raise _no(f"--backend {name}: a run inside wrote to {mark}, outside of its workspace")
    say(f"{name}: a program inside cannot write outside the workspace")


def _helpers(case: ExecCase) -> None:
    """Record the helper processes and threads that the shim has during a run.

    The time that a helper has waited for a processor cannot be read after it has ended.
    """
    # The first run has a deadline that is not reached, because some shims have a helper only for
    # deadlines. The second run is for shims without deadlines; a requirement reports that they are
    # missing.
    runs: dict[str, Limits] = {"helpers-deadline": {"timeout_ms": 60_000}, "helpers": {}}
    for name, deadline in runs.items():
        refused = observe_helpers(case, "exec", partial(_gate, case, deadline), name)
        if refused is None:
            return
    raise _no(f"a program that waits for a fifo is answered with {shown(refused)}")


def _gate(case: ExecCase, deadline: Limits, events: str, fifo: Path) -> ShimProcess[Any]:
    request: Command = {"program": programs.gate, "args": [events, str(fifo)]}
    return case.exec.start(**request, **deadline, within_s=WITHIN_S)


def _no_exec(case: ExecCase, say: Say) -> None:
    """Expect `unsupported` if exec is not declared.

    The run also measures how long the shim takes to start.
    """
    seen = case.exec.run(program=programs.exit_with, args=["0"], within_s=WITHIN_S)
    case.session.startup_ms = seen.elapsed_ms
    if seen.unsupported is None:
        raise undeclared("exec", seen.raw or {})
    say(f"exec: {UNSUPPORTED}")


# For each capability, the fields of the simplest exec.run that uses it.
_RUNS: dict[str, dict[str, Any]] = {
    "exec.cap": {"args": ["0"], "max_output_bytes": 1000},
    "exec.stdin_failure": {"args": ["0"], "stdin": b"x", "stdin_failure": "ignore"},
    "exec.bytes": {"args": [b"\xff"]},
    "exec.sandbox": {"args": ["0"], "sandbox": {"refuse": "smoke"}},
}


_OPS = {"exec.concurrent": "exec.batch", "exec.debug": "exec.format_env"}


def _ask(case: ExecCase, capability: str) -> dict[str, Any]:
    if capability == "exec.concurrent":
        runs: list[Run] = [(0, {"program": programs.exit_with, "args": [code]}) for code in "07"]
        return case.exec.batch(runs, within_s=WITHIN_S).raw or {}
    if capability == "exec.debug":
        seen = case.send({"op": "exec.format_env", "env": "inherit"}, within_s=WITHIN_S)
        return seen.raw or {}
    fields = exec_request({"program": programs.exit_with, **_RUNS[capability]})
    sandbox = fields.pop("sandbox", None)
    message = {"op": "exec.run", "request": fields}
    if sandbox is not None:
        message["sandbox"] = sandbox
    return case.send(message, within_s=WITHIN_S).raw or {}


def _sentinels(case: ExecCase, say: Say) -> None:
    for capability in ("exec.concurrent", "exec.debug", *_RUNS):
        declared = capability in case.capabilities
        op = _OPS.get(capability, "exec.run")
        sentinel(capability, declared, _ask(case, capability), say, op)
