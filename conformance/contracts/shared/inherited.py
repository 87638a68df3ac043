"""The state that a program inherits from its caller, in each operation that starts one.

A `report` (fixtures/programs) describes the state in which a program was started.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Mapping
from typing import Any

from boxspec.api import Idle, expect
from boxspec.subject.case import Case
from contracts.shared.signals import THREE, signals_in

# Other requirements define the state of the signals in THREE. The C library reserves signals 32 and
# 33.
EXCLUDED = {*THREE, 32, 33}
BLOCKED, IGNORED = ("USR1", "CHLD", "RTMAX"), ("HUP", "USR2", "TTOU")
FILES, UMASK = 211, 0o027
NICE = min(os.getpriority(os.PRIO_PROCESS, 0) + 3, 19)

# Flags of the warden, for a caller whose state differs in each respect from the usual one.
UNUSUAL = [
    *(word for name in BLOCKED for word in ("--block", name)),
    *(word for name in IGNORED for word in ("--ignore", name)),
    *("--nofile", str(FILES), "--core", "0", "--umask", f"{UMASK:03o}", "--nice", str(NICE)),
]


def numbers(names: tuple[str, ...]) -> list[int]:
    return sorted(signal.Signals[f"SIG{name}"] for name in names)


def expect_the_callers(case: Case, report: Mapping[str, Any]) -> None:
    """Expect the state of a caller that was started with the flags UNUSUAL.

    A runtime may change its own state before it starts a program. The program may then have the
    changed state or the original one.
    """
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    got = {
        "blocked signals": sorted(signals_in(report["sigblk"]) - EXCLUDED),
        "ignored signals": sorted(signals_in(report["sigign"]) - EXCLUDED),
        "limit of open files": tuple(report["rlimits"]["nofile"]),
        "limit of a core file": report["rlimits"]["core"][0],
        "umask": report["umask"],
        "niceness": report["nice"],
    }
    wanted = {
        "blocked signals": numbers(BLOCKED),
        "ignored signals": numbers(IGNORED),
        "limit of open files": (FILES, hard),
        "limit of a core file": 0,
        "umask": UMASK,
        "niceness": NICE,
    }
    if got != wanted:
        with case.idle(*UNUSUAL) as idle:
            own = of_the_shim(idle)
        wanted = {what: own[what] if got[what] == own[what] else wanted[what] for what in wanted}
    wrong = [what for what in wanted if got[what] != wanted[what]]
    expect(
        "state of the child, where it is not the caller's",
        {what: got[what] for what in wrong},
        {what: wanted[what] for what in wrong},
    )


def of_the_shim(idle: Idle) -> dict[str, Any]:
    return {
        "blocked signals": sorted(idle.mask("SigBlk") - EXCLUDED),
        "ignored signals": sorted(idle.mask("SigIgn") - EXCLUDED),
        "limit of open files": idle.limits(resource.RLIMIT_NOFILE),
        "limit of a core file": idle.limits(resource.RLIMIT_CORE)[0],
        "umask": idle.umask,
        "niceness": idle.nice,
    }
