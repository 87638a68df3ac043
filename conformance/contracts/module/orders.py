"""Define the scenarios of modules; the driver forces their events into orders.

A module is a shell script that executes the puppet. So the runner, the shell and the puppet are one
process.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from boxspec.subject.orders.explore import Orders, Scenario
from contracts.module.model_events import LONG_MS, replays_of
from contracts.module.order_laws import judge

SCENARIOS = tuple(
    Scenario(name, script.split(), {"timeout_ms": limit}, signals)
    for name, script, limit, signals in (
        ("value", "child out:7 exit:0", LONG_MS, ()),
        ("value-limit", "child out:7 exit:0", 1000, ()),
        ("value-term", "child out:7 exit:0", LONG_MS, ("TERM",)),
        ("no-value", "child out:x exit:0", LONG_MS, ("INT",)),
        ("code", "child out:7 err:e exit:3", 1000, ()),
        ("signal", "child out:7 die:KILL", 1000, ()),
        ("limit", "child out:7 wait", 1000, ()),
        ("limit-int", "child wait", 1000, ("INT",)),
        ("limit-ignored", "child ignore:TERM out:7 wait", 1000, ()),
        ("limit-handled", "child on:TERM:exit:0 out:7 wait", 1000, ("TERM",)),
        ("int-term", "child wait", LONG_MS, ("INT", "TERM")),
        ("term-ignored", "child ignore:TERM wait", LONG_MS, ("TERM",)),
        ("orphan", "child fork:orphan wait end out:7 exit:0", LONG_MS, ()),
        ("orphan-writes", "child fork:orphan out:8 wait end exit:0", LONG_MS, ()),
        ("orphan-limit", "child fork:orphan ignore:TERM wait end wait", 1000, ()),
        ("orphan-term", "child fork:orphan ignore:TERM wait end exit:4", LONG_MS, ("TERM",)),
        ("orphan-stopped", "child fork:orphan stop wait end wait", 1000, ()),
        ("stopped", "child stop out:7 exit:0", 1000, ()),
        ("input", "child read:1 out:7 exit:0", 1000, ()),
        ("input-left", "child close:0 out:7 exit:0", LONG_MS, ("TERM",)),
    )
)

# Events of the contract that no order of these scenarios contains.
NOT_FORCED = {
    "the death of the caller by SIGKILL": "no law judges a caller that gives no answer",
    "too much output": "64 MiB of output are no event of a puppet",
    "a directory that cannot be removed": "no puppet writes files",
}


def message(scenario: Scenario, puppet: str, folder: Path) -> dict[str, Any]:
    """Return a request that executes a module, which becomes the puppet."""
    root = folder / "extensions"
    root.mkdir()
    module = root / "puppet"
    module.write_text(f"#!/bin/sh\nexec {shlex.join([puppet, *scenario.script])}\n")
    module.chmod(0o755)
    fields = {"module_id": "puppet", "input": 1, "extensions_root": str(root), **scenario.request}
    return {"op": "module.execute", **fields}


ORDERS = Orders(SCENARIOS, message, judge, NOT_FORCED, replays_of, model="exec")
