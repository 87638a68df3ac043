"""Report that a shim died without a response."""

from __future__ import annotations

import signal
from collections.abc import Collection
from typing import Any

from boxspec.errors import ShimBroke
from boxspec.subject.observe.warden import Exit

# Signals that a process gets for its own mistake, or that the system sends.
_CRASHES = {
    signal.SIGABRT,
    signal.SIGBUS,
    signal.SIGFPE,
    signal.SIGILL,
    signal.SIGKILL,
    signal.SIGSEGV,
    signal.SIGSYS,
    signal.SIGTRAP,
    signal.SIGXCPU,
    signal.SIGXFSZ,
}


def died(ended: Exit, evidence: dict[str, Any], sent: Collection[int] = ()) -> ShimBroke:
    """Return the exception for a shim that ended without a response.

    sent: the signals that the test has sent. A shim without a handler may die from one of them; the
        protocol allows that.
    """
    if ended.how == "exited":
        return ShimBroke(
            f"the shim exited {ended.number} without a response",
            evidence,
            symptom="exits without a response",
        )
    name = _name(ended.number)
    if ended.number in _CRASHES and ended.number not in sent:
        return ShimBroke(
            f"the shim died of {name} (killed {ended.number}) without a response",
            evidence,
            judged="the shim lives until it has answered",
            expected="a response",
            symptom=f"dies of {name}",
        )
    whose = "sent by the test, " if ended.number in sent else ""
    return ShimBroke(
        f"the shim died of {name}, {whose}for which it had no handler",
        evidence,
        judged="the caller of a run survives its signals",
        expected="a response: the run forwards the signal and returns a result",
        symptom="no handler for a signal of the caller",
    )


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
