"""Define the scenarios of runs; the driver forces their events into orders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from boxspec.subject.orders.explore import Orders, Scenario
from contracts.exec.model_events import replays_of
from contracts.exec.order_batch import singles
from contracts.exec.order_laws import judge

# A payload that is larger than the pipe.
LONG_STDIN = {"stdin": {"bytes": "x" * 100_000}}

# How the child acts until the run is ended: its script, and fields of the request.
PHASES: dict[str, tuple[str, dict[str, Any]]] = {
    "silent": ("child wait", {}),
    "writes": ("child out:a err:b out:c wait", {}),
    "exits": ("child out:a err:b exit:3", {}),
    "dies": ("child out:a die:KILL", {}),
    "ignores": ("child ignore:INT ignore:TERM out:a wait", {}),
    "talks": ("child ignore:INT ignore:TERM out:a at:4000 out:b wait", {}),
    "answers": ("child on:TERM:err:bye on:INT:exit:7 out:a wait", {}),
    "stops": ("child out:a stop wait", {}),
    "reads": ("child read:4 out:a wait", {"stdin": {"bytes": "abcdef"}}),
    "stuck": ("child out:a wait", LONG_STDIN),
    "refuses": ("child out:a close:0 wait", LONG_STDIN),
    "floods": ("child out:abc out:def wait", {"max_output_bytes": 4}),
    "orphan": ("child fork:orphan out:o wait end exit:3", {}),
    "silent-orphan": ("child close:1 close:2 fork:orphan wait end exit:0", {}),
    "stopped-orphan": ("child fork:orphan stop wait end out:a exit:0", {}),
    "family": ("child ignore:INT ignore:TERM fork:orphan fork:second wait end wait end wait", {}),
    "leaving": ("child ignore:INT ignore:TERM fork:orphan at:4000 exit:0 end wait", {}),
    "adoptee": (
        "child fork:middle fork:orphan on:TERM:exit:0 on:INT:exit:0 wait end exit:0 end wait",
        {},
    ),
    "parting": ("child fork:orphan on:TERM:out:z wait end out:a wait", {}),
    "daemon": ("child fork:daemon setsid out:d wait end out:a exit:0", {}),
    "quiet-daemon": ("child close:1 close:2 fork:daemon setsid wait end exit:0", {}),
}
LIMITED = {"timeout_ms": 1000}
# Why the run is ended: fields of the request, and signals to the caller.
CAUSES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "deadline": (LIMITED, ()),
    "term": ({}, ("TERM",)),
    "int-term": ({}, ("INT", "TERM@2000")),  # the second signal comes within the grace period
    "deadline-int": (LIMITED, ("INT@3000",)),
}


def _scenario(
    name: str, script: str, request: dict[str, Any], signals: tuple[str, ...], **more: bool
) -> Scenario:
    return Scenario(name, script.split(), request, signals, escapes="setsid" in script, **more)


EACH_PHASE_AND_CAUSE = tuple(
    _scenario(f"{phase}+{cause}", script, {**fields, **request}, signals)
    for phase, (script, fields) in PHASES.items()
    for cause, (request, signals) in CAUSES.items()
)

# Scenarios in which the program cannot be started, or the orphans become children of the caller.
OTHERS = (
    _scenario("missing", "child", {"program": "/nonexistent"}, ("TERM",), fails=True),
    _scenario("missing-int", "child", {"program": "/nonexistent"}, ("INT", "TERM"), fails=True),
    _scenario("no-program", "child", {"program": "/", **LIMITED}, (), fails=True),
    _scenario("adopted", "child fork:orphan out:o wait end exit:3", {}, ("TERM",), adopts=True),
    _scenario(
        "adopted-end",
        "child fork:middle fork:orphan exit:5 end exit:6 end out:a exit:3",
        LIMITED,
        (),
        adopts=True,
    ),
    _scenario(
        "adopted-daemon",
        "child close:1 close:2 fork:daemon setsid wait end exit:0",
        {},
        (),
        adopts=True,
    ),
)

# Several runs at once. A signal may arrive before a run has started; so each run has a limit or
# ends by itself.
BATCHES = tuple(
    Scenario(
        f"batch-{name}",
        scripts[0].split(),
        {"batch": [*zip(scripts, fields, strict=True)]},
        signals,
    )
    for name, scripts, fields, signals in (
        ("exits", ("child out:a exit:1", "other out:b exit:2"), ({}, {}), ()),
        ("exit-term", ("child out:a exit:3", "other out:b wait"), ({}, LIMITED), ("TERM",)),
        (
            "int-term",
            ("child on:INT:exit:4 wait", "other ignore:INT ignore:TERM wait"),
            (LIMITED, LIMITED),
            ("INT", "TERM"),
        ),
        (
            "deadlines",
            ("child wait", "other ignore:TERM out:b wait"),
            ({"timeout_ms": 500}, LIMITED),
            (),
        ),
        (
            "deadline-exit",
            ("child ignore:TERM wait", "other out:b exit:6"),
            (LIMITED, {}),
            ("TERM",),
        ),
        (
            "orphans",
            ("child fork:orphan out:o wait end exit:3", "other fork:second wait end out:b wait"),
            ({}, LIMITED),
            (),
        ),
        (
            "missing",
            ("child wait", "other wait"),
            ({"program": "/nonexistent"}, LIMITED),
            ("TERM",),
        ),
    )
)

SINGLE = tuple(
    _scenario(name, script, request, signals)
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
        # One member forks and ends while the implementation looks for members.
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
        (
            "cap-talks",
            "child ignore:TERM at:4000 out:abcdef wait",
            {"max_output_bytes": 4, "timeout_ms": 1000},
            (),
        ),
        ("killed", "child die:KILL", {"timeout_ms": 1000}, ("TERM",)),
        (
            "stops-later",
            "child fork:orphan ignore:TERM at:2000 stop wait end wait",
            {"timeout_ms": 1000},
            (),
        ),
        # The signal comes at the end of the grace period, so with a choice it comes after SIGKILL.
        (
            "killed-term",
            "child ignore:TERM fork:daemon setsid wait end wait",
            {"timeout_ms": 1000},
            ("TERM@6000",),
        ),
    )
)

SCENARIOS = (*SINGLE, *OTHERS, *BATCHES, *EACH_PHASE_AND_CAUSE)

# Events of the contract that no order of these scenarios contains.
NOT_FORCED = {
    "cancel": "the protocol has no request that cancels a run",
    "a member that SIGKILL does not end": "needs a file system that does not answer",
    "a terminal as stdin": "job control of a terminal is not part of a world yet",
    "a change of threads between two system calls": "threads run one at a time",
}


def message(scenario: Scenario, puppet: str, folder: Path) -> dict[str, Any]:
    """Return the request for one run of the puppet, or for several runs at once."""
    if "batch" in scenario.request:
        runs = [_request(each, puppet) for each in singles(scenario)]
        return {"op": "exec.batch", "runs": [{"after_ms": 0, "request": each} for each in runs]}
    return {"op": "exec.run", "request": _request(scenario, puppet)}


def _request(scenario: Scenario, puppet: str) -> dict[str, Any]:
    return {"program": puppet, "args": list(scenario.script), **scenario.request}


ORDERS = Orders(SCENARIOS, message, judge, NOT_FORCED, replays_of)
