"""The limits of setrlimit(2) that a run needs. The shims inherit them from the kit."""

from __future__ import annotations

import resource
from typing import NamedTuple

from boxspec.errors import UsageError

# With this many descriptors a run can measure every test: some tests make many runs at once.
WANTED_DESCRIPTORS = 1024
_MIB = 2**20
_GIB = 2**30


class _Need(NamedTuple):
    """The need for one resource.

    option, value: of the command `ulimit` that raises the limit.
    least: the need of a run.
    wanted: the new soft limit, if the hard limit allows it.
    unit, words: the unit of the message, and its words for the resource.
    """

    number: int
    option: str
    value: str
    least: int
    wanted: int
    unit: int
    words: str


_NEEDS = (
    _Need(resource.RLIMIT_NOFILE, "-n", "1024", 256, WANTED_DESCRIPTORS, 1, "descriptors open"),
    # Requests and answers with the largest payloads.
    _Need(resource.RLIMIT_FSIZE, "-f", "unlimited", 128 * _MIB, 2 * _GIB, _MIB, "MiB in a file"),
    # The kit has many threads, and each reserves address space for its stack.
    _Need(resource.RLIMIT_AS, "-v", "unlimited", 2 * _GIB, 8 * _GIB, _MIB, "MiB of address space"),
)


def raise_limits() -> None:
    """Raise each soft limit as far as a run wants and the hard limit allows.

    Raise UsageError if a hard limit is lower than the need of a run, or cannot be read.
    """
    try:
        _raise_limits()
    except PermissionError:
        problem = "a filter of system calls refuses to read or set limits, which tests do"
        raise UsageError("prlimit", problem, "run outside of the filter") from None


def _raise_limits() -> None:
    for need in _NEEDS:
        soft, hard = resource.getrlimit(need.number)
        if soft == resource.RLIM_INFINITY or soft >= need.wanted:
            continue
        most = need.wanted if hard == resource.RLIM_INFINITY else min(hard, need.wanted)
        if most < need.least:
            raise UsageError(
                f"ulimit {need.option}",
                f"a process may have {most // need.unit} {need.words}, and a run needs"
                f" {need.least // need.unit}",
                f"ulimit {need.option} {need.value}",
            )
        resource.setrlimit(need.number, (most, hard))
