"""Decide whether an answer is acceptable after a failure of the host, compared with the answer
without a failure."""

from __future__ import annotations

from typing import Any

# Fields whose values differ even between runs without a failure.
UNSTABLE = ("duration_ms", "pid", "time")
LEVELS = ("not-requested", "unavailable", "none", "partial", "fully")


def dishonest(before: Any, after: Any, at: str = "") -> str | None:
    """Return the place where `after` differs from `before`, or None.

    Errors and weaker promises do not count as differences.
    """
    if isinstance(after, dict) and ("error" in after or "errno" in after):
        return None
    if isinstance(before, dict) and isinstance(after, dict):
        return _dictionaries(before, after, at)
    if isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            return f"{at}: {len(after)} items for {len(before)}"
        return _lists(before, after, at)
    return None if before == after else f"{at}: {after!r:.200} for {before!r:.200}"


def _lists(before: list[Any], after: list[Any], at: str) -> str | None:
    for number, (one, other) in enumerate(zip(before, after, strict=True)):
        difference = dishonest(one, other, f"{at}/{number}")
        if difference:
            return difference
        # A failed step of a script reports an error; later steps continue as far as possible.
        if at.endswith("/steps") and isinstance(other, dict) and {"error", "errno"} & set(other):
            return None
    return None


def _dictionaries(before: dict[str, Any], after: dict[str, Any], at: str) -> str | None:
    if after.get("session") == "refused":
        return None
    # A watcher that cannot read ends the process that it watches, and reports that.
    if set(before) == {"exited"} and set(after) == {"signaled"}:
        return None
    if "session" in before:
        return _session(before, after, at)
    if "claim" in before:
        return None if not_better(before["claim"], after.get("claim")) else f"{at}: a better claim"
    if "overall" in before and not not_better(before["overall"], after.get("overall")):
        return f"{at}: a better claim"
    # The answer may truthfully report a directory that was not removed, a member that did not end,
    # or an environment that could not be hidden.
    allowed_more = {"directory_left", "error", "caller_exposed"}
    # The claims may lack an aspect that cannot be enforced.
    allowed_less = set(before) if all(_is_claim(value) for value in before.values()) else set()
    if set(after) - set(before) - allowed_more or set(before) - set(after) - allowed_less:
        return f"{at}: {sorted(after)} for {sorted(before)}"
    for name, value in before.items():
        if name in (*UNSTABLE, "overall", "reasons", "enforcement_reasons") or name not in after:
            continue
        # `signaled` may be SIGKILL, which ends the process if SIGTERM could not be sent. A backend
        # that is unavailable has no list of rules.
        if name == "signaled" and after[name] == "SIGKILL":
            continue
        if name == "not_enforced" and after.get("overall") == "unavailable":
            continue
        if name == "enforcement":
            if not not_better(value, after[name]):
                return f"{at}/{name}: better"
            continue
        difference = dishonest(value, after[name], f"{at}/{name}")
        if difference:
            return difference
    return None


def _is_claim(value: Any) -> bool:
    return isinstance(value, dict) and "claim" in value


def _session(before: dict[str, Any], after: dict[str, Any], at: str) -> str | None:
    """Compare two sessions. A session that degraded must say so; the calls must be the same as
    before."""
    if not not_better(before["enforcement"], after.get("enforcement")):
        return f"{at}: a better enforcement"
    if len(after["calls"]) not in (0, len(before["calls"])):
        return f"{at}: {len(after['calls'])} calls"
    for number, (b, a) in enumerate(zip(before["calls"], after["calls"], strict=False)):
        difference = dishonest(b, a, f"{at}/calls/{number}")
        if difference:
            return difference
    if before["claims"] is not None and after["claims"] is not None:
        return dishonest(before["claims"], after["claims"], f"{at}/claims")
    return None


def not_better(before: str, after: str | None) -> bool:
    return after in LEVELS and LEVELS.index(after) <= LEVELS.index(before)
