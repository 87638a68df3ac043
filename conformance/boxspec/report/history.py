"""Find out since when a requirement is broken, from earlier results of the same implementation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from boxspec.judge.verdict import BROKEN, Verdict
from boxspec.report.result import Result


def before(result: Result, earlier: Iterable[Result]) -> list[Result]:
    """Return earlier results of the same implementation and backend, the newest first."""

    def key(each: Result) -> tuple[str, object]:
        return each.implementation, each.plain["selection"]["backend"]

    mine = [each for each in earlier if key(each) == key(result) and each.started < result.started]
    return sorted(mine, key=lambda each: each.started, reverse=True)


def since(name: str, result: Result, past: Sequence[Result]) -> str:
    """Return a text such as `since 2026-11-20T…Z (fake 0.9)`.

    It is empty if the requirement is not broken or has no history.
    """
    if not _is_broken(name, result) or not past:
        return ""
    first, conformed = result, None
    for each in past:
        if name not in each.requirements:
            continue
        if not _is_broken(name, each):
            conformed = each
            break
        first = each
    text = f"since {first.started} ({first.name})"
    if conformed is not None:
        verdict = conformed.requirements[name]["verdict"]
        return f"{text}; {verdict} on {conformed.started} ({conformed.name})"
    return f"{text}, the first result that is given"


def _is_broken(name: str, result: Result) -> bool:
    each = result.requirements.get(name)
    return each is not None and Verdict(each["verdict"]) in BROKEN
