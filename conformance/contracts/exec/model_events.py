"""Translate a forced order of a run into events of its model (model.pml, ../shared/trace.pml)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from boxspec.subject.orders.explore import Ran, Scenario
from boxspec.subject.orders.replay import NotComparable, Replay
from contracts.exec.order_batch import parts
from contracts.exec.order_facts import PIPE_BYTES, Judged
from contracts.shared.model_events import Event
from contracts.shared.run_events import BOUNDS, RunEvents

# Kinds of notes about a process of one run.
OWN = ("action", "born", "collects", "delivered", "died", "send")


def replays_of(scenario: Scenario, ran: Ran) -> list[Replay]:
    """Return the events of each run of this order, and the bounds of the model that replays them.

    The model has one run. So each run of the order is compared by itself.
    """
    if "batch" in scenario.request:
        if ran.hung or ran.answer is None:
            raise NotComparable("it gave no answer")
        return [_replay(single, _with_answer(own)) for single, own in parts(scenario, ran)]
    return [_replay(scenario, ran)]


def _replay(scenario: Scenario, ran: Ran) -> Replay:
    return Replay({**BOUNDS, **_bounds(scenario)}, list(_Events(Judged(scenario, ran)).all()))


def _with_answer(ran: Ran) -> Ran:
    """Return the run of a batch with an answer after the last event of its own processes.

    The driver does not see when the run ended. Later events belong to other runs.
    """
    last = max(at for at, note in enumerate(ran.notes) if note.kind in OWN)
    answer = replace(ran.notes[last], kind="answers", facts={})
    return replace(ran, notes=[*ran.notes[: last + 1], answer])


def _bounds(scenario: Scenario) -> Mapping[str, object]:
    request = scenario.request
    payload = request.get("stdin")
    size = len(payload["bytes"]) if payload else 0
    return {
        # The length of a limit does not matter in the model. Only the order of its end matters.
        "LIMIT": "NEVER" if scenario.deadline_ms is None else min(scenario.deadline_ms, 1),
        "PAYLOAD": BOUNDS["PIPE"] + 1 if size > PIPE_BYTES else min(size, 1),
        "CAP": _cap(scenario.script, request.get("max_output_bytes")),
    }


def _cap(script: Sequence[str], most: int | None) -> int:
    """Return how many writes fit into the cap. In the model each write is one byte."""
    sizes = [len(word.rpartition("out:")[2]) for word in script if "out:" in word]
    if most is None:
        return BOUNDS["WRITES"]
    return sum(sum(sizes[: count + 1]) <= most for count in range(len(sizes)))


class _Events(RunEvents):
    """Makes the events of a run, including events of its stdin."""

    def __init__(self, judged: Judged) -> None:
        super().__init__(judged, (judged.reported or "").partition(" ")[0])
        payload = judged.scenario.request.get("stdin")
        # A short payload fits into the pipe and is written at once, so the model leaves it out.
        self.is_long = payload is not None and len(payload["bytes"]) > PIPE_BYTES

    def reads(self, number: int) -> Iterator[Event]:
        if self.is_long:
            raise NotComparable("a program reads a long payload")
        yield from ()

    def closes_stdin(self, number: int) -> Iterator[Event]:
        yield "CLOSE_IN", number
