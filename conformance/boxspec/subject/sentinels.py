"""Check every capability with sentinel requests.

A shim must answer the requests of a declared capability, and refuse those of an undeclared one as
unsupported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from boxspec.errors import NotConforming
from boxspec.judge.expect import shown
from boxspec.subject.contract import Say, every

# The text of a line about a capability that is rightly refused.
UNSUPPORTED = "not declared, unsupported"
Ask = tuple[str, dict[str, Any]]


def quiet(_: str) -> None:
    """Print nothing. Callers pass this function if they want no lines."""


def no(reason: str) -> NotConforming:
    return NotConforming(f"not a conforming shim: {reason}")


def undeclared(capability: str, answer: Mapping[str, Any]) -> NotConforming:
    """Return the exception for a shim that answers although the capability is not declared."""
    if "error" in answer:
        return no(
            f"{capability} is not declared, so a request that needs it is answered 'unsupported'"
            f" with this name, not with an error: {shown(answer)}"
        )
    return no(
        f"{capability} is not declared but used all the same: {shown(answer)};"
        " declare it in hello, or answer 'unsupported'"
    )


def sentinel(capability: str, declared: bool, answer: dict[str, Any], say: Say, op: str) -> None:
    """Check that an answer agrees with the declared capabilities."""
    if declared and "unsupported" in answer:
        raise no(f"{capability} is declared, its sentinel {op} is answered 'unsupported'")
    if not declared:
        _refused(capability, answer, op)
    say(f"{capability}: {'declared, answers' if declared else UNSUPPORTED}")


def _refused(capability: str, answer: Mapping[str, Any], op: str) -> None:
    """Expect `unsupported`.

    The answer may name any capability or operation, because a shim may check them in any order.
    """
    if "unsupported" not in answer:
        raise undeclared(capability, answer)
    named = answer["unsupported"]["capability"]
    known = {name for each in every() for name in (*each.capabilities, *each.operations)}
    if named not in known:
        raise no(
            f"{capability} is not declared, so a request that needs it is answered 'unsupported'"
            f" with the name {capability} or {op}, not {named!r}"
        )


def sentinels(
    declared: frozenset[str],
    put: Callable[[dict[str, Any]], Mapping[str, Any] | None],
    each: Mapping[str, list[Ask]],
    say: Say,
) -> None:
    """Send the requests of every capability and check their answers.

    put: a function that sends a request.
    each: the requests of every capability.
    """
    for capability, asks in each.items():
        for op, fields in asks:
            answer = dict(put({**fields, "op": op}) or {})
            # Print only one line for each capability, after its last request.
            tell = say if (op, fields) == asks[-1] else quiet
            sentinel(capability, capability in declared, answer, tell, op)
