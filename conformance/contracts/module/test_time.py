"""MODULE-TIME: how long a module may take."""

from __future__ import annotations

import pytest

from boxspec.api import NotMeasured, at_least, expect, expect_within, requires
from boxspec.api import programs as P
from contracts.module.client import ModuleCase
from contracts.module.judging import FOREVER, at_work, end, quoted, saying_so, time_out
from contracts.shared.long_times import WRAPS
from contracts.shared.moments import elapsed_ms, expect_none_left, need_preload, until


def siglog(case: ModuleCase, *words: str) -> str:
    """Return a script that logs its signals."""
    return " ".join(["exec", quoted(P.siglog), quoted(case.events().path), *words])


@requires("MODULE-TIME-01", overlap=0.5)
def test_a_timeout_is_reported_with_its_limit(case: ModuleCase) -> None:
    case.module.script("sleeps", FOREVER)
    seen = case.module.execute("sleeps", timeout_ms=333, within_s=15)
    got = (end(seen), seen.field("module_id"), seen.field("timeout_ms"))
    expect("class, module_id and timeout_ms", got, ("Timeout", "sleeps", 333))


# The measured time includes the start of the shim. So on a busy machine only a long timeout can
# show that a part of it is missing.
@requires("MODULE-TIME-01", overlap=2.0, timing=True)
@pytest.mark.parametrize("timeout_ms", [300, 1990])
def test_a_timeout_is_never_early(case: ModuleCase, timeout_ms: int) -> None:
    case.module.script("waits", siglog(case, "--on", "TERM:exit:0"))
    with case.module.start("waits", timeout_ms=timeout_ms, within_s=15) as shim:
        seen = shim.finish()
    took = elapsed_ms(seen.start.t_ns, seen.end.t_ns)
    expect("time from the start of the shim to its end, in ms", took, at_least(timeout_ms))


@requires("MODULE-TIME-01", overlap=0.7, timing=True)
def test_a_timeout_is_in_milliseconds(case: ModuleCase) -> None:
    events = case.events()
    case.module.script("waits", siglog(case, "--on", "TERM:exit:0"))
    seen = time_out(case, "waits", lambda: bool(events.all("ready")), 500)
    ready, told = events.all("ready")[-1], events.wait("signal")
    limit = seen.result["error"]["timeout_ms"] + case.tick_ms
    expect_within(case, "from ready to SIGTERM", ready.cause, told.effect, limit)


BUSY = """i=0
while [ $i -lt 400 ]; do echo; sleep 0.05; i=$((i + 1)); done
echo 1"""


@requires("MODULE-TIME-01", overlap=0.5)
@pytest.mark.parametrize(
    "body", [f"exec >&- 2>&-; {FOREVER}", BUSY], ids=["closed outputs", "a byte now and then"]
)
def test_a_timeout_comes_whatever_the_outputs_do(case: ModuleCase, body: str) -> None:
    case.module.script("works", saying_so(case, body))
    # The time between two bytes is always shorter than the timeout, even on a busy machine. So if
    # the timeout restarted at each byte, it would never pass.
    seen = time_out(case, "works", lambda: at_work(case), 1000)
    expect("outcome of the module", end(seen), "Timeout")


# Above 2^53, numbers of JSON are not exact in each language.
LONG = {**WRAPS, "2^53": 2**53}


@requires("MODULE-TIME-01", overlap=0.6)
@pytest.mark.parametrize("timeout_ms", LONG.values(), ids=[*LONG])
def test_a_long_time_is_long(case: ModuleCase, timeout_ms: int) -> None:
    case.module.script("waits", f"{quoted(P.slow_exit)} /dev/null 400; echo 1")
    seen = case.module.execute("waits", timeout_ms=timeout_ms)
    expect("outcome of the module, and the value", (end(seen), seen.value), ("value", 1))


@requires("MODULE-TIME-02", overlap=0.8)
def test_zero_is_not_at_once(case: ModuleCase) -> None:
    wait = f"{quoted(P.slow_exit)} /dev/null 700"
    case.module.script("waits", f"{wait}; echo 1")
    seen = case.module.execute("waits", timeout_ms=0)
    expect("outcome of the module, and the value", (end(seen), seen.value), ("value", 1))


GRACE_MS = 5000


@requires("MODULE-TIME-03", overlap=5.6, timing=True)
def test_a_group_that_ignores_sigterm_is_killed(case: ModuleCase) -> None:
    mark, events = case.tmp / "mark", case.events()
    inner = "--ignore TERM --members 2"
    # The shell that would make the mark ignores SIGTERM too, and continues after the end of siglog.
    case.module.script(
        "stays", f"trap '' TERM\n{siglog(case, inner)[5:]}\n: >{quoted(mark)}\necho 1"
    )
    seen = time_out(case, "stays", lambda: bool(events.all("ready")))
    expect("outcome of the module", end(seen), "Timeout")
    expect_none_left(seen, events, ready=1, member=2)
    expect("whether the module ran on after the timeout", mark.exists(), False)
    member = events.all("member")[-1].pid
    told = events.wait("signal", pid=member).effect
    what = "from the member's SIGTERM to the end of the run"
    # A busy machine may deliver the signal late; this delay counts too. One tick is added for other
    # delays.
    took = elapsed_ms(told.earliest_ns, seen.end.t_ns)
    expect(f"{what}, in ms", took, at_least(GRACE_MS - case.tick_ms))
    expect_within(case, what, told, seen.end, GRACE_MS + case.tick_ms)


@requires("MODULE-TIME-03", overlap=0.8)
def test_a_module_may_end_by_itself_in_the_grace(case: ModuleCase) -> None:
    events = case.events()
    case.module.script("tidies", siglog(case, "--members", "1", "--on", "TERM:exit:0"))
    seen = time_out(case, "tidies", lambda: bool(events.all("ready")))
    told = [event.rest[0] for event in events.all("signal")]
    expect(
        "outcome of the module, and the first signal", (end(seen), told[:1]), ("Timeout", ["TERM"])
    )


@requires("MODULE-TIME-03", overlap=2.0)
def test_a_member_has_the_signal_and_the_grace_too(case: ModuleCase) -> None:
    """Execute a module that ends at once at its signal, and that has a member.

    The member gets the signal and the grace period too.
    """
    events = case.events()
    words = ["--on", "TERM:exit:0", "--members", "1", "--member-on", "TERM:exit:0:1500"]
    case.module.script("leads", siglog(case, *words))
    seen = time_out(case, "leads", lambda: bool(events.all("ready")))
    expect("outcome of the module", end(seen), "Timeout")
    member = events.all("member")[0].pid
    told = [event.rest[0] for event in events.all("signal") if event.pid == member]
    ended = [event.rest[0] for event in events.all("end") if event.pid == member]
    got = (told[:1], ended)
    expect("the member's first signal, and how it ended", got, (["TERM"], ["0"]))


# fast_clock.so speeds up only the clock of the shim. So five minutes take a second and a half.
FAST = 200
DEFAULT_MS = 300_000


@requires("MODULE-TIME-04", overlap=1.6)
def test_zero_is_reported_as_the_default_timeout(case: ModuleCase) -> None:
    case.module.script("waits", siglog(case, "--on", "TERM:exit:0"))
    fast = ["--preload", P.preload("fast_clock")]
    # Execute without a sandbox, because the measured time would include the start of the sandbox.
    with case.module.start("waits", timeout_ms=0, backend=None, state=fast, within_s=30) as shim:
        ended = until(lambda: not shim.running, 15)
        need_preload(shim, "fast_clock")
        if not ended:
            raise NotMeasured("the shim waits by a clock that the test cannot accelerate")
        seen = shim.finish()
    told = (end(seen), seen.field("timeout_ms"))
    expect("class and timeout_ms", told, ("Timeout", DEFAULT_MS))
    took_ms = elapsed_ms(seen.start.t_ns, seen.end.t_ns) * FAST
    expect(
        "time from the start of the shim to its end, by its own clock, in ms",
        took_ms,
        at_least(DEFAULT_MS),
    )
