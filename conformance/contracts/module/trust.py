"""Trust checks of module: a module that returns a value, a module that ends without a value, and a
refusal if the shim does not declare module."""

from __future__ import annotations

from pathlib import Path

from boxspec.judge.expect import shown
from boxspec.programs import programs
from boxspec.subject.contract import Say
from boxspec.subject.sentinels import no as _no
from boxspec.subject.sentinels import sentinel
from boxspec.subject.shim_process import ShimProcess
from contracts.module.client import Executed, ModuleCase
from contracts.shared.helper_processes import WITHIN_S, observe_helpers_if_possible


def trust(case: ModuleCase, say: Say) -> None:
    case.module.script("yes", "echo 7")
    case.module.script("no", "exit 7")
    yes = case.module.execute("yes")
    sentinel("module", "module" in case.capabilities, yes.raw or {}, say, "module.execute")
    if "module" not in case.capabilities:
        return
    no = case.module.execute("no")
    if yes.outcome != "value":
        raise _no(f"a module that prints 7 is answered with {shown(yes.raw)}")
    if no.outcome == "value":
        raise _no("a module that exits 7 and prints nothing has a value: it says yes to all")
    say("a module that prints 7 has a value; a module that exits 7 has none")

    def start(events: str, fifo: Path) -> ShimProcess[Executed]:
        case.module.script("gate", f"exec {programs.gate} {events} {fifo}")
        return case.module.start("gate", within_s=WITHIN_S)

    observe_helpers_if_possible(case, "module", start)
