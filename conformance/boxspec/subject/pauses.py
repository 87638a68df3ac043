"""Notice that all processes of a run were stopped for a while.

A debugger, a frozen container and a suspended virtual machine stop the kit together with the shim
and its programs. The clock goes on, so deadlines pass, and after the pause the order of events is
arbitrary.
"""

from __future__ import annotations

import threading
import time

TICK_S = 0.25
# A thread that waits for a processor is late, too, but seldom this late.
LONG_S = 2.0


class Pauses:
    """Watches the clock in a thread. `close` ends it."""

    def __init__(self) -> None:
        self._ends = threading.Event()
        self._lock = threading.Lock()
        self._ticked = time.monotonic()
        self._last = 0.0
        self._thread = threading.Thread(target=self._watch, name="pauses", daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._ends.wait(TICK_S):
            self._tick()

    def _tick(self) -> None:
        with self._lock:
            now = time.monotonic()
            if now - self._ticked > TICK_S + LONG_S:
                self._last = now
            self._ticked = now

    def ended_since(self, began: float) -> bool:
        """True if a pause ended after this time of the monotonic clock."""
        # The thread may not have run since the pause.
        self._tick()
        return self._last > began

    def close(self) -> None:
        self._ends.set()
        self._thread.join()
