"""No answer where something has run out: the shim does not start there, or a run breaks it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from boxspec.api import Box, Failure, NotMeasured, ShimBroke
from boxspec.subject.observe import procs
from contracts.exec.answers import ObservedRun

# Refused before anything is started, by whoever reads a request and writes an answer.
NOBODY = {"op": "exec.run", "request": {"args": ["7"]}}
# What every shim answers, for one that breaks on a request without a program.
HELLO = {"op": "hello", "protocol": 1, "nonce": "nobody"}


def crash(box: Box, seen: ObservedRun, state: Sequence[str]) -> str:
    """How this run ended without an answer in this state, where a request that starts nobody has
    one there. Empty where it has none either, or where it cannot be told."""
    easier = list(state)
    if "--nproc" in state:
        if _has_threads(box):
            return ""
    elif "--nofile" in state:
        # One is left for a file that is loaded only where something runs.
        at = easier.index("--nofile") + 1
        easier[at] = str(int(easier[at]) - 1)
    else:
        return ""
    how, number = seen.shim_exit
    if not answers(box, easier):
        return ""
    return f"no answer ({how} {number}), although one without a program is answered there"


def _has_threads(box: Box) -> bool:
    """A run-time with threads makes more when it likes, and can tell nobody that it cannot."""
    with box.idle() as idle:
        return len(procs.threads(idle.pid)) > 1


def answers(box: Box, state: Sequence[str]) -> bool:
    """Whether a request that starts nobody is answered in this state. Where it is not, the shim
    cannot even begin: a run-time may crash there, or hang, before its first line."""
    if _answered(box, NOBODY, state):
        return True
    return not _answered(box, NOBODY) and _answered(box, HELLO, state)


def _answered(box: Box, message: dict[str, Any], state: Sequence[str] = ()) -> bool:
    try:
        return box.send(message, state=state, expect_result=False, within_s=5).raw is not None
    except (Failure, NotMeasured, ShimBroke):
        return False
