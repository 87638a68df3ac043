"""Share between threads whether vectors conformed.

A refusal is evidence only if its allowed counterpart conforms, and several tests, each in its own
thread, use the same counterpart. A thread must not read the outcome of a question that another
thread has asked and that is not answered yet: it would report a conforming requirement as broken.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable


class Outcomes:
    """The outcomes of a session, by the id of a vector or by a common name of several vectors."""

    def __init__(self) -> None:
        self._known: dict[str, bool] = {}
        self._lock = threading.Lock()
        self._turns: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)

    def note(self, name: str, conforms: bool) -> None:
        """Set the outcome of a question that was answered."""
        self._known[name] = conforms

    def of(self, name: str, ask: Callable[[], bool]) -> bool:
        """Return the outcome. If there is none yet, call `ask` for it.

        If another thread asks already, wait for its answer. An exception of `ask` leaves no
        outcome.
        """
        with self._lock:
            turn = self._turns[name]
        with turn:
            if name not in self._known:
                self._known[name] = ask()
            return self._known[name]

    def clear(self) -> None:
        self._known.clear()
