"""PROCESS-BRIDGE: the bridge, its child and the group members end in each order."""

from __future__ import annotations

import pytest

from boxspec.api import expect, expect_within, for_the_prompt, requires
from boxspec.api import programs as P
from contracts.process.client import BridgeOptions, ProcessCase
from contracts.process.judging import GRACE_MS, LINGER_MS, SH, are_gone
from contracts.shared.moments import pass_time, send, until


@requires("PROCESS-BRIDGE-11", overlap=1.2, needs=["PROCESS-EOF-02"])
@pytest.mark.parametrize("fd", [1, 2])
def test_a_writer_that_left_the_group_is_not_waited_for(case: ProcessCase, fd: int) -> None:
    """Run a writer outside the group.

    The bridge passes on the output of the group, however long this takes. Output of a process
    outside the group must not extend the time.
    """
    events, mark = case.events(), case.tmp / "mark"
    writes = f'while echo x >&{fd}; do : >"$0"; sleep 0.1; done'
    line = f'setsid {SH} -c \'{writes}\' "$1" & until [ -e "$1" ]; do sleep 0.02; done; '
    words = ["-c", f'{line} exec "$2" "$3" 0', "sh", mark, P.slow_exit, events.path]
    seen = case.process.bridge(SH, words, within_s=15)
    expect("the response", seen.how, {"exited": 0})
    ended = events.wait("end")
    limit = LINGER_MS + 5 * case.tick_ms
    expect_within(case, "from the child's end to the bridge's", ended.cause, seen.end, limit)


# The processes that still run when the bridge is killed: their options of `siglog`, and the event
# after which the grace period has begun.
LEFT = {"the child": ([], "signal"), "members": (["--on", "TERM:exit:4"], "end")}


@requires("PROCESS-BRIDGE-04", needs=["PROCESS-BRIDGE-07"])
@pytest.mark.parametrize("who", LEFT)
def test_a_bridge_that_is_killed_in_the_grace_leaves_nothing(case: ProcessCase, who: str) -> None:
    """Kill a bridge during its grace period, as clients with a shorter time limit do."""
    events, (rules, told) = case.events(), LEFT[who]
    words = [events.path, *rules, "--members", "2", "--member-ignore", "TERM"]
    options: BridgeOptions = {"stdin": "pipe", "expect_result": False, "within_s": 15}
    with case.process.start_bridge(P.siglog, words, **options) as shim:
        group = {events.wait("ready").pid, *(each.pid for each in events.all("member"))}
        shim.signal("TERM")
        events.wait(told)
        shim.signal("KILL")
        shim.wait_exit()
        gone = are_gone(case, shim, group)
    expect("number of members, and whether all have ended", (len(group), gone), (3, True))


@requires("PROCESS-BRIDGE-08")
def test_the_end_of_the_output_is_not_the_childs(case: ProcessCase) -> None:
    line = 'exec >&- 2>&-; "$1" /dev/null 300; exit 5'
    words = ["-c", line, "sh", P.slow_exit]
    with case.process.start_bridge(SH, words, stdin="pipe", within_s=15) as shim:
        seen = shim.finish()
    expect("the response", seen.how, {"exited": 5})


@requires("PROCESS-BRIDGE-02", overlap=2.0)
def test_after_the_end_of_input_a_child_may_go_on(case: ProcessCase) -> None:
    """Close the input of a child that works on for longer than a grace period.

    The end of input is not a request to end.
    """
    events = case.events()
    line = 'cat >/dev/null; exec "$1" "$2" --on USR1:exit:4'
    words = ["-c", line, "sh", P.siglog, events.path]
    with case.process.start_bridge(SH, words, stdin="pipe", within_s=20) as shim:
        shim.stdin.close()
        child = events.wait("ready").pid
        pass_time(GRACE_MS + 5 * case.tick_ms)
        send(child, "USR1")
        seen = shim.finish()
    told = [event.rest[0] for event in events.all("signal")]
    expect("the response, and the child's signals", (seen.how, told), ({"exited": 4}, ["USR1"]))


@requires("PROCESS-BRIDGE-01", overlap=0.5, needs=["PROCESS-BRIDGE-07"])
@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_output_in_the_grace_is_passed_on(case: ProcessCase, name: str) -> None:
    # It is more than a pipe holds, so the child can end only if its output is read.
    events, size = case.events(), 100_000
    words = [events.path, "--on", f"TERM:print:{size}"]
    with case.process.start_bridge(P.siglog, words, stdin="pipe", within_s=20) as shim:
        events.wait("ready")
        shim.signal(name)
        seen = shim.finish()
    with for_the_prompt(case):
        got = (seen.how, len(seen.shim_stdout))
        expect("the response, and the bytes on stdout", got, ({"exited": 0}, size))


@requires("PROCESS-BRIDGE-17", overlap=3.0, needs=["PROCESS-BRIDGE-08"])
@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_a_signal_while_the_rest_is_passed_on_ends_the_bridge(case: ProcessCase, name: str) -> None:
    """Send a signal after the child's end, while the client still reads slowly."""
    # Twice as much as a pipe holds: the child ends once the bridge has read the first half.
    size, got, reads, events = 126_000, 0, 0, case.events()
    line = '"$1" "$3" 0; exec "$2" "$4" 0'
    words = ["-c", line, "sh", P.flood, P.slow_exit, size, events.path]
    with case.process.start_bridge(SH, words, stdout="pipe", within_s=30) as shim:
        child = events.wait("end").pid
        until(lambda: not any(each.pid == child for each in shim.descendants()))
        shim.signal(name)
        # The client reads something every 400 ms, which without a signal extends the time.
        while piece := shim.read("stdout", 4096):
            got, reads = got + len(piece), reads + 1
            pass_time(400 if reads < 7 else 0)
        seen = shim.finish()
    expect("the response", seen.how, {"exited": 0})
    expect("whether the bridge ended before all was read", got < size, True, {"bytes": got})


@requires("PROCESS-BRIDGE-02", needs=["PROCESS-BRIDGE-08"])
def test_input_that_the_child_leaves_unread_is_no_error(case: ProcessCase) -> None:
    place = case.tmp / "data"
    place.write_bytes(b"x" * 1_000_000)
    seen = case.process.bridge(P.slow_exit, ["/dev/null", "200"], stdin=place, within_s=15)
    expect("the response", seen.how, {"exited": 0})
