"""Check the state that a program inherits from its caller.

All operations that start a program use this check. A `report` (fixtures/programs) describes the
state in which a program was started.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from boxspec.api import Idle, expect
from boxspec.subject.case import Case
from contracts.shared.signals import THREE, signals_in

# Requirements of their own define the state of the signals in THREE. The C library reserves signals
# 32 and 33.
EXCLUDED = {*THREE, 32, 33}
BLOCKED, IGNORED = ("USR1", "CHLD", "RTMAX"), ("HUP", "USR2", "TTOU")
# The umask lacks a bit of the usual one, 022.
FILES, CORE, UMASK = 211, 1 << 20, 0o005
NICE = min(os.getpriority(os.PRIO_PROCESS, 0) + 3, 19)

# Flags of the warden. They give the caller an unusual state in each respect.
UNUSUAL_LIMITS = [
    *("--nofile", str(FILES), "--core", str(CORE), "--umask", f"{UMASK:03o}", "--nice", str(NICE)),
]
UNUSUAL = [
    *(word for name in BLOCKED for word in ("--block", name)),
    *(word for name in IGNORED for word in ("--ignore", name)),
    *UNUSUAL_LIMITS,
]


class Part(NamedTuple):
    """One part of the state of a process.

    of_child: a function that reads this part from the child's report.
    wanted: its value under the flags above.
    of_shim: a function that reads this part from an idle shim.
    """

    of_child: Callable[[Mapping[str, Any]], Any]
    wanted: Any
    of_shim: Callable[[Idle], Any]


def numbers(names: tuple[str, ...]) -> list[int]:
    return sorted(signal.Signals[f"SIG{name}"] for name in names)


def of_kit(name: str) -> Part:
    """Return the part of a limit that no flag changes: the warden inherits it from the kit."""
    which = int(getattr(resource, f"RLIMIT_{name.upper()}"))
    return Part(
        lambda report: tuple(report["rlimits"][name]),
        resource.getrlimit(which),
        lambda idle: idle.limits(which),
    )


LIMITS = {
    "limit of open files": Part(
        lambda report: tuple(report["rlimits"]["nofile"]),
        (FILES, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),
        lambda idle: idle.limits(resource.RLIMIT_NOFILE),
    ),
    "limit of a core file": Part(
        lambda report: report["rlimits"]["core"][0],
        CORE,
        lambda idle: idle.limits(resource.RLIMIT_CORE)[0],
    ),
    **{
        f"limit {name}": of_kit(name) for name in ("stack", "data", "as", "fsize", "memlock", "cpu")
    },
    "umask": Part(lambda report: report["umask"], UMASK, lambda idle: idle.umask),
    "niceness": Part(lambda report: report["nice"], NICE, lambda idle: idle.nice),
}
STATE = {
    "blocked signals": Part(
        lambda report: sorted(signals_in(report["sigblk"]) - EXCLUDED),
        numbers(BLOCKED),
        lambda idle: sorted(idle.mask("SigBlk") - EXCLUDED),
    ),
    "ignored signals": Part(
        lambda report: sorted(signals_in(report["sigign"]) - EXCLUDED),
        numbers(IGNORED),
        lambda idle: sorted(idle.mask("SigIgn") - EXCLUDED),
    ),
    **LIMITS,
}


def expect_the_callers(
    case: Case,
    report: Mapping[str, Any],
    flags: Sequence[str] = UNUSUAL,
    parts: Mapping[str, Part] = STATE,
) -> None:
    """Expect that these parts of the child's state are those of a caller with these flags.

    A runtime may change its own state before it starts a program. The program may then have the
    changed state or the original one.
    """
    got = {name: part.of_child(report) for name, part in parts.items()}
    wanted = {name: part.wanted for name, part in parts.items()}
    if got != wanted:
        with case.idle(*flags) as idle:
            own = {name: part.of_shim(idle) for name, part in parts.items()}
        wanted = {name: own[name] if got[name] == own[name] else wanted[name] for name in parts}
    wrong = [name for name in parts if got[name] != wanted[name]]
    expect(
        "state of the child that differs from the caller's",
        {name: got[name] for name in wrong},
        {name: wanted[name] for name in wrong},
    )
