"""Time limits, annotations and waits that tests of deadlines, kills and signals use."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from boxspec.api import (
    Blocked,
    Event,
    Events,
    Failure,
    Late,
    NotMeasured,
    ShimProcess,
    Stamp,
    at_least,
    expect,
)
from contracts.exec.client import ExecCase
from contracts.shared.moments import attempted as attempted
from contracts.shared.moments import elapsed_ms as elapsed_ms
from contracts.shared.moments import expect_none_left as expect_none_left
from contracts.shared.moments import need_preload as need_preload
from contracts.shared.moments import pass_time as pass_time
from contracts.shared.moments import send as send
from contracts.shared.moments import stop_caller as stop_caller
from contracts.shared.moments import until as until

# In this time the whole group of the child must be set up, even on a busy machine. The deadline
# comes after it.
SETTLED_MS = 900

TIMED_OUT = b"process timed out"
BY_SIGTERM = b"process interrupted by signal SIGTERM"
BY_SIGINT = b"process interrupted by signal SIGINT"

# The path of the program that `spawn_io.shell` runs.
SH = b"/bin/sh"

# How long a program lives unless the test ends it: longer than any test.
FOREVER_MS = "60000"

# How long a process outside the group may delay the return after the group has ended.
LINGER_MS = 1000


def annotated(stderr: bytes) -> bool:
    """True if stderr has an annotation about a deadline or a signal."""
    return any(text in stderr for text in (TIMED_OUT, b"process interrupted by signal"))


def settled(events: Events, count: int = 1, **members: int) -> Event:
    """Return the leader's event `ready`, which it logs when all members have started.

    Raise Late if the event is missing: on a busy machine the deadline may pass before.
    """
    ready = events.all("ready")
    if len(ready) < count:
        logged = [str(event) for event in events.all()]
        got = f"{len(ready)} of {count}"
        raise Late("the group is set up before its deadline", "ready", got, {"events": logged})
    attempted(events, **members)
    return ready[0]


def expect_never_early(case: ExecCase, what: str, elapsed_ms: float, timeout_ms: int) -> None:
    """Expect that a run lasts at least `timeout_ms`. Measure again if other delays could hide an
    early deadline.

    `elapsed_ms` also contains the start and the end of the shim. An implementation that rounds the
    deadline down to whole ticks is early by `hidden_ms`. If the other delays are at least this long
    in the first attempt, Late makes the kit repeat the test with real-time priority.
    """
    try:
        expect(what, elapsed_ms, at_least(timeout_ms))
    except Failure as why:
        why.timed = True
        raise
    hidden_ms = timeout_ms % case.tick_ms
    if case.attempt.number == 1 and hidden_ms == case.tick_ms - 1 <= elapsed_ms - timeout_ms:
        raise Late(what, f"less than {hidden_ms} ms above {timeout_ms}", f"{elapsed_ms} ms")


def blocked_or_late(case: ExecCase, by: list[str], why: str) -> NotMeasured:
    """Return Late in the first attempt, because a busy machine may be the cause. Return Blocked in
    later attempts."""
    if case.attempt.number > 1:
        return Blocked(by, why)
    return Late("the case reaches the tested state", "a deadline's SIGTERM", why)


def over_before_signal(started_ns: int, sent: Stamp) -> NotMeasured:
    """Return the exception for a run that was over before the signal for it: Late if the machine
    delayed the signal."""
    sent_ms = elapsed_ms(started_ns, sent.t_ns)
    if sent_ms > LINGER_MS:
        return Late("the signal comes soon", f"within {LINGER_MS} ms", f"after {sent_ms:.0f} ms")
    return NotMeasured("the run ended before the signal could be sent")


def extra_descendants(shim: ShimProcess[Any], usual: int = 0) -> list[str]:
    """Return the descendants of a shim that waits at the fifo `hold`, if there are more than
    `usual`.

    `usual` is their number after a plain run, for example one server that starts the children. The
    check is repeated for half a second, because a process may be reaped shortly after the answer.
    """
    if until(lambda: len(shim.tree()) <= usual, 0.5):
        return []
    return [each.describe() for each in shim.tree()]


def shell_ends(shim: ShimProcess[Any]) -> None:
    """Wait until the shell that `spawn_io.shell` started has ended.

    Other descendants do not matter.
    """
    until(lambda: not any(each.alive and each.cmdline[:1] == [SH] for each in shim.tree()))


def open_gate_for_all(fifo: Path, waiting: Callable[[], bool]) -> None:
    """Open a fifo at which several gates wait. Repeat this until no gate waits.

    A gate that reaches the fifo late continues when the fifo is opened the next time.
    """

    def gone() -> bool:
        # Opening fails with ENXIO if there is no reader: no gate waits at the fifo now.
        with contextlib.suppress(OSError):
            os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC))
        return not waiting()

    until(gone, 20)
