"""Find out why a shim does not answer while a resource is exhausted.

Either the shim itself failed to start, or a run made it crash.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from boxspec.api import Failure, NotMeasured, ShimBroke
from boxspec.subject.observe import procs
from contracts.exec.answers import ObservedRun
from contracts.exec.client import ExecCase

# A request without a program. Every shim that can start refuses it without starting a child.
NO_PROGRAM = {"op": "exec.run", "request": {"args": ["7"]}}
# Used if the shim crashes on a request without a program, because every shim answers hello.
HELLO = {"op": "hello", "protocol": 1, "nonce": "nobody"}


def crash(case: ExecCase, seen: ObservedRun, state: Sequence[str]) -> str:
    """Return a text about the crash if a run caused it, otherwise an empty text.

    The run is not the cause if in this state the shim does not even answer a request that starts no
    child. It does not count as the cause either if this cannot be measured.
    """
    easier = list(state)
    if "--nproc" in state:
        if _has_threads(case):
            return ""
    elif "--nofile" in state:
        # Allow one descriptor less than the run had, because a run may open one file more than a
        # refused request.
        at = easier.index("--nofile") + 1
        easier[at] = str(int(easier[at]) - 1)
    else:
        return ""
    how, number = seen.shim_exit
    if not answers(case, easier):
        return ""
    return f"no answer ({how} {number}), although one without a program is answered there"


def _has_threads(case: ExecCase) -> bool:
    """True if the idle shim has several threads.

    Its runtime may start further threads at any time, and cannot report an error if that fails.
    """
    with case.idle() as idle:
        return len(procs.threads(idle.pid)) > 1


def answers(case: ExecCase, state: Sequence[str]) -> bool:
    """True if the shim answers a request that starts no child in this state.

    If it does not answer, its runtime crashes or hangs before the shim's own code runs.
    """
    if _answered(case, NO_PROGRAM, state):
        return True
    return not _answered(case, NO_PROGRAM) and _answered(case, HELLO, state)


def _answered(case: ExecCase, message: dict[str, Any], state: Sequence[str] = ()) -> bool:
    try:
        return case.send(message, state=state, expect_result=False, within_s=5).raw is not None
    except (Failure, NotMeasured, ShimBroke):
        return False
