"""Define the scenarios of runs; the driver forces their events into orders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from boxspec.subject.orders.explore import Orders, Scenario
from contracts.exec.order_laws import judge

# A payload that is larger than the pipe.
LONG_STDIN = {"stdin": {"bytes": "x" * 100_000}}

SCENARIOS = tuple(
    Scenario(name, script.split(), request, signals, escapes="setsid" in script)
    for name, script, request, signals in (
        ("exit", "child out:a err:b exit:3", {}, ()),
        ("exit-term", "child out:a exit:0", {}, ("TERM",)),
        ("exit-deadline", "child out:a exit:0", {"timeout_ms": 1000}, ()),
        ("deadline-term", "child wait", {"timeout_ms": 1000}, ("TERM",)),
        ("deadline-int", "child out:a wait", {"timeout_ms": 1000}, ("INT",)),
        ("int-term", "child wait", {}, ("INT", "TERM")),
        ("ignoring", "child ignore:TERM out:a wait", {"timeout_ms": 1000}, ()),
        ("last-words", "child on:TERM:err:bye out:a wait", {"timeout_ms": 1000}, ()),
        ("clean-end", "child on:TERM:exit:0 out:a wait", {"timeout_ms": 1000}, ("TERM",)),
        ("orphan", "child fork:orphan out:o wait end exit:4", {}, ()),
        ("orphan-term", "child fork:orphan ignore:TERM wait end exit:4", {}, ("TERM",)),
        ("orphan-quiet", "child fork:orphan close:1 close:2 wait end exit:0", {}, ()),
        (
            "orphan-grace",
            "child fork:orphan ignore:TERM out:o wait end wait",
            {"timeout_ms": 1000},
            (),
        ),
        # A member forks and ends while the implementation looks for members.
        (
            "orphan-hides",
            "child fork:orphan ignore:TERM fork:second wait end exit:0 end wait",
            {"timeout_ms": 1000},
            (),
        ),
        (
            "orphan-forks",
            "child fork:orphan fork:second out:s wait end exit:0 end wait",
            {"timeout_ms": 1000},
            (),
        ),
        ("payload", "child read:6 out:a exit:0", {"stdin": {"bytes": "abcdef"}}, ()),
        ("payload-left", "child read:2 exit:0", {"stdin": {"bytes": "abcdef"}}, ()),
        (
            "payload-stuck",
            "child wait",
            {**LONG_STDIN, "timeout_ms": 1000},
            ("TERM",),
        ),
        (
            "payload-closed",
            "child close:0 out:a wait",
            {**LONG_STDIN, "timeout_ms": 1000},
            (),
        ),
        ("cap", "child out:abc out:def exit:0", {"max_output_bytes": 4}, ("TERM",)),
        (
            "cap-deadline",
            "child out:abc out:def wait",
            {"max_output_bytes": 4, "timeout_ms": 1000},
            (),
        ),
        ("escapes", "child fork:daemon setsid out:d wait end exit:0", {}, ("TERM",)),
        (
            "escapes-deadline",
            "child fork:daemon setsid wait end out:a exit:0",
            {"timeout_ms": 500},
            (),
        ),
        ("orphan-signal", "child fork:orphan ignore:TERM wait end wait", {}, ("TERM",)),
        (
            "three",
            "child fork:orphan wait end fork:second wait end out:a wait",
            {"timeout_ms": 1000},
            (),
        ),
        (
            "zombie",
            "child fork:daemon fork:orphan wait end setsid close:1 close:2 wait end wait",
            {"timeout_ms": 1000},
            (),
        ),
        ("stopped-deadline", "child stop wait", {"timeout_ms": 1000}, ()),
        ("stopped-signal", "child stop wait", {}, ("TERM",)),
        ("orphan-stopped", "child fork:orphan stop wait end exit:0", {}, ()),
        ("ignoring-two", "child ignore:INT ignore:TERM wait", {}, ("INT", "TERM")),
        (
            "payload-member",
            "child close:0 fork:orphan ignore:TERM wait end wait",
            {**LONG_STDIN, "timeout_ms": 1000},
            ("TERM",),
        ),
        (
            "cap-payload",
            "child out:abcdef wait",
            {**LONG_STDIN, "max_output_bytes": 4},
            ("TERM",),
        ),
        ("cap-signal", "child on:TERM:out:abcdef wait", {"max_output_bytes": 4}, ("TERM",)),
        ("stopped", "child stop out:a exit:0", {"timeout_ms": 1000}, ()),
        ("clean-timeout", "child on:TERM:exit:0 out:a wait", {"timeout_ms": 1000}, ()),
        ("at-once", "child out:a wait", {"timeout_ms": 0}, ()),
        ("between-ticks", "child wait", {"timeout_ms": 1050}, ()),
        ("ignoring-term", "child ignore:TERM wait", {"timeout_ms": 1000}, ("TERM",)),
        ("orphan-code", "child fork:orphan exit:3 end exit:0", {}, ()),
        (
            "cap-words",
            "child on:TERM:out:abcdef wait",
            {"max_output_bytes": 4, "timeout_ms": 1000},
            (),
        ),
        ("killed", "child die:KILL", {"timeout_ms": 1000}, ("TERM",)),
    )
)

# Events of the contract that no order of these scenarios contains.
NOT_FORCED = {
    "cancel": "the protocol has no request that cancels a run",
    "spawn failure": "the child is the puppet, which can always be executed",
    "a member that SIGKILL does not end": "needs a file system that does not answer",
    "a terminal as stdin": "job control of a terminal is not part of a world yet",
    "several runs at once": "exec.batch is not part of a scenario yet",
    "a change of threads between two system calls": "threads run one at a time",
}


def message(scenario: Scenario, puppet: str, folder: Path) -> dict[str, Any]:
    """Return a run of the puppet."""
    fields = {"program": puppet, "args": list(scenario.script), **scenario.request}
    return {"op": "exec.run", "request": fields}


ORDERS = Orders(SCENARIOS, message, judge, NOT_FORCED)
