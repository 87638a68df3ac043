"""The verb `explain`: show one requirement with its clause, source and tests, or one pitfall."""

from __future__ import annotations

from collections.abc import Sequence

from boxspec.cli.verbs import verb_parser
from boxspec.judge.requirements import Pitfall, pitfalls, requirement
from boxspec.judge.sources import meanings
from boxspec.places import COMMAND
from boxspec.schedule.index import RequirementIndex


def explain(name: str) -> int:
    each = requirement(name)
    index = RequirementIndex(each.id)
    print(f"{each.id}  {each.level}, {each.profile}, since {each.since}")
    print(f"  clause      {each.clause}")
    print(f"  source      {each.source}")
    for name, text in {**each.links, **meanings(each)}.items():
        print(f"              {name}: {text}")
    if each.capability:
        print(f"  capability  {each.capability}")
    if each.needs:
        print(f"  needs       {', '.join(each.needs)}")
    if each.untestable:
        print(f"  not testable  {each.untestable}")
    tests = index.by_requirement.get(each.id, [])
    for test in tests:
        print(f"  test        {test}")
    rows = [name for name, mine in index.by_pitfall.items() if set(mine) & set(tests)]
    if rows:
        print(f"  pitfalls    {', '.join(sorted(rows))} ({COMMAND} explain {min(rows)})")
    print(f"  run it      {COMMAND} repro {each.id}")
    return 0


def explain_pitfall(row: Pitfall) -> int:
    """Show a known mistake of existing software: its tests, and the requirements that they
    decide."""
    index = RequirementIndex()
    tests = index.by_pitfall.get(row.id, [])
    decided = [id for id, mine in index.by_requirement.items() if set(mine) & set(tests)]
    print(f"{row.id}  pitfall: {row.name or 'no name'}")
    for test in tests:
        print(f"  test          {test}")
    if decided:
        print(f"  requirements  {', '.join(decided)}")
        print(f"  run it        {COMMAND} repro {' '.join(decided)}")
    elif row.why_not:
        print(f"  no test shows it: {row.why_not}")
    return 0


def main(words: Sequence[str]) -> int:
    parser = verb_parser("explain")
    parser.add_argument("id", metavar="ID", help="a requirement or a pitfall")
    name = parser.parse_args(words).id
    row = pitfalls().get(name.upper())
    return explain_pitfall(row) if row is not None else explain(name)
