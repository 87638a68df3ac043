"""The verb `list`: the requirements with their tests and the pitfalls, or the escape probes."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

from boxspec.cli.arguments import check_contracts, check_topics, contract_flag, profile_flag
from boxspec.cli.verbs import verb_parser
from boxspec.errors import UsageError
from boxspec.judge.requirements import load
from boxspec.pages.requirements import FIRST
from boxspec.plural import many
from boxspec.programs import SETUP, programs
from boxspec.schedule.index import RequirementIndex

# A narrower terminal shows the clause on separate lines.
WIDE = 100


def is_selected(requirement: dict[str, Any], args: argparse.Namespace) -> bool:
    by_contract = not args.contract or requirement["contract"] in args.contract
    by_topic = not args.topic or load()[requirement["id"]].topic in args.topic
    by_profile = args.profile in (None, "all", requirement["profile"])
    return bool(by_contract and by_topic and by_profile)


def row(requirement: dict[str, Any], columns: int | None) -> str:
    """Return one requirement as one line, or as several lines for a terminal with this many
    columns."""
    kind = f"{requirement['level']:<6} {requirement['profile']:<8}"
    tests = len(requirement["tests"])
    tests_text = "not testable" if requirement["testable"] is not True else many(tests, "test")
    if requirement["since"] != FIRST:
        tests_text += f", since {requirement['since']}"
    head = f"{requirement['id']:<22} {kind} {tests_text:<13} "
    if columns is None:
        return f"{head}{requirement['clause']}"
    beside = columns >= WIDE
    clause = textwrap.wrap(
        requirement["clause"],
        max(columns - 1, 20),
        initial_indent=head if beside else "  ",
        subsequent_indent=" " * len(head) if beside else "  ",
        break_long_words=False,
    )
    return "\n".join(clause if beside else [head.rstrip(), *clause])


def topics(chosen: Sequence[dict[str, Any]]) -> int:
    """Print the topics in order, with the number of their requirements and tests."""
    known = load()
    found = {known[each["id"]].topic: known[each["id"]].contract for each in chosen}
    for topic, contract in found.items():
        inside = [each for each in chosen if known[each["id"]].topic == topic]
        must = sum(each["level"] == "MUST" and each["profile"] == "contract" for each in inside)
        tests = len({test for each in inside for test in each["tests"]})
        held = f"{many(len(inside), 'requirement'):<16} {must:>3} contract MUST"
        print(f"{topic:<18} {contract:<8} {held}  {many(tests, 'test')}")
    print(f"{many(len(found), 'topic')}, {many(len(chosen), 'requirement')}")
    return 0


def list_(args: argparse.Namespace) -> int:
    index = RequirementIndex()
    chosen = [each for each in index.requirements() if is_selected(each, args)]
    rows = index.pitfalls()
    if args.json:
        document = {"requirements": chosen, "pitfalls": rows}
        json.dump(document, sys.stdout, indent=2, ensure_ascii=True)
        print()
        return 0
    if args.topics:
        return topics(chosen)
    columns = os.get_terminal_size(1).columns if os.isatty(1) else None
    for each in chosen:
        print(row(each, columns))
    testable = [each for each in chosen if each["testable"] is True]
    amounts = f"{many(len(chosen), 'requirement')}, {len(testable)} testable"
    print(f"{amounts}, {many(len(rows), 'pitfall row')}")
    return 0


def probes(as_json: bool) -> int:
    """Print the escape probes, as the program `probe` lists them."""
    try:
        done = subprocess.run([programs.probe, "--list"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as why:
        raise UsageError(programs.probe, f"cannot list its probes: {why}", SETUP) from None
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    if as_json:
        json.dump({"probes": rows}, sys.stdout, indent=2, ensure_ascii=True)
        print()
        return 0
    for row in rows:
        print(f"{row['name']:<28} {row['aspect']:<12} {row['tries']}")
        print(f"{'':<28} {'':<12} refused by: {row['accepts'] or 'no error: the call must work'}")
        needs = ", ".join(row["needs"].split()) or "nothing"
        print(f"{'':<28} {'':<12} needs: {needs}; judged by: {row['judged']}")
        print(f"{'':<28} {'':<12} from: {row['source']}")
    print(many(len(rows), "probe"))
    return 0


def main(words: Sequence[str]) -> int:
    parser = verb_parser("list")
    contract_flag(parser, "all")
    profile_flag(parser)
    parser.add_argument(
        "--topic", action="append", metavar="TOPIC", help="only this topic (repeatable)"
    )
    parser.add_argument("--topics", action="store_true", help="print the topics, one per line")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--probes", action="store_true", help="print the escape probes instead")
    args = parser.parse_args(words)
    check_contracts(args.contract)
    check_topics("--topic", args.topic or [])
    if args.probes:
        return probes(args.json)
    return list_(args)
