"""Trust in shims that run programs: a run that succeeds, twins that do not, and sentinels."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from boxspec.errors import HarnessError, UsageError
from boxspec.judge.expect import shown
from boxspec.programs import programs
from boxspec.subject.case import Box
from boxspec.subject.live import Live
from boxspec.subject.sentinels import Say, sentinel, undeclared
from boxspec.subject.sentinels import no as _no
from contracts.shared.company import WITHIN_S, looks
from contracts.shared.inside import blame_place
from contracts.shared.requests import exec_request


def trust(box: Box, say: Say) -> None:
    if "exec" in box.capabilities:
        _confined(box, say)
        _twins(box, say)
        _sentinels(box, say)
    else:
        _no_exec(box, say)


def _twins(box: Box, say: Say) -> None:
    """A run whose answer is yes, and twins whose answer is no."""
    for _ in range(2):
        yes = box.exec.run(program=programs.exit_with, args=["0"], within_s=WITHIN_S)
        if not yes.ok:
            blame_place(box)
        if not yes.ok or not yes.result["success"]:
            raise _no(f"a program that exits 0 is answered with {shown(yes.raw)}")
        box.session.startup_ms = yes.elapsed_ms
    missing = box.exec.run(program="/boxspec/no/such/program", within_s=WITHIN_S)
    seven = box.exec.run(program=programs.exit_with, args=["7"], within_s=WITHIN_S)
    if missing.ok and missing.result["success"] and seven.ok and seven.result["success"]:
        raise _no("a missing program and one that exits 7 are both a success: it says yes to all")
    say("exit 0 succeeds (twice); a missing program and exit 7 do not")
    _company(box)


def _confined(box: Box, say: Say) -> None:
    """With --backend: a run inside does not write where one outside does."""
    asked = box.exec.inside.use()
    if not asked:
        return
    beside = box.session.case_folder()
    mark = beside / "mark"
    message = {"op": "exec.run", "request": {"program": "/usr/bin/touch", "args": [str(mark)]}}
    box.send(message, within_s=WITHIN_S)
    outside = mark.exists()
    mark.unlink(missing_ok=True)
    seen = box.send({**message, **asked}, within_s=WITHIN_S)
    inside = mark.exists()
    box.session.delete(beside)
    name = asked["backend"]["name"]
    if not outside:
        raise HarnessError(f"touch makes no {mark}, without any sandbox")
    if seen.ok and seen.result.get("enforcement") == "none":
        reasons = "; ".join(seen.result.get("enforcement_reasons", ())) or "no reason is given"
        raise UsageError(f"--backend {name}", f"it confines nothing here: {reasons}", "try another")
    if inside:
        raise _no(f"--backend {name}: a run inside wrote to {mark}, outside of its workspace")
    say(f"{name}: what is outside of the workspace is not written to")


def _company(box: Box) -> None:
    """Whether the shim is one process with one thread: what else waits for a processor is gone
    before it can be read."""
    # A deadline that does not strike: whoever has a helper for it shows it. Not to have deadlines
    # is told by the requirements about them.
    for name, deadline in ("company-late", {"timeout_ms": 60_000}), ("company", {}):
        refused = looks(box, "exec", partial(_gate, box, deadline), name)
        if refused is None:
            return
    raise _no(f"a program that waits for a fifo is answered with {shown(refused)}")


def _gate(box: Box, deadline: dict[str, Any], events: str, fifo: Path) -> Live[Any]:
    request = {"program": programs.gate, "args": [events, str(fifo)]}
    return box.exec.start(**request, **deadline, within_s=WITHIN_S)


def _no_exec(box: Box, say: Say) -> None:
    """Not declared: a run is unsupported. How long this shim takes to start is told by it too."""
    seen = box.exec.run(program=programs.exit_with, args=["0"], within_s=WITHIN_S)
    box.session.startup_ms = seen.elapsed_ms
    if seen.unsupported is None:
        raise undeclared("exec", seen.raw or {})
    say("exec: not declared, unsupported")


# The coarsest question about each capability: the fields of an exec.run.
_RUNS: dict[str, dict[str, Any]] = {
    "exec.cap": {"args": ["0"], "max_output_bytes": 1000},
    "exec.stdin_failure": {"args": ["0"], "stdin": b"x", "stdin_failure": "ignore"},
    "exec.bytes": {"args": [b"\xff"]},
    "exec.sandbox": {"args": ["0"], "sandbox": {"refuse": "smoke"}},
}


_OPS = {"exec.concurrent": "exec.batch", "exec.debug": "exec.format_env"}


def _ask(box: Box, capability: str) -> dict[str, Any]:
    if capability == "exec.concurrent":
        runs = [(0, {"program": programs.exit_with, "args": [code]}) for code in "07"]
        return box.exec.batch(runs, within_s=WITHIN_S).raw or {}
    if capability == "exec.debug":
        seen = box.send({"op": "exec.format_env", "env": "inherit"}, within_s=WITHIN_S)
        return seen.raw or {}
    fields = exec_request({"program": programs.exit_with, **_RUNS[capability]})
    sandbox = fields.pop("sandbox", None)
    message = {"op": "exec.run", "request": fields}
    if sandbox is not None:
        message["sandbox"] = sandbox
    return box.send(message, within_s=WITHIN_S).raw or {}


def _sentinels(box: Box, say: Say) -> None:
    for capability in ("exec.concurrent", "exec.debug", *_RUNS):
        declared = capability in box.capabilities
        op = _OPS.get(capability, "exec.run")
        sentinel(capability, declared, _ask(box, capability), say, op)
