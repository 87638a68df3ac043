"""Translate a forced order into events of the model (../shared/trace.pml).

The script of the order is translated into the steps of its threads (script.pml).
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from boxspec.subject.orders.explore import Ran, Scenario
from boxspec.subject.orders.replay import MOST_STEPS, MOST_THREADS, NotComparable, Replay
from boxspec.subject.orders.task import Note
from contracts.process.order_laws import Judged
from contracts.process.order_parts import parts
from contracts.shared.model_events import MOST_FORKS, Event, GroupEvents

# The bounds are higher than the numbers in any order. The threads take the steps of the script.
BOUNDS = {"FORKS": MOST_FORKS, "WRITES": 8, "PIPE": 8, "THREADS": 3, "CALLS": 0, "DELAYS": 0}
# The steps and their names in script.pml. Other steps do not act on the process group.
CALLS = {"open": "OPEN", "kill": "KILL", "terminate": "TERMINATE", "close": "CLOSE", "drop": "DROP"}
Step = tuple[str, int, bool]


def replays_of(scenario: Scenario, ran: Ran) -> list[Replay]:
    """Return the events and the steps of each process that the script opened.

    The model has one process. So each process of the order is compared by itself.
    """
    if ran.hung or ran.answer is None:
        raise NotComparable("it gave no answer")
    return [
        Replay(BOUNDS, list(_Events(each).all()), _steps(each)) for each in parts(scenario, ran)
    ]


def _steps(judged: Judged) -> list[list[Step]]:
    """Return the steps of each thread. Thread 0 starts the steps of the other threads."""
    threads: dict[str, list[Step]] = {"": []}
    main = threads[""]
    for (step, result), made in zip(judged.steps, _made(judged), strict=True):
        thread = step.get("thread", "")
        number = list(threads).index(thread) if thread in threads else len(threads)
        if step["step"] == "join":
            main.append(("JOIN", number, False))
        # A failed step came after the drop of its handle, and had no effect. It is left out.
        elif made is not None and "error" not in result:
            threads.setdefault(thread, []).append(made)
            if thread:
                main.append(("HAND", number, False))
    if len(threads) > MOST_THREADS or max(map(len, threads.values())) >= MOST_STEPS:
        raise NotComparable("it has more threads or steps than the model")
    return list(threads.values())


def _made(judged: Judged) -> Iterator[Step | None]:
    """Yield for each step of the script the step of the model, or None."""
    writes = [len(text) for _, fd, text in judged.writes() if fd == 1]
    sizes = [0, *accumulate(writes)]
    got = 0
    for step, result in judged.steps:
        name, ended = step["step"], "exited" in result or "signaled" in result
        if name in CALLS:
            yield CALLS[name], 0, ended
        elif name in ("wait", "poll"):
            yield "LIMIT" if name == "poll" or "timeout_ms" in step else "WAIT", 0, ended
        elif name == "read_until":
            got += _size(result)
            # Bytes of a process outside the group are not events of the model. So fewer writes may
            # be enough.
            yield "READ", sum(size < min(got, sizes[-1]) for size in sizes), False
        elif name == "read_eof":
            yield "READ_EOF", 0, False
        else:
            yield None


def _size(result: dict[str, Any]) -> int:
    return len(base64.b64decode(result.get("data_b64", "")))


class _Events(GroupEvents):
    """Makes the events of a script."""

    def __init__(self, judged: Judged) -> None:
        super().__init__(judged)
        closes = [step for step, _ in judged.steps if step["step"] == "close"]
        graces = [int(step["grace_ms"]) for step in closes]
        # Closes in several threads may come in any order, so the shortest grace period is used.
        if len({step.get("thread") for step in closes}) > 1:
            graces = [min(graces)] * len(graces)
        self.graces, self.closes = iter(graces), bool(graces)
        if self.closes and "terminate" in judged.words:
            raise NotComparable("a SIGTERM is sent by terminate or by close")

    def grace_ms(self, note: Note) -> int | None:
        if not self.closes:
            return None
        return next(self.graces, 0)

    def end(self) -> Event:
        return "RETURN", 0
