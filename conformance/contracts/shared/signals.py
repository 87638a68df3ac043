"""What /proc tells of the signals of a process; the three that a child has at their default.

A `report` (fixtures/programs) is what a program says about how it was started.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Any

from boxspec.api import expect

THREE = {signal.SIGINT, signal.SIGTERM, signal.SIGPIPE}


def ignoring(*names: str) -> list[str]:
    """The state of a caller that ignores them."""
    return [word for name in names for word in ("--ignore", name)]


def signals_in(mask: str) -> set[int]:
    """The numbers in a hexadecimal mask of /proc/PID/status."""
    bits = int(mask, 16)
    return {number + 1 for number in range(64) if bits >> number & 1}


def expect_the_three_at_default(report: Mapping[str, Any]) -> None:
    bad = {signal.Signals(each).name for each in THREE & signals_in(report["sigign"])}
    expect("those of the three that the child ignores", bad, set())


def expect_the_three_to_act(report: Mapping[str, Any]) -> None:
    """At their default, and not blocked either, where the caller blocks none of them."""
    expect_the_three_at_default(report)
    bad = {signal.Signals(each).name for each in THREE & signals_in(report["sigblk"])}
    expect("those of the three that are blocked in the child", bad, set())
