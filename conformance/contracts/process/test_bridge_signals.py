"""PROCESS-BRIDGE: a signal to the bridge ends the group, and each member has the grace period."""

from __future__ import annotations

import contextlib
import os

import pytest

from boxspec.api import Stamp, at_least, expect, expect_within, for_the_prompt, requires
from boxspec.api import programs as P
from boxspec.subject.observe import procs
from contracts.process.client import Bridge, ProcessCase
from contracts.process.judging import (
    GRACE_MS,
    SH,
    is_stopped,
    leader_with_a_stopped_member,
    pair,
    read_some,
)
from contracts.shared.moments import elapsed_ms, pass_time, until

ENDS = {"exited": 4}


def expect_killed_after_the_grace(case: ProcessCase, what: str, sent: Stamp, seen: Bridge) -> None:
    expect("the response", seen.how, {"signaled": "SIGKILL"})
    took = elapsed_ms(sent.earliest_ns, seen.end.t_ns)
    expect(f"{what}, in ms", took, at_least(GRACE_MS))
    expect_within(case, what, sent, seen.end, GRACE_MS + case.tick_ms)


@requires("PROCESS-BRIDGE-03", overlap=1.8, timing=True)
@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_a_signal_ends_a_group_that_ignores_it(case: ProcessCase, name: str) -> None:
    events = case.events()
    words = [events.path, "--ignore", "TERM", "--ignore", "INT", "--members", "1"]
    words += ["--member-ignore", "TERM", "--member-ignore", "INT"]
    with case.process.start_bridge(P.siglog, words, stdin="pipe", within_s=15) as shim:
        events.wait("ready")
        sent = shim.signal(name)
        seen = shim.finish()
    expect_killed_after_the_grace(case, "from the signal to the end", sent, seen)


@requires("PROCESS-BRIDGE-03", overlap=1.8, timing=True, needs=["PROCESS-KILL-01"])
@pytest.mark.parametrize("names", [("TERM", "TERM"), ("INT", "INT"), ("TERM", "INT")])
def test_a_second_signal_changes_nothing(case: ProcessCase, names: tuple[str, str]) -> None:
    events = case.events()
    words = [events.path, "--ignore", "TERM", "--ignore", "INT"]
    with case.process.start_bridge(P.siglog, words, stdin="pipe", within_s=15) as shim:
        events.wait("ready")
        sent = shim.signal(names[0])
        pass_time(700)
        shim.signal(names[1])
        seen = shim.finish()
    expect_killed_after_the_grace(case, "from the first signal to the end", sent, seen)


@requires("PROCESS-BRIDGE-03", needs=["PROCESS-KILL-01"])
def test_a_group_may_end_in_its_grace(case: ProcessCase) -> None:
    events = case.events()
    words = [events.path, "--on", "TERM:exit:4:100"]
    with case.process.start_bridge(P.siglog, words, stdin="pipe", within_s=15) as shim:
        events.wait("ready")
        shim.signal("TERM")
        seen = shim.finish()
    expect("the response", seen.how, {"exited": 4})


@requires("PROCESS-BRIDGE-03", overlap=2.8)
@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_a_client_that_does_not_read_does_not_prevent_the_kill(
    case: ProcessCase, kind: str
) -> None:
    ours, theirs = pair(kind)
    try:
        words = ["-c", "trap '' TERM; yes"]
        with case.process.start_bridge(SH, words, stdout=theirs, within_s=15) as shim:
            read_some(ours)
            shim.signal("TERM")
            seen = shim.finish()
    finally:
        os.close(ours)
        os.close(theirs)
    expect("the response", seen.how, {"signaled": "SIGKILL"})


@requires("PROCESS-BRIDGE-07", needs=["PROCESS-KILL-02"])
@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_members_have_the_grace_too(case: ProcessCase, name: str) -> None:
    events = case.events()
    rules = ["--on", "TERM:exit:4", "--members", "1", "--member-on", "TERM:exit:0:200"]
    with case.process.start_bridge(
        P.siglog, [events.path, *rules], stdin="pipe", within_s=15
    ) as shim:
        events.wait("ready")
        shim.signal(name)
        seen = shim.finish()
    ended = {event.pid for event in events.all("end")}
    got = (seen.how, len(ended))
    with for_the_prompt(case):
        expect(
            "the response, and the number of processes that ended without being killed",
            got,
            ({"exited": 4}, 2),
        )


@requires("PROCESS-BRIDGE-14")
def test_a_stopped_child_may_use_the_grace(case: ProcessCase) -> None:
    events = case.events()
    words = [events.path, "--on", "TERM:exit:6"]
    with case.process.start_bridge(P.stop_self, words, stdin="pipe", within_s=15) as shim:
        child = events.wait("stopping").pid
        until(lambda: is_stopped(child))
        shim.signal("TERM")
        seen = shim.finish()
    with for_the_prompt(case):
        expect("the response", seen.how, {"exited": 6})


@requires("PROCESS-BRIDGE-14")
def test_a_stopped_member_may_use_the_grace(case: ProcessCase) -> None:
    events = case.events()
    program, words = leader_with_a_stopped_member(str(events.path))
    with case.process.start_bridge(program, words, stdin="pipe", within_s=15) as shim:
        events.wait("ready")
        member = events.wait("stopping").pid
        until(lambda: is_stopped(member))
        shim.signal("TERM")
        shim.finish()
    ended = {event.pid for event in events.all("end")}
    with for_the_prompt(case):
        expect("whether the member ended by itself", member in ended, True)


@requires("PROCESS-BRIDGE-01", needs=["PROCESS-BRIDGE-07"])
def test_input_in_the_grace_is_passed_on(case: ProcessCase) -> None:
    line = 'trap "exec 3<&1" TERM; echo a; until [ -e /dev/fd/3 ]; do sleep 0.02; done; '
    line += "echo b; read x; echo $x; exit 4"
    with case.process.start_bridge(
        SH, ["-c", line], stdin="pipe", stdout="pipe", within_s=15
    ) as shim:
        read_some(shim.stdout.fileno())
        shim.signal("TERM")
        handled = read_some(shim.stdout.fileno())
        with contextlib.suppress(BrokenPipeError):
            shim.stdin.write(b"word\n")
            shim.stdin.flush()
        got = read_some(shim.stdout.fileno())
        seen = shim.finish()
    with for_the_prompt(case):
        expect("the output, and the response", (handled, got, seen.how), (b"b\n", b"word\n", ENDS))


@requires("PROCESS-BRIDGE-07", needs=["PROCESS-BRIDGE-02"])
@pytest.mark.parametrize("when", ["before the signal", "in the grace"])
def test_the_end_of_input_does_not_shorten_the_grace(case: ProcessCase, when: str) -> None:
    events = case.events()
    words = [events.path, "--on", "TERM:exit:4:400"]
    with case.process.start_bridge(P.siglog, words, stdin="pipe", within_s=15) as shim:
        events.wait("ready")
        if when == "before the signal":
            shim.stdin.close()
            procs.blocked_at_rest(shim.shim_pid)
        shim.signal("TERM")
        events.wait("signal")
        shim.stdin.close()
        seen = shim.finish()
    with for_the_prompt(case):
        expect("the response", seen.how, ENDS)
