"""Replay the events of forced orders in the model of a contract (conformance/model.md).

The model agrees with an order if it can make the same events in the same order. Spin searches for
such a run. It is free in all that is not an event, such as how much time passes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from boxspec.errors import HarnessError
from boxspec.subject.orders.model import DEPTH, STATES, Model, call, compile_model

EVENTS = re.compile(r"^#define E_(\w+) (\d+) +/\* (.*) \*/$", re.M)
PROGRAMS = 32  # the lowest code of an event that has a program number
STEPS = re.compile(r"^#define S_(\w+) (\d+)", re.M)
MOST_THREADS, MOST_STEPS = 3, 64  # sizes of the file `script`
REACHED = re.compile(r"AGREES UP TO (\d+)")


class NotComparable(Exception):
    """Raised if an order has an event that the model does not have; the message says which."""


@dataclass(frozen=True)
class Replay:
    """The bounds of the model, and the events of the order.

    events: each has a name, and the number of a program or of the cause of the end.
    threads: for a model that takes the steps of a script, the steps of each thread: a name, a
        number, and whether the step reported an end.
    """

    bounds: Mapping[str, object]
    events: Sequence[tuple[str, int]]
    threads: Sequence[Sequence[tuple[str, int, bool]]] = ()


class Replayer:
    """Replays orders in one model. The model is compiled once for each set of bounds."""

    def __init__(self, model: Model, folder: Path) -> None:
        self._model, self._folder = model, folder
        text = (model.path.parents[1] / "shared" / "trace.pml").read_text(encoding="utf-8")
        self._events: dict[str, tuple[int, str]] = {
            name: (int(code), words) for name, code, words in EVENTS.findall(text)
        }
        script = model.path.parent / "script.pml"
        text = script.read_text(encoding="utf-8") if script.exists() else ""
        self._steps = {name: int(code) for name, code in STEPS.findall(text)}
        self._compiled: dict[tuple[str, ...], Path] = {}

    def agreed(self, replay: Replay) -> int:
        """Return how many of the events the model can make in this order."""
        place = self._compile(replay.bounds)
        codes = bytes(self._events[name][0] + number for name, number in replay.events)
        (place / "trace").write_bytes(codes)
        (place / "script").write_bytes(self._script(replay))
        told = call(place, "./pan", f"-m{DEPTH}", "-w18", "-E", expect_success=False)
        reached = [int(number) for number in REACHED.findall(told)]
        if not reached or not STATES.search(told):
            raise HarnessError(f"the replay of an order did not end: {told[-500:]}")
        return max(reached)

    def _script(self, replay: Replay) -> bytes:
        """Return the script: three bytes for each possible step of each thread."""
        script = bytearray(3 * MOST_STEPS * MOST_THREADS)
        for thread, steps in enumerate(replay.threads):
            codes = bytes(byte for name, *rest in steps for byte in (self._steps[name], *rest))
            at = 3 * MOST_STEPS * thread
            script[at : at + len(codes)] = codes
        return bytes(script)

    def words(self, event: tuple[str, int]) -> str:
        """Describe an event."""
        code, words = self._events[event[0]]
        if code >= PROGRAMS:
            return f"program {event[1]}: {words}"
        if event[0] == "RETURN":
            return f"supervisor: {words}" + ("" if self._steps else f" (cause {event[1]})")
        return words

    def _compile(self, bounds: Mapping[str, object]) -> Path:
        macros = tuple(f"-D{name}={value}" for name, value in bounds.items())
        if macros not in self._compiled:
            place = self._folder / str(len(self._compiled))
            place.mkdir()
            compile_model(self._model, place, ["-DTRACE", *macros], ["-O1", "-DNOREDUCE"])
            self._compiled[macros] = place
        return self._compiled[macros]
