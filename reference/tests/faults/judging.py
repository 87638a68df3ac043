"""What an answer may be after a failure of the host, held against the answer without one."""

from __future__ import annotations

from typing import Any

# These differ from run to run, failure or not.
UNSTABLE = ("duration_ms", "pid", "time")
LEVELS = ("not-requested", "unavailable", "none", "partial", "fully")


def dishonest(before: Any, after: Any, at: str = "") -> str | None:
    """Where `after` says other than `before`, and neither an error nor less of a promise."""
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
        told = dishonest(one, other, f"{at}/{number}")
        if told:
            return told
        # What a step of a script could not do is said; the later ones do what is left to do.
        if at.endswith("/steps") and isinstance(other, dict) and {"error", "errno"} & set(other):
            return None
    return None


def _dictionaries(before: dict[str, Any], after: dict[str, Any], at: str) -> str | None:
    if after.get("session") == "refused":
        return None
    # A watcher that cannot read ends what it watches, and that is told.
    if set(before) == {"exited"} and set(after) == {"signaled"}:
        return None
    if "session" in before:
        return _session(before, after, at)
    if "claim" in before:
        return None if not_better(before["claim"], after.get("claim")) else f"{at}: a better claim"
    if "overall" in before and not not_better(before["overall"], after.get("overall")):
        return f"{at}: a better claim"
    # A directory that could not be removed, a member that could not be ended: said, and true.
    allowed_more = {"directory_left", "error"}
    # An aspect that is not named is not claimed.
    allowed_less = set(before) if all(_is_claim(value) for value in before.values()) else set()
    if set(after) - set(before) - allowed_more or set(before) - set(after) - allowed_less:
        return f"{at}: {sorted(after)} for {sorted(before)}"
    for name, value in before.items():
        if name in (*UNSTABLE, "overall", "reasons", "enforcement_reasons") or name not in after:
            continue
        # Who was refused SIGTERM ends it by SIGKILL; of nothing that is left nothing is listed.
        if name == "signaled" and after[name] == "SIGKILL":
            continue
        if name == "not_enforced" and after.get("overall") == "unavailable":
            continue
        if name == "enforcement":
            if not not_better(value, after[name]):
                return f"{at}/{name}: better"
            continue
        told = dishonest(value, after[name], f"{at}/{name}")
        if told:
            return told
    return None


def _is_claim(value: Any) -> bool:
    return isinstance(value, dict) and "claim" in value


def _session(before: dict[str, Any], after: dict[str, Any], at: str) -> str | None:
    """One that was degraded says so; its calls are what they were."""
    if not not_better(before["enforcement"], after.get("enforcement")):
        return f"{at}: a better enforcement"
    if len(after["calls"]) not in (0, len(before["calls"])):
        return f"{at}: {len(after['calls'])} calls"
    for number, (b, a) in enumerate(zip(before["calls"], after["calls"], strict=False)):
        told = dishonest(b, a, f"{at}/calls/{number}")
        if told:
            return told
    if before["claims"] is not None and after["claims"] is not None:
        return dishonest(before["claims"], after["claims"], f"{at}/claims")
    return None


def not_better(before: str, after: str | None) -> bool:
    return after in LEVELS and LEVELS.index(after) <= LEVELS.index(before)
