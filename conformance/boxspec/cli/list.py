"""The verb `list`: requirements, their tests, the rows of the pitfalls; or the escape probes."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from boxspec.cli.arguments import check_contracts, choice_flags
from boxspec.cli.verbs import verb_parser
from boxspec.errors import UsageError
from boxspec.programs import SETUP, programs
from boxspec.schedule.collected import Collected


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


def probes(as_json: bool) -> int:
    """The attempts of the program `probe`, as it lists them itself."""
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
        print(f"{'':<28} {'':<12} refused by: {row['accepts'] or 'nothing: it must work'}")
        print(f"{'':<28} {'':<12} from: {row['source']}")
    print(f"{len(rows)} probes")
    return 0


def main(words: Sequence[str]) -> int:
    parser = verb_parser("list")
    choice_flags(parser)
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("--probes", action="store_true", help="the escape probes instead")
    args = parser.parse_args(words)
    check_contracts(args.contract)
    if args.probes:
        return probes(args.json)
    return list_(args)
