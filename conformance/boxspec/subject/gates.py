"""Open a gate: a fifo at which a program of a case waits until its test lets it continue."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from boxspec.subject.observe.events import LOOK_S
from boxspec.subject.open_guard import expect_fifo
from boxspec.subject.patience import Patience


def open_gate(
    path: str | os.PathLike[str], limit: Patience, any_process_alive: Callable[[], bool]
) -> None:
    """Open this fifo and close it, so that the program that reads it now or later gets its end of
    file."""
    done = threading.Event()

    def open_and_close() -> None:
        with expect_fifo():
            os.close(os.open(path, os.O_WRONLY | os.O_CLOEXEC))
        done.set()

    opener = threading.Thread(target=open_and_close, daemon=True)
    opener.start()
    last_look = False
    while not (came := done.wait(min(limit.left(), LOOK_S))):
        if last_look or limit.over():
            break
        last_look = not any_process_alive()
    if not came:
        # Open the fifo for reading too. Otherwise the thread that opens it for writing would wait
        # for a reader for ever.
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))
    opener.join()
    if not came:
        what, expected = "the gate is reached", "a reader of the fifo"
        if last_look:
            raise limit.all_ended(what, expected, {})
        raise limit.gave_up(what, expected, "none", {})
