"""PROCESS-BRIDGE-12: the processor time of a bridge that has nothing to pass on."""

from __future__ import annotations

import pytest

from boxspec.api import Failure, ShimProcess, at_most, expect, requires
from boxspec.api import programs as P
from boxspec.subject.observe import procs
from contracts.process.client import Bridge, BridgeOptions, ProcessCase
from contracts.process.judging import SH
from contracts.shared.costs import check_not_kept_waiting
from contracts.shared.moments import (
    elapsed_ms,
    late_without_busy_loop,
    pass_time,
    send,
    until,
    wanted_ms,
)

MOST = 0.5
# The largest share of the time in which a bridge may run while its group ends.
FEW_LOOKS = 0.15


def wanted_share(shim: ShimProcess[Bridge]) -> float:
    """Return the share of the next half second in which the bridge runs or waits for a processor.

    Waiting for a processor counts too: a loop that never sleeps does one of the two all the time.
    """
    begun_ns, stood = shim.now_ns(), wanted_ms(shim.shim_pid)
    pass_time(500)
    wanted, looked = wanted_ms(shim.shim_pid) - stood, elapsed_ms(begun_ns, shim.now_ns())
    late_without_busy_loop(shim.shim_pid, wanted, looked, MOST)
    return wanted / looked


IDLE = {
    "from the start": "",
    "after a pause of its client": "head -c 300000 /dev/zero;",
    "its stdout closed": "exec >&-;",
}


@requires("PROCESS-BRIDGE-12", overlap=1.0, timing=True)
@pytest.mark.parametrize("how", IDLE)
@pytest.mark.parametrize("stdin", ["pipe", "null"])
def test_an_idle_bridge_costs_no_processor_time(case: ProcessCase, how: str, stdin: str) -> None:
    events, fifo = case.events(), case.fifo("gate")
    line = f'{IDLE[how]} exec "$1" "$2" "$3"'
    words = ["-c", line, "sh", P.gate, events.path, fifo]
    with case.process.start_bridge(SH, words, stdin=stdin, stdout="pipe", within_s=20) as shim:
        if "pause" in how:
            pass_time(200)
            left = 300_000
            while left > 0 and (piece := shim.read("stdout", left)):
                left -= len(piece)
        events.wait("ready")
        share = wanted_share(shim)
        case.open_gate(fifo)
        shim.finish()
    expect("share of the time in which the bridge was runnable", share, at_most(MOST))


def expect_few_looks(share: float) -> None:
    """Expect that the bridge uses little processor time.

    Time in which it waits for a processor does not count, because a bridge may check for members.
    """
    expect("share of the time in which the bridge ran", share, at_most(FEW_LOOKS))


def used_share(shim: ShimProcess[Bridge], ms: int) -> float:
    begun_ns, before, waited_ns = shim.now_ns(), shim.cpu_ms(), shim.waited().ns
    pass_time(ms)
    took_ms = elapsed_ms(begun_ns, shim.now_ns())
    share = (shim.cpu_ms() - before) / took_ms
    if share > FEW_LOOKS and shim.setting.realtime:
        # With real-time priority a loop uses its share, so this attempt decides.
        what = "share of the time in which the bridge ran"
        raise Failure(what, f"at most {FEW_LOOKS}", f"{share:.2f}", timed=True)
    if share <= FEW_LOOKS:
        check_not_kept_waiting(shim.waited().ns - waited_ns, took_ms * 1e6)
    return share


# The processes that use the whole grace period: their rules, and the event after which it has
# begun.
GRACES = {
    "the child": ([], "signal"),
    "a member": (["--on", "TERM:exit:4", "--members", "1"], "end"),
}


@requires("PROCESS-BRIDGE-12", overlap=1.1, needs=["PROCESS-BRIDGE-03", "PROCESS-BRIDGE-07"])
@pytest.mark.parametrize("who", GRACES)
def test_a_grace_that_is_used_costs_no_processor_time(case: ProcessCase, who: str) -> None:
    events, (rules, told) = case.events(), GRACES[who]
    words = [events.path, *rules]
    # /dev/null is always ready. So a bridge that polls it might loop.
    options: BridgeOptions = {"stdin": "pipe", "stdout": "null", "within_s": 20}
    with case.process.start_bridge(P.siglog, words, **options) as shim:
        events.wait("ready")
        shim.signal("TERM")
        events.wait(told)
        share = used_share(shim, 800)
        ended = {event.pid for event in events.all("end")}
        for pid in {event.pid for event in events.all("signal")} - ended:
            send(pid, "KILL")
        shim.finish()
    expect_few_looks(share)


@requires("PROCESS-BRIDGE-12", overlap=1.3, needs=["PROCESS-BRIDGE-11"])
@pytest.mark.parametrize("also", ["alone", "signalled", "input"])
def test_a_wait_for_output_of_another_group_costs_no_processor_time(
    case: ProcessCase, also: str
) -> None:
    events = case.events()
    words = [events.path, "--setsid", "--keep", "out"]
    with case.process.start_bridge(P.orphan, words, stdin="pipe", within_s=15) as shim:
        end = events.wait("end")
        if also != "alone":
            until(lambda: procs.proc(end.pid) is None, 2)
        if also == "signalled":
            shim.signal("TERM")
        if also == "input":
            shim.stdin.write(b"no program reads this any more\n")
        share = used_share(shim, 400 if also == "signalled" else 600)
        shim.finish()
    expect_few_looks(share)
