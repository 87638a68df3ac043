"""Trust checks of process: a line is echoed, and the end of the child is reported."""

from __future__ import annotations

from pathlib import Path

from boxspec.judge.expect import shown
from boxspec.programs import programs
from boxspec.subject.contract import Say
from boxspec.subject.sentinels import no as _no
from boxspec.subject.sentinels import sentinel
from boxspec.subject.shim_process import ShimProcess
from contracts.process.client import ProcessCase, Script, handle, step
from contracts.shared.helper_processes import WITHIN_S, observe_helpers_if_possible
from contracts.shared.inside import blame_place


def trust(case: ProcessCase, say: Say) -> None:
    declared = "process" in case.capabilities
    words = [case.process.ends(code) for code in (0, 7)]
    seen = case.process.script(*words[0])
    sentinel("process", declared, seen.raw or {}, say, "process.script")
    bridge = case.process.bridge(program=programs.exit_with, args=["0"])
    sentinel("process", declared, bridge.raw or {}, say, "process.bridge")
    if not declared:
        return
    seven = case.process.script(*words[1])
    if seen.steps[-1] == seven.steps[-1]:
        blame_place(case)
        raise _no(f"exit 0 and exit 7 are both reported as {shown(seven.steps[-1])}")
    say("a program that exits 0 and one that exits 7 have different results")

    def start(events: str, fifo: Path) -> ShimProcess[Script]:
        waits = {"a": handle(programs.gate, [events, str(fifo)])}
        return case.process.start(waits, [step("open"), step("wait")], within_s=WITHIN_S)

    observe_helpers_if_possible(case, "process", start)
