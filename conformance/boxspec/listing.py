"""The verbs `list` and `explain`: requirements, their tests, and the rows of the pitfalls."""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections import defaultdict
from typing import Any

from boxspec.choosing import says
from boxspec.errors import UsageError
from boxspec.requirements import Requirement, load, pitfalls
from boxspec.runner import collect


class Collected:
    """Which tests decide which requirement, and which show which pitfall."""

    def __init__(self) -> None:
        self.by_requirement: dict[str, list[str]] = defaultdict(list)
        self.by_pitfall: dict[str, list[str]] = defaultdict(list)
        observer = collect()
        if observer.failures:
            raise UsageError("the tests", "cannot be collected", "\n".join(observer.failures))
        for item in observer.items:
            marked = says(item)
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
                "clause": each.clause,
                "source": each.source,
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


def wanted(requirement: dict[str, Any], args: argparse.Namespace) -> bool:
    by_contract = not args.contract or requirement["contract"] in args.contract
    return by_contract and args.profile in (None, "all", requirement["profile"])


def list_(args: argparse.Namespace) -> int:
    collected = Collected()
    chosen = [each for each in collected.requirements() if wanted(each, args)]
    rows = collected.pitfalls()
    if args.json:
        document = {"requirements": chosen, "pitfalls": rows}
        json.dump(document, sys.stdout, indent=2, ensure_ascii=True)
        print()
        return 0
    for each in chosen:
        kind = f"{each['level']:<6} {each['profile']:<8}"
        tests = f"{len(each['tests'])} tests" if each["testable"] is True else "not testable"
        print(f"{each['id']:<22} {kind} {tests:<13} {each['clause']}")
    testable = [each for each in chosen if each["testable"] is True]
    print(f"{len(chosen)} requirements, {len(testable)} testable, {len(rows)} pitfall rows")
    return 0


def known_requirement(name: str) -> Requirement:
    """The requirement, or a usage error with what was probably meant."""
    found = load().get(name.upper())
    if found is None:
        close = difflib.get_close_matches(name.upper(), load(), 3)
        hint = f"did you mean {', '.join(close)}?" if close else "boxspec list names them"
        raise UsageError(name, "no such requirement", hint)
    return found


def explain(args: argparse.Namespace) -> int:
    each = known_requirement(args.id)
    collected = Collected()
    print(f"{each.id}  {each.level}, {each.profile}, since {each.since}")
    print(f"  clause      {each.clause}")
    print(f"  source      {each.source}")
    if each.capability:
        print(f"  capability  {each.capability}")
    if each.untestable:
        print(f"  not visible from outside: {each.untestable}")
    tests = collected.by_requirement.get(each.id, [])
    for test in tests:
        print(f"  test        {test}")
    rows = [name for name, mine in collected.by_pitfall.items() if set(mine) & set(tests)]
    if rows:
        print(f"  pitfalls    {', '.join(sorted(rows))}")
    print(f"  run it      ./ci/boxspec repro {each.id}")
    return 0
