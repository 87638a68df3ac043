"""Moments, bounds and outcomes that the tests of deadlines, kills and signals share."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from boxspec.api import (
    Blocked,
    Box,
    Event,
    Events,
    Failure,
    Late,
    Live,
    NotMeasured,
    at_least,
    expect,
    matches,
)
from contracts.shared.moments import attempted as attempted
from contracts.shared.moments import elapsed_ms as elapsed_ms
from contracts.shared.moments import expect_none_left as expect_none_left
from contracts.shared.moments import need_preload as need_preload
from contracts.shared.moments import pass_time as pass_time
from contracts.shared.moments import send as send
from contracts.shared.moments import until as until

TIMED_OUT = b"process timed out"
BY_SIGTERM = b"process interrupted by signal SIGTERM"
BY_SIGINT = b"process interrupted by signal SIGINT"

# What runs the lines of `spawn_io.shell`.
SH = b"/bin/sh"

# A program that ends only when somebody ends it: a minute is longer than any case.
FOREVER_MS = "60000"

# How long a signal has to act on a caller that is held.
SIGNAL_ACTS_S = 0.5
# How long a process outside of the group may delay the return, from the end of the group.
LINGER_MS = 1000


def ends_with(annotation: bytes) -> Any:
    return matches(annotation + rb"\Z")


def annotated(stderr: bytes) -> bool:
    """Any of the kit's annotations stands in it."""
    return any(text in stderr for text in (TIMED_OUT, b"process interrupted by signal"))


def settled(events: Events, count: int = 1, **members: int) -> Event:
    """The leader's ready, which is the last of its group; without it nothing can be judged.

    A machine that is busy may not have set the group up before its deadline.
    """
    ready = events.all("ready")
    if len(ready) < count:
        said = [str(event) for event in events.all()]
        got = f"{len(ready)} of {count}"
        raise Late("the group is set up before its deadline", "ready", got, {"events": said})
    attempted(events, **members)
    return ready[0]


def expect_never_early(box: Box, what: str, elapsed_ms: float, timeout_ms: int) -> None:
    """`elapsed_ms` holds more than the deadline. Where that is enough to hide one which is early by
    all that is beyond a whole tick, a look in front of all other programs is worth it, once."""
    try:
        expect(what, elapsed_ms, at_least(timeout_ms))
    except Failure as why:
        why.timed = True
        raise
    hidden_ms = timeout_ms % box.tick_ms
    if box.look.number == 1 and hidden_ms == box.tick_ms - 1 <= elapsed_ms - timeout_ms:
        raise Late(what, f"less than {hidden_ms} ms above {timeout_ms}", f"{elapsed_ms} ms")


def blocked_or_late(box: Box, by: list[str], why: str) -> NotMeasured:
    """At the first look a busy machine may be the cause."""
    if box.look.number > 1:
        return Blocked(by, why)
    return Late("the case comes to what it is about", "a deadline's SIGTERM", why)


def kept_below(live: Live[Any], usual: int = 0) -> list[str]:
    """Whom a caller that is held has below itself, where these are more than `usual`: those that a
    plain run leaves it, such as a server that starts its children.

    What ends just behind its answer is collected a moment later.
    """
    if until(lambda: len(live.tree()) <= usual, 0.5):
        return []
    return [each.describe() for each in live.tree()]


def shell_ends(live: Live[Any]) -> None:
    """The leader of a `shell` has gone, whatever else is below the caller."""
    until(lambda: not any(each.alive and each.cmdline[:1] == [SH] for each in live.tree()))


def let_all_go(fifo: Path, waiting: Callable[[], bool]) -> None:
    """One fifo, many gates: those that had not come to it yet are let go by the next opening."""

    def gone() -> bool:
        # Without a reader this says ENXIO: then nobody waits in front of it just now.
        with contextlib.suppress(OSError):
            os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC))
        return not waiting()

    until(gone, 20)
