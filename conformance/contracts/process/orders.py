"""Define the scenarios of processes; the driver forces their events into orders.

The steps of a script are words: `wait:500` is a wait with a limit of 500 ms, `t.kill` is a kill in
the thread t, and `b/open` opens the handle b.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from boxspec.subject.orders.explore import Orders, Scenario
from contracts.process.model_events import replays_of
from contracts.process.order_laws import judge, steps_of

SCENARIOS = tuple(
    Scenario(name, script.split(), {"steps": steps, "b": b}, escapes="setsid" in script)
    for name, script, steps, b in (
        ("exit", "child out:a err:b exit:3", "open read_eof wait", ""),
        ("output-later", "child out:a exit:0", "open wait read_eof wait", ""),
        ("wait-limit", "child out:a exit:4", "open wait:1000 wait", ""),
        ("wait-limits", "child wait", "open wait:300 wait:700 kill wait", ""),
        ("poll", "child out:r exit:0", "open poll read:r poll poll wait", ""),
        ("killed", "child die:KILL", "open wait:1000 wait", ""),
        ("kill-waits", "child out:r wait", "open read:r t.wait kill join:t wait", ""),
        ("kill-limit", "child out:r wait", "open read:r t.wait:400 kill join:t wait", ""),
        ("kill-exit", "child out:r exit:7", "open read:r kill kill wait poll", ""),
        (
            "kill-two-waits",
            "child exit:1",
            "open t.wait u.wait:300 kill join:t join:u wait",
            "",
        ),
        ("terminate", "child on:TERM:exit:9 out:r exit:0", "open read:r terminate wait", ""),
        (
            "terminate-words",
            "child on:TERM:out:z out:r exit:0",
            "open read:r terminate read_eof wait",
            "",
        ),
        (
            "terminate-ignored",
            "child ignore:TERM out:r wait",
            "open read:r terminate wait:500 kill wait",
            "",
        ),
        ("terminate-race", "child exit:2", "open t.terminate kill join:t wait", ""),
        ("close", "child out:a wait", "open close:1000 wait", ""),
        ("close-exit", "child out:r exit:5", "open read:r close:1000 close:1000", ""),
        ("close-ignored", "child ignore:TERM out:r wait", "open read:r close:1000 poll", ""),
        ("close-at-once", "child ignore:TERM out:r wait", "open read:r close:0 wait", ""),
        ("close-handled", "child on:TERM:exit:6 out:r wait", "open read:r close:1000 wait", ""),
        (
            "close-waits",
            "child on:TERM:exit:6 out:r wait",
            "open read:r t.wait close:1000 join:t",
            "",
        ),
        (
            "close-killed",
            "child ignore:TERM out:r wait",
            "open read:r t.close:1000 kill join:t wait",
            "",
        ),
        (
            "close-two",
            "child ignore:TERM out:r wait",
            "open read:r t.close:600 close:600 join:t",
            "",
        ),
        # Because the child has an action at a later time, the caller can be delayed.
        (
            "close-delayed",
            "child ignore:TERM out:r at:700 out:x wait",
            "open read:r close:1000 poll",
            "",
        ),
        # The second close comes within the grace period of the first.
        (
            "close-again",
            "child ignore:TERM out:r wait",
            "open read:r t.close:600 wait:300 close:600 join:t",
            "",
        ),
        (
            "close-sooner",
            "child ignore:TERM out:r wait",
            "open read:r t.close:900 wait:300 close:200 join:t",
            "",
        ),
        ("drop", "child fork:orphan out:r wait end wait", "open read:r drop", ""),
        ("drop-exit", "child exit:0", "open poll drop", ""),
        ("drop-waits", "child wait", "open t.wait kill drop join:t", ""),
        ("left-open", "child fork:orphan wait end out:r wait", "open read:r wait:200", ""),
        ("orphan", "child fork:orphan out:o wait end exit:4", "open wait read_eof", ""),
        (
            "orphan-limit",
            "child fork:orphan ignore:TERM out:r wait end exit:4",
            "open read:r wait:900 wait",
            "",
        ),
        (
            "orphan-close",
            "child fork:orphan ignore:TERM out:r wait end exit:4",
            "open read:r close:1000 wait",
            "",
        ),
        (
            "orphan-grace",
            "child fork:orphan ignore:TERM out:r wait end wait",
            "open read:r close:1000",
            "",
        ),
        (
            "orphan-kill",
            "child fork:orphan out:r wait end wait",
            "open read:r t.wait kill join:t",
            "",
        ),
        (
            "orphan-forks",
            "child fork:orphan out:r fork:second wait end wait end wait",
            "open read:r close:0",
            "",
        ),
        (
            "orphan-stopped",
            "child fork:orphan stop wait end out:r exit:0",
            "open read:r close:1000",
            "",
        ),
        (
            "escapes",
            "child fork:daemon setsid out:r wait end exit:0",
            "open read:r wait close:1000",
            "",
        ),
        (
            "escapes-close",
            "child fork:daemon setsid out:r wait end wait",
            "open read:r close:1000 close:0",
            "",
        ),
        ("echo", "child read:3 out:a exit:0", "open write:abc read:a close_stdin wait", ""),
        ("end-of-input", "child read:9 out:a exit:0", "open close_stdin read_eof wait", ""),
        ("input-by-wait", "child read:9 exit:0", "open wait:100 wait", ""),
        ("stopped", "child out:r stop out:a exit:0", "open read:r wait:100 close:1000", ""),
        ("two", "child exit:1", "open b/open b/kill b/wait wait", "other wait"),
        ("two-close", "child wait", "open b/open t.b/close:500 close:1000 join:t", "other wait"),
        ("again", "child exit:1", "open wait drop open wait:100 kill wait", ""),
    )
)

# Events of the contract that no order of these scenarios contains.
NOT_FORCED = {
    "the events of a bridge": "the driver gives the implementation no client",
    "a failure of open": "the child is the puppet, which can always be executed",
    "a pipe that is full": "the puppets write few bytes",
    "another part of the caller that reaps the child": "the protocol has no such step",
}


def message(scenario: Scenario, puppet: str, _folder: Path) -> dict[str, Any]:
    """Return a script whose handles run puppets."""
    scripts = {"a": list(scenario.script), "b": str(scenario.request["b"]).split()}
    handles = {
        name: {"request": {"program": puppet, "args": script}}
        for name, script in scripts.items()
        if script
    }
    return {"op": "process.script", "handles": handles, "steps": steps_of(scenario)}


ORDERS = Orders(SCENARIOS, message, judge, NOT_FORCED, replays_of)
