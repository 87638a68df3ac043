"""The verb `explain`: one requirement with its clause, source and tests."""

from __future__ import annotations

from collections.abc import Sequence

from boxspec.cli.verbs import verb_parser
from boxspec.judge.requirements import requirement
from boxspec.places import COMMAND
from boxspec.schedule.collected import Collected


def explain(name: str) -> int:
    each = requirement(name)
    collected = Collected()
    print(f"{each.id}  {each.level}, {each.profile}, since {each.since}")
    print(f"  clause      {each.clause}")
    print(f"  source      {each.source}")
    if each.capability:
        print(f"  capability  {each.capability}")
    if each.needs:
        print(f"  needs       {', '.join(each.needs)}")
    if each.untestable:
        print(f"  not visible from outside: {each.untestable}")
    tests = collected.by_requirement.get(each.id, [])
    for test in tests:
        print(f"  test        {test}")
    rows = [name for name, mine in collected.by_pitfall.items() if set(mine) & set(tests)]
    if rows:
        print(f"  pitfalls    {', '.join(sorted(rows))}")
    print(f"  run it      {COMMAND} repro {each.id}")
    return 0


def main(words: Sequence[str]) -> int:
    parser = verb_parser("explain")
    parser.add_argument("id", metavar="ID")
    return explain(parser.parse_args(words).id)
