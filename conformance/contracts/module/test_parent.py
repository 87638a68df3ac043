"""MODULE-PARENT: the caller receives a signal, or is killed."""

from __future__ import annotations

import pytest

from boxspec.api import expect, requires
from boxspec.api import programs as P
from contracts.module.client import ModuleCase
from contracts.module.judging import FAILURES, end, expect_home_gone, noting_home, quoted
from contracts.shared.after_effects import expect_acts_as_before
from contracts.shared.moments import until
from contracts.shared.signals import ignoring


@requires("MODULE-PARENT-01", needs=["MODULE-DIR-02"])
@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_a_signal_to_the_caller_ends_the_module(case: ModuleCase, name: str) -> None:
    events = case.events()
    words = [quoted(P.siglog), quoted(events.path), "--on INT:exit:0", "--on TERM:exit:0"]
    case.module.script("waits", noting_home(case, f"exec {' '.join(words)}"))
    with case.module.start("waits") as shim:
        events.wait("ready")
        shim.signal(name)
        seen = shim.finish()
    got = (end(seen), seen.field("module_id"), seen.field("signal"))
    expect("class, module_id and signal", got, ("Interrupted", "waits", f"SIG{name}"))
    expect("processes that are still alive", [each.describe() for each in seen.lasting], [])
    expect_home_gone(case, seen)


@requires("MODULE-PARENT-01")
@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_a_signal_that_the_caller_ignores_ends_the_module(case: ModuleCase, name: str) -> None:
    events = case.events()
    words = [quoted(P.siglog), quoted(events.path), "--on INT:exit:0", "--on TERM:exit:0"]
    case.module.script("waits", f"exec {' '.join(words)}")
    with case.module.start("waits", state=ignoring("INT", "TERM"), within_s=15) as shim:
        events.wait("ready")
        shim.signal(name)
        seen = shim.finish()
    got = (end(seen), seen.field("signal"))
    expect("class and signal", got, ("Interrupted", f"SIG{name}"))


@requires("MODULE-PARENT-01", needs=["MODULE-TIME-03"])
def test_a_signal_to_the_caller_reaches_the_whole_group(case: ModuleCase) -> None:
    events = case.events()
    words = ["--on TERM:exit:0", "--members 1", "--member-on TERM:exit:0:700"]
    case.module.script("leads", f"exec {quoted(P.siglog)} {quoted(events.path)} {' '.join(words)}")
    with case.module.start("leads") as shim:
        events.wait("ready")
        shim.signal("TERM")
        seen = shim.finish()
    member = events.all("member")[0].pid
    told = [event.rest[0] for event in events.all("signal") if event.pid == member]
    expect("outcome of the module", end(seen), "Interrupted")
    expect("the first signal of the module's own child", told[:1], ["TERM"])
    expect("processes that are still alive", [each.describe() for each in seen.lasting], [])


@requires("MODULE-PARENT-02", needs=["MODULE-RUNNER-02"])
def test_the_module_ends_with_a_killed_caller(case: ModuleCase) -> None:
    fifo, events = case.fifo("gate"), case.events()
    case.module.script("waits", f"exec {quoted(P.gate)} {quoted(events.path)} {quoted(fifo)}")
    with case.module.start("waits", expect_result=False) as shim:
        module = events.wait("ready").pid
        shim.signal("KILL")
        shim.wait_exit()
        gone = until(lambda: module not in {p.pid for p in shim.descendants() if p.alive})
        left = [each.describe() for each in shim.descendants() if each.alive]
    expect("whether the module has ended", gone, True, {"survivors": left} if left else {})


# How a module ends; the last one times out.
ENDS = {"value": "echo 1", **FAILURES}


@requires("MODULE-PARENT-05", overlap=0.5)
@pytest.mark.parametrize("name", ["INT", "TERM"])
@pytest.mark.parametrize("how", [*ENDS, "SpawnFailed"])
def test_after_an_execution_the_callers_signals_act_as_before(
    case: ModuleCase, how: str, name: str
) -> None:
    case.module.script("ends", ENDS.get(how, ""))
    ms = 500 if how == "Timeout" else None
    module_id = "missing" if how == "SpawnFailed" else "ends"
    shim = case.module.start(module_id, timeout_ms=ms, hold=True, expect_result=False, within_s=30)
    shim.wait_response()
    expect_acts_as_before(case, shim, name)
