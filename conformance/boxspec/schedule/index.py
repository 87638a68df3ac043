"""Find the tests of a requirement or of a pitfall."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from boxspec.errors import UsageError
from boxspec.judge.requirements import load, pitfalls
from boxspec.schedule.runner import collect
from boxspec.schedule.selection import requires_of


class RequirementIndex:
    """The tests of each requirement and of each pitfall, from one collection.

    only: requirements; without any, the tests of all requirements are collected.
    """

    def __init__(self, *only: str) -> None:
        self.by_requirement: dict[str, list[str]] = defaultdict(list)
        self.by_pitfall: dict[str, list[str]] = defaultdict(list)
        observer = collect(*only)
        if observer.failures:
            raise UsageError("the tests", "cannot be collected", "\n".join(observer.failures))
        for item in observer.items:
            marked = requires_of(item)
            assert marked is not None
            for name in marked.ids:
                self.by_requirement[name].append(item.nodeid)
            for row in marked.pitfalls:
                self.by_pitfall[row].append(item.nodeid)

    def requirements(self) -> list[dict[str, Any]]:
        return [
            {
                "id": each.id,
                "level": each.level,
                "profile": each.profile,
                "contract": each.contract,
                "capability": each.capability,
                "needs": list(each.needs),
                "clause": each.clause,
                "source": each.source,
                "links": dict(each.links),
                "since": each.since,
                "testable": each.untestable or True,
                "tests": self.by_requirement.get(each.id, []),
            }
            for each in load().values()
        ]

    def pitfalls(self) -> list[dict[str, Any]]:
        rows = pitfalls()
        names = sorted({*rows, *self.by_pitfall}, key=lambda name: (name[0], int(name[1:])))
        made = []
        for name in names:
            tests = self.by_pitfall.get(name, [])
            why_not = rows[name].why_not if name in rows else None
            made.append({"id": name, "tests": tests, "why_not": None if tests else why_not})
        return made
