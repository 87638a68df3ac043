"""States in which a caller starts its children, and checks that the shim itself starts in them."""

from __future__ import annotations

import resource
import signal
from collections.abc import Sequence

from boxspec.api import HostLacks, NotMeasured, ShimBroke
from boxspec.subject.case import Case

# If a caller ignores SIGCHLD, the kernel reaps its children.
IGNORES_CHLD = ["--ignore", "CHLD"]
# 64 more descriptors than select(2) supports.
MANY_DESCRIPTORS = 1024 + 64
# The descriptors for 66 runs at the same time, with 15 descriptors for each.
FOR_MANY_RUNS = 1000


def need_descriptors(count: int) -> None:
    """Raise HostLacks if a shim may not have this number of descriptors open."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if most != resource.RLIM_INFINITY and most < count:
        raise HostLacks(
            "descriptors", f"at most {most} descriptors may be open here: too few for this test"
        )


def many_descriptors() -> list[str]:
    """Return the flags for a caller whose children inherit MANY_DESCRIPTORS descriptors."""
    need_descriptors(2 * MANY_DESCRIPTORS)
    return ["--nofile", str(2 * MANY_DESCRIPTORS), "--open-below", str(MANY_DESCRIPTORS)]


def in_a_removed_directory(case: Case) -> list[str]:
    """Return the flags for a caller whose working directory is removed after its start.

    Raise NotMeasured if the shim itself does not start there.
    """
    gone = case.tmp / "gone"
    gone.mkdir()
    state = ["--cwd", str(gone), "--remove-cwd"]
    need_start(case, state)
    gone.mkdir()
    return state


def need_start(case: Case, state: Sequence[str]) -> None:
    """Raise NotMeasured if the shim itself does not start in this state."""
    try:
        with case.idle(*state):
            pass
    except ShimBroke as why:
        raise NotMeasured(f"the shim itself does not start in this state: {why}") from None


def resets_sigchld(case: Case) -> bool:
    """True if a shim that was started with SIGCHLD ignored no longer ignores it when it is idle."""
    with case.idle(*IGNORES_CHLD) as idle:
        return signal.SIGCHLD not in idle.mask("SigIgn")
