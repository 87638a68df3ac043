"""MODULE: what a module and its members may do in the grace period, after a timeout or a signal."""

from __future__ import annotations

import pytest

from boxspec.api import expect, requires
from boxspec.api import programs as P
from contracts.module.client import Executed, ModuleCase
from contracts.module.judging import at_work, end, quoted, saying_so, time_out
from contracts.shared.moments import expect_none_left, until

# Why a module is ended, with the class of its error.
CAUSES = {"timeout": "Timeout", "signal": "Interrupted"}


def ended_by(case: ModuleCase, cause: str, module_id: str, ready: int = 1) -> Executed:
    """End a module by a timeout, or by SIGTERM to the caller, once `ready` processes are ready."""
    events = case.events()
    if cause == "timeout":
        return time_out(case, module_id, lambda: len(events.all("ready")) == ready)
    with case.module.start(module_id, within_s=20) as shim:
        for _ in range(ready):
            events.wait("ready")
        shim.signal("TERM")
        return shim.finish()


def siglog(case: ModuleCase, *words: str) -> str:
    return " ".join([quoted(P.siglog), quoted(case.events().path), *words])


@requires("MODULE-TIME-03", overlap=5.6)
@pytest.mark.parametrize("cause", CAUSES)
def test_a_member_that_outlives_the_module_is_killed(case: ModuleCase, cause: str) -> None:
    """The module ends at once at its signal, and its member ignores the signal."""
    words = ["--on TERM:exit:0", "--members 1", "--member-ignore TERM"]
    case.module.script("leads", f"exec {siglog(case, *words)}")
    seen = ended_by(case, cause, "leads")
    expect("outcome of the module", end(seen), CAUSES[cause])
    expect_none_left(seen, case.events(), ready=1, member=1)


@requires("MODULE-TIME-03", overlap=2.0)
@pytest.mark.parametrize("cause", CAUSES)
def test_a_member_may_end_by_itself_after_the_module(case: ModuleCase, cause: str) -> None:
    events = case.events()
    words = ["--on TERM:exit:0", "--members 1", "--member-on TERM:exit:0:1500"]
    case.module.script("leads", f"exec {siglog(case, *words)}")
    seen = ended_by(case, cause, "leads")
    member = events.all("member")[0].pid
    ended = [event.rest[0] for event in events.all("end") if event.pid == member]
    expect("outcome of the module", end(seen), CAUSES[cause])
    expect("how the member ended", ended, ["0"])


@requires("MODULE-TIME-03", overlap=1.0)
@pytest.mark.parametrize("cause", CAUSES)
def test_a_member_that_lost_its_parent_gets_the_signal(case: ModuleCase, cause: str) -> None:
    events = case.events()
    rule = "--on TERM:exit:0"
    # The parent of the member is a subshell, which ends at once.
    case.module.script("leads", f"( {siglog(case, rule)} & )\nexec {siglog(case, rule)}")
    seen = ended_by(case, cause, "leads", ready=2)
    heard = {event.pid for event in events.all("signal") if event.rest[0] == "TERM"}
    ready = {event.pid for event in events.all("ready")}
    expect("outcome of the module", end(seen), CAUSES[cause])
    expect("processes without the signal", (len(ready), ready - heard), (2, set()))


@requires("MODULE-PARENT-01", overlap=0.5)
@pytest.mark.parametrize("code", [0, 4])
@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_a_module_that_ends_well_on_the_signal_was_interrupted(
    case: ModuleCase, name: str, code: int
) -> None:
    body = f"trap 'echo 1; exit {code}' INT TERM\n"
    case.module.script("tidies", body + saying_so(case, "while :; do sleep 0.05; done"))
    with case.module.start("tidies", within_s=15) as shim:
        until(lambda: at_work(case))
        shim.signal(name)
        seen = shim.finish()
    got = (end(seen), seen.field("signal"))
    expect("class and signal", got, ("Interrupted", f"SIG{name}"))


@requires("MODULE-PARENT-06", overlap=3.2, needs=["MODULE-PARENT-01"])
@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_a_module_gets_the_callers_signal_and_half_of_the_grace_is_not_cut(
    case: ModuleCase, name: str
) -> None:
    events = case.events()
    case.module.script(
        "tidies", f"exec {siglog(case, '--on INT:exit:0:2500 --on TERM:exit:0:2500')}"
    )
    with case.module.start("tidies", within_s=20) as shim:
        events.wait("ready")
        shim.signal(name)
        seen = shim.finish()
    told = [event.rest[0] for event in events.all("signal")]
    got = (end(seen), told[:1], len(events.all("end")))
    wanted = ("Interrupted", [name], 1)
    expect("class, first signal, and how often the module ended by itself", got, wanted)
