"""The verb `faults`: run the suite against each seeded fault."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import textwrap
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from _pytest.mark.expression import Expression

from boxspec.cli.main import main as boxspec
from boxspec.cli.verbs import verb_parser
from boxspec.errors import UsageError
from boxspec.faults import resume
from boxspec.faults.evaluate import MORE_TRIES, evaluate, is_unsettled, settle
from boxspec.faults.fault import Fault, catalogue
from boxspec.faults.outcome import Outcome
from boxspec.faults.runs import Runs
from boxspec.report.output_file import OutputFile
from boxspec.subject.contract import find, names
from boxspec.words import count, shard

# These modules are imported once, by the process from which all runs are forked, because most runs
# are shorter than the imports. Each run imports the tests that it needs.
PRELOAD = ("boxspec.api", "boxspec.schedule.plugin", "boxspec.schedule.runner")

# With these scopes, a run tests only one topic.
NARROW = ("named", "own")


def line(outcome: Outcome) -> str:
    text = f"{outcome.word:9} {outcome.fault.id:45} {outcome.fault.requirement or '-':16}"
    if outcome.problem:
        return f"{text} {outcome.problem}"
    others = [name for name in outcome.caught_by if name != outcome.fault.requirement]
    if outcome.tries > 1:
        text += f" ({outcome.tries} tries)"
    shown = " ".join(others[:8]) + (f" and {len(others) - 8} more" if len(others) > 8 else "")
    return f"{text} {shown}".rstrip()


def summary(outcomes: list[Outcome]) -> dict[str, int]:
    faults = [each for each in outcomes if each.fault.role == "fault"]
    return {
        "faults": len(faults),
        "caught": sum(bool(each.caught_by) for each in faults),
        "by_named_requirement": sum(each.named for each in faults),
        "blunt": sum(bool(each.blunt) for each in faults),
        "broken": sum(bool(each.problem) for each in outcomes),
    }


def closing(outcomes: list[Outcome], wanted: int) -> str:
    counts = summary(outcomes)
    narrow = any(each.scope in NARROW for each in outcomes)
    parts = [
        f"faults {counts['faults']}",
        f"caught {counts['caught']}",
        f"by the requirement they break {counts['by_named_requirement']}",
        f"also by other topics {'not checked' if narrow else counts['blunt']}",
    ]
    for role, plural in (("control", "controls"), ("noop", "no-ops")):
        of_role = [each for each in outcomes if each.fault.role == role]
        if of_role:
            caught = sum(bool(each.caught_by) for each in of_role)
            parts.append(f"{plural} caught {caught} of {len(of_role)}")
    wrong = [
        " ".join([each.fault.id, each.word, *(["by", *each.caught_by] if each.caught_by else [])])
        for each in outcomes
        if not each.good
    ]
    if wrong:
        parts.append(f"not as expected: {', '.join(wrong)}")
    if len(outcomes) < wanted:
        parts.append(f"not finished {wanted - len(outcomes)}")
    return " · ".join(parts)


def parse(words: Sequence[str]) -> argparse.Namespace:
    epilog = textwrap.fill(
        "exit codes: 0 each fault is caught by the requirement that it breaks, and by no"
        " requirement of another topic; the control is caught; the no-op is not; 1 otherwise;"
        " 2 wrong usage, or interrupted. With --scope named, a control runs until the first test"
        " fails, and a no-op runs the tests of the other selected faults. A missed fault runs"
        f" again, once in parallel with others, then up to {MORE_TRIES} times without. A no-op that"
        " is caught runs again without others.",
        96,
    )
    made = verb_parser("dev faults", epilog)
    add = made.add_argument
    add(
        "--list",
        action="store_true",
        help="print the selected faults with their requirements, run none",
    )
    add("--json", metavar="FILE", help="write the results as JSON")
    add(
        "--resume",
        action="store_true",
        help="with --json: keep the good results in FILE, and run only the other faults; use it"
        " only if the suite and the implementation have not changed since",
    )
    add(
        "--contract",
        action="append",
        choices=names(),
        help="only faults of this contract (repeatable; default: all)",
    )
    add(
        "-k",
        metavar="EXPR",
        help="only faults with a matching id, as in pytest: 'kill and not zombies'",
    )
    add("--only", action="append", metavar="ID", help="only this fault (repeatable)")
    add(
        "--shard",
        type=shard,
        metavar="K/N",
        help="only every N-th fault from the K-th, and each control and no-op",
    )
    add(
        "-j",
        "--jobs",
        type=count,
        metavar="N",
        help="number of faults in parallel (default: by contract)",
    )
    add(
        "--scope",
        choices=("named", "own", "focus", "all"),
        help="tests to run against each fault. named: tests of the requirement that it breaks,"
        " until one fails; own: tests of its topic; focus: own, and one test of each other"
        " requirement; all: every test of its contract (default: by contract)",
    )
    return made.parse_args(words)


class _Named:
    """Matches a word of the -k expression against the id of a fault."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, word: str, /, **_: Any) -> bool:
        return word in self.name


def choose(
    every: list[Fault],
    only: list[str] | None,
    expression: str | None,
    contracts: list[str] | None = None,
    part: tuple[int, int] = (1, 1),
) -> list[Fault]:
    ids = [fault.id for fault in every]
    for name in only or ():
        if name not in ids:
            raise UsageError.unknown(f"--only {name}", "fault", name, ids, "--list")
    chosen = [
        fault
        for fault in every
        if (not only or fault.id in only) and (not contracts or fault.contract in contracts)
    ]
    if expression:
        try:
            matches = Expression.compile(expression)
        except SyntaxError as why:
            raise UsageError(f"-k {expression}", str(why), "words, and, or, not") from None
        chosen = [fault for fault in chosen if matches.evaluate(_Named(fault.id))]
    faults = [fault.id for fault in chosen if fault.role == "fault"]
    left_out = {*faults} - {*faults[part[0] - 1 :: part[1]]}
    chosen = [fault for fault in chosen if fault.id not in left_out]
    if not chosen:
        raise UsageError("the selection", "no fault matches", "check -k, --only and --contract")
    return chosen


def preload(contracts: Iterable[str]) -> list[str]:
    """Return the modules that every run of a fault needs, and those that runs of these contracts
    need."""
    theirs = (name for each in contracts for name in find(each).preload)
    return list(dict.fromkeys([*PRELOAD, *theirs]))


def lanes(contract: str, scope: str | None) -> int:
    """Return how many runs of a contract should run in parallel.

    Runs of one requirement mostly wait. Runs of a whole contract use a processor each, and late
    tests are repeated without other tests.
    """
    its = find(contract)
    most = its.fault_lanes
    return most if (scope or its.fault_scope) in NARROW else min(most, (os.cpu_count() or 1) + 1)


def try_all(
    chosen: list[Fault], runs: Runs, args: argparse.Namespace, outcomes: list[Outcome]
) -> None:
    """Run the faults, one contract after the other: the number of parallel runs differs by
    contract."""
    for contract in dict.fromkeys(fault.contract for fault in chosen):
        mine = [fault for fault in chosen if fault.contract == contract]
        others = [fault.requirement for fault in mine if fault.requirement]
        # The control and the no-op run most tests of their contract. They are the longest runs, so
        # they start first.
        mine.sort(key=lambda fault: fault.topic is not None)
        pool = ThreadPoolExecutor(args.jobs or lanes(contract, args.scope))
        met: list[Outcome] = []
        try:
            futures = [pool.submit(evaluate, fault, runs, args.scope, others) for fault in mine]
            for future in as_completed(futures):
                met.append(future.result())
                outcomes.append(met[-1])
                if not is_unsettled(met[-1]):
                    print(line(met[-1]), flush=True)
            for outcome in filter(is_unsettled, met):
                settle(outcome, runs)
                print(line(outcome), flush=True)
        except KeyboardInterrupt:
            runs.stop()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def main(words: Sequence[str]) -> int:
    args = parse(words)
    if args.resume and not args.json:
        raise UsageError("--resume", "has no file to resume from", "add --json FILE")
    # Only forced orders find a fault of the role "order".
    faults = [each for each in catalogue() if each.role != "order"]
    chosen = choose(faults, args.only, args.k, args.contract, args.shard or (1, 1))
    if args.list:
        for fault in chosen:
            print(f"{fault.id:45} {fault.requirement or fault.role:16} {fault.mistake}")
        return 0
    scope = args.scope or "default"
    outcomes = resume.read(Path(args.json), chosen, scope) if args.resume else []
    output = OutputFile("--json", args.json, stdout=False) if args.json else None
    if args.resume:
        print(f"kept      {len(outcomes)} of {len(chosen)}", flush=True)
    there = {each.fault.id for each in outcomes}
    left = [fault for fault in chosen if fault.id not in there]
    runs = Runs(boxspec, preload({fault.contract: None for fault in left}))
    # A shell may have started this process in the background with SIGINT ignored. The runs are in
    # separate sessions, so they would continue without this process.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        try_all(left, runs, args, outcomes)
    except KeyboardInterrupt:
        # A second signal must not prevent the output of finished faults.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        for outcome in filter(is_unsettled, outcomes):
            print(line(outcome), flush=True)
        print("boxspec: interrupted; finished faults are above", file=sys.stderr)
    finally:
        runs.stop()
        runs.close()
    order = {fault.id: place for place, fault in enumerate(chosen)}
    outcomes.sort(key=lambda each: order[each.fault.id])
    if output is not None:
        tree = {
            "schema": resume.SCHEMA,
            "scope": scope,
            "faults": [each.to_json() for each in outcomes],
            "summary": summary(outcomes),
        }
        output.write(json.dumps(tree, indent=2) + "\n")
    print(closing(outcomes, len(chosen)))
    if len(outcomes) < len(chosen):
        return 2
    return 0 if all(each.good for each in outcomes) else 1
