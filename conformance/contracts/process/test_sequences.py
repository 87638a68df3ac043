"""PROCESS: a step must not depend on the steps of the same handle before it."""

from __future__ import annotations

import pytest

from boxspec.api import at_least, expect, expect_within, requires
from boxspec.api import programs as P
from contracts.process.client import ProcessCase, Step, handle, step
from contracts.process.judging import CAT, RUNNING, Pause, shell
from contracts.shared.moments import pass_time

FIRST_MS, BETWEEN_MS, SECOND_MS = 500, 700, 600


@requires("PROCESS-WAIT-03", overlap=2.0, timing=True, needs=["PROCESS-KILL-01"])
def test_each_wait_has_exactly_its_own_limit(case: ProcessCase) -> None:
    """Wait twice, with a pause in between. The time of the first wait, and of the pause, neither
    shortens nor extends the second wait."""
    events, pause = case.events(), Pause(case)
    handles = {
        "a": handle(P.siglog, [events.path, "--on", "TERM:exit:0"]),
        pause.name: pause.handle,
    }
    waits = [step("wait", timeout_ms=limit) for limit in (FIRST_MS, SECOND_MS)]
    steps = [step("open"), waits[0], *pause.steps, waits[1], step("terminate"), step("wait")]
    with case.process.start(handles, steps, within_s=20) as shim:
        begun = pause.reached().effect
        pass_time(BETWEEN_MS)
        released = shim.now_ns()
        pause.go_on()
        seen = shim.finish()
    expect("the answers of the two waits", [seen.steps[1], seen.steps[4]], [RUNNING] * 2)
    told = events.wait("signal").effect
    took = (told.t_ns - released) / 1e6
    expect("time from the end of the pause to the SIGTERM, in ms", took, at_least(SECOND_MS))
    limit = (released - begun.t_ns) / 1e6 + SECOND_MS + 2 * case.tick_ms
    expect_within(case, "from the start of the pause to the SIGTERM", begun, told, limit)


# Steps after which the whole group has ended, or is about to end.
ENDING: dict[str, list[Step]] = {
    "a kill": [step("kill")],
    "two kills": [step("kill"), step("kill")],
    "a terminate": [step("terminate")],
    "the end of input": [step("close_stdin")],
}


@requires("PROCESS-CLOSE-01", needs=["PROCESS-KILL-01", "PROCESS-EOF-01"])
@pytest.mark.parametrize("how", ENDING)
def test_a_close_of_a_group_that_ends_does_not_wait_for_the_grace(
    case: ProcessCase, how: str
) -> None:
    # The grace is longer than the time that the script has, so a close that waits for it hangs.
    steps = [step("open"), *ENDING[how], step("close", grace_ms=60_000)]
    seen = case.process.script({"a": handle(CAT)}, steps, within_s=15)
    got = [name for name in ("exited", "signaled", "running") if name in seen.steps[-1]]
    expect("whether the close reports an end", "running" not in got and bool(got), True)


@requires("PROCESS-WAIT-04")
def test_a_wait_without_limit_closes_stdin_even_after_the_end(case: ProcessCase) -> None:
    steps = [step("open"), step("wait", timeout_ms=60_000), step("wait"), step("streams")]
    seen = case.process.script({"a": shell("exit 3")}, steps, within_s=15)
    got = (seen.steps[1], seen.steps[2], seen.steps[3].get("stdin"))
    expect("the ends, and whether the handle has stdin", got, ({"exited": 3}, {"exited": 3}, False))


@requires("PROCESS-EOF-02", needs=["PROCESS-KILL-01"])
@pytest.mark.parametrize("how", ["kill", "terminate"])
def test_output_before_a_signal_can_be_read_after_it(case: ProcessCase, how: str) -> None:
    child = shell("printf 'begun\\nrest'; exec sleep 60")
    begun = step("read_until", stream="stdout", until=b"\n")
    steps = [step("open"), begun, step(how), step("wait", timeout_ms=60_000)]
    steps += [step("read_eof", stream="stdout")]
    seen = case.process.script({"a": child}, steps, within_s=15)
    expect("the output that was not read before the end", seen.data(4), b"rest")


@requires("PROCESS-OPEN-01", needs=["PROCESS-KILL-01"])
def test_a_child_that_survives_a_terminate_still_exchanges_data(case: ProcessCase) -> None:
    child = shell("trap '' TERM; echo ready; read -r line; echo \"$line\"")
    line = step("read_until", stream="stdout", until=b"\n")
    steps = [step("open"), line, step("terminate"), step("write", data=b"x\n"), line]
    steps += [step("wait", timeout_ms=60_000)]
    seen = case.process.script({"a": child}, steps, within_s=15)
    got = (seen.data(4), seen.steps[5])
    expect("the answer, and how the child ended", got, (b"x\n", {"exited": 0}))
