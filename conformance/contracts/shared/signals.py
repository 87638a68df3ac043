"""Read the signals of a process from /proc, and check three signals in a child.

The three must have their default disposition in a child. A `report` (fixtures/programs) describes
the state in which a program was started.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Any

from boxspec.api import expect

THREE = {signal.SIGINT, signal.SIGTERM, signal.SIGPIPE}


def ignoring(*names: str) -> list[str]:
    """Return the warden flags of a caller that ignores these signals."""
    return [word for name in names for word in ("--ignore", name)]


def signals_in(mask: str) -> set[int]:
    """Return the numbers in a hexadecimal mask of /proc/PID/status."""
    bits = int(mask, 16)
    return {number + 1 for number in range(64) if bits >> number & 1}


def expect_the_three_at_default(report: Mapping[str, Any]) -> None:
    bad = {signal.Signals(each).name for each in THREE & signals_in(report["sigign"])}
    expect("signals among SIGINT, SIGTERM and SIGPIPE that the child ignores", bad, set())


def expect_the_three_to_act(report: Mapping[str, Any]) -> None:
    """Expect that the three signals have their default disposition, and are not blocked.

    A signal may be blocked if the caller itself blocks it.
    """
    expect_the_three_at_default(report)
    bad = {signal.Signals(each).name for each in THREE & signals_in(report["sigblk"])}
    expect("signals among SIGINT, SIGTERM and SIGPIPE that are blocked in the child", bad, set())
