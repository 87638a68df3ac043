"""Translate a forced order of a module into events of the model of exec.

A module is one run: its deadline, signals, grace period and group are like those of `exec.run`. The
model does not contain the directory that is removed after the run.
"""

from __future__ import annotations

from boxspec.subject.orders.explore import Ran, Scenario
from boxspec.subject.orders.replay import NotComparable, Replay
from contracts.module.order_laws import Judged
from contracts.shared.run_events import BOUNDS, RunEvents

# The time limit of a module if the request gives no limit.
LONG_MS = 300_000


def replays_of(scenario: Scenario, ran: Ran) -> list[Replay]:
    """Return the events of this order, and the bounds of the model that replays them."""
    judged = Judged(scenario, ran)
    if not ran.leaders:
        raise NotComparable("the module is not executed")
    # The bounds must allow a long limit to end after a grace period, which has three units of time.
    limit, delays = (5, 8) if scenario.deadline_ms == LONG_MS else (1, BOUNDS["DELAYS"])
    # PAYLOAD is 0, because the runner of the reference reads the input before it executes the
    # module.
    bounds = {**BOUNDS, "PAYLOAD": 0, "CAP": BOUNDS["WRITES"], "LIMIT": limit, "DELAYS": delays}
    return [Replay(bounds, list(RunEvents(judged, _cause(judged)).all()))]


def _cause(judged: Judged) -> str:
    """Return the cause of the run's end.

    The answer may name a signal that arrived later, for example while the directory was removed.
    Such a signal is not the cause.
    """
    signals = judged.of("signal")
    ended = next((n for n in judged.of("collects") if n.facts["pid"] == judged.ran.leader), None)
    name = judged.reported.partition(" ")[0]
    if name == "parent_signal" and judged.first_signal is None:
        return "exit"
    if name == "parent_signal" and ended and all(note.step > ended.step for note in signals):
        return "timeout"
    return name
