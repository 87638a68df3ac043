#!/usr/bin/env python3
"""Mutants of the reference: does the public suite of their contract detect them?

    usage (as root): .venv/bin/pip install universalmutator==1.14.1   only this script needs it
       nice -n 5 .venv/bin/python reference/tests/mutants/run.py CONTRACT [--count N] [--shard K/N]
       .venv/bin/python reference/tests/mutants/run.py CONTRACT --named    those of named.json
       .venv/bin/python reference/tests/mutants/run.py CONTRACT --reached  did the survivors run?
       .venv/bin/python reference/tests/mutants/run.py CONTRACT --again    run survivors again
       .venv/bin/python reference/tests/mutants/run.py CONTRACT --orders   with forced orders
       .venv/bin/python reference/tests/mutants/run.py --report [--seed N]
       .venv/bin/python reference/tests/mutants/run.py --read MUTANT READING 'why'

CONTRACT names the room of the reference and the suite; of the backend only session and launch are
changed. A mutant whose -O2 object equals the original's, or that of an earlier mutant, is skipped.
N of the others run (default 100), in an order that depends on the seed (default: the contract's
seed in seeds.json), with `boxspec run --contract CONTRACT --profile all -x`. The topics that killed
most earlier mutants of the same file run before the whole suite. A mutant of the backend runs under
bubblewrap and under Landlock, each time also with the tests of exec about start and end through the
launcher. The ledger records for each: killed, with the requirement; survived; or undecided, for
example because a test was late in each attempt.

--reached (after ./ci/build coverage) runs the suite once with counters, and the ledger records for
each survivor whether its line was executed. --again runs survivors again that have no reading, or
the reading `hole`; one that is killed gets the reading `closed`. --orders runs survivors of the
seed that are not equivalent with the forced orders of `boxspec run --orders`. Repeating a command
continues where the last one stopped; SIGINT ends it after the current mutant at the latest.

--shard 2/4 takes the second of four parts of the mutants, and a quarter of --count; a mutant stays
in its part. Each machine writes its own --ledger FILE, and the ledgers are joined by appending them

READING of a survivor: equivalent (no request can show it), out-of-contract (the pages do not
require the behaviour), hole (the suite should detect it), closed (a case was added that kills it).

Exit: 0; 1 if the unchanged reference does not conform; 2 usage.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import reaching
import suite
from ledger import NEVER_ASKED, READINGS, Entry, Ledger
from making import ROOT, Mutant, Tree, in_order, is_in, named

from boxspec import folders
from boxspec.words import shard

HERE = Path(__file__).resolve().parent
SETTLED = ("equivalent", "out-of-contract", "closed")
Outcome = dict[str, Any]


def try_one(
    tree: Tree, mutant: Mutant, seen: set[str], judge: Callable[[Path], Outcome]
) -> Outcome:
    before = tree.original(mutant)
    made = tree.changed(mutant)
    if made is None:
        return {"verdict": "does-not-build"}
    if made.read_bytes() == before:
        return {"verdict": "same-object"}
    digest = hashlib.sha256(made.read_bytes()).hexdigest()[:16]
    if digest in seen:
        return {"verdict": "duplicate", "object": digest}
    seen.add(digest)
    if not tree.linked(mutant, made):
        return {"verdict": "does-not-build"}
    return {"object": digest, **judge(tree.shim)}


@contextmanager
def workplace() -> Iterator[Path]:
    """Make the folder in which mutants are built and run, and delete it at the end.

    A mutant may leave a tree that is too deep for tempfile.TemporaryDirectory, which removes
    recursively.
    """
    # Not in /tmp, which is another folder in the namespace of a run.
    place = Path(
        tempfile.mkdtemp(prefix="boxspec-mutants-", dir=os.environ.get("TMPDIR", "/var/tmp"))
    )
    try:
        # Tests that run as another user must be able to enter it.
        place.chmod(0o711)
        yield place
    finally:
        if not folders.delete(place):
            print(folders.stays(place), file=sys.stderr)


def commit() -> str:
    """Return the last commit that changed the suite, or what it judges."""
    judged = ["conformance", "fixtures", "reference"]
    judged += [":!reference/tests", ":!conformance/selftest"]
    done = subprocess.run(
        ["git", "log", "-1", "--format=%h", "--abbrev=10", "--", *judged],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def campaign(
    contract: str, seed: int | str, count: int, part: tuple[int, int], ledger: Ledger
) -> int:
    mutants = in_order(contract, seed) if isinstance(seed, int) else named(contract)
    count = len(range(part[0], count + 1, part[1]))
    old = [entry for entry in ledger.of(contract, seed) if is_in(entry["mutant"], part)]
    tried = {entry["mutant"] for entry in old}
    seen = {entry["object"] for entry in old if "object" in entry}
    asked = sum(entry["verdict"] not in NEVER_ASKED for entry in old)
    with workplace() as place:
        tree = Tree(place)
        if asked < count:
            sound = suite.judge(tree.build / "reference" / "boxspec-ref", contract, place, [])
            if sound["verdict"] != "survived":
                print(f"the unchanged reference does not conform: {sound}", file=sys.stderr)
                return 1
        for mutant in mutants:
            if asked >= count:
                break
            if mutant.key in tried or not is_in(mutant.key, part):
                continue
            judge = suite_of(contract, place, ledger.killers(contract, mutant.file))
            outcome = try_one(tree, mutant, seen, judge)
            head = {"contract": contract, "seed": seed, "commit": commit(), "mutant": mutant.key}
            position = {"file": mutant.file, "line": mutant.line}
            change = {"before": mutant.before, "after": mutant.after}
            ledger.append(head | position | change | outcome)
            if outcome["verdict"] not in NEVER_ASKED:
                asked += 1
                print(f"{asked}/{count} {mutant.file}:{mutant.line} {outcome}", flush=True)
    return 0


def suite_of(contract: str, place: Path, first: list[str]) -> Callable[[Path], Outcome]:
    return lambda shim: suite.judge(shim, contract, place, first)


def survivors_again(
    wanted: list[Entry], judge: Callable[[Path, Path], Outcome]
) -> Iterator[tuple[Mutant, Outcome]]:
    """Run survivors again if their lines are still at their place."""
    with workplace() as place:
        tree = Tree(place)
        for entry in wanted:
            mutant = Mutant(entry["file"], entry["line"], entry["before"], entry["after"])
            if not mutant.stands():
                print(f"{mutant.key} {mutant.file}:{mutant.line} is another line by now")
                continue
            outcome = try_one(tree, mutant, set(), lambda shim: judge(shim, place))
            print(f"{mutant.key} {mutant.file}:{mutant.line} {outcome}", flush=True)
            yield mutant, outcome


def run_again(contract: str, ledger: Ledger) -> int:
    wanted = [
        entry
        for entry in ledger.survivors(contract)
        if ledger.reading(entry["mutant"]) not in SETTLED
    ]
    whole = partial(suite.judge, contract=contract, first=[])
    for mutant, outcome in survivors_again(wanted, lambda shim, place: whole(shim, work=place)):
        if outcome["verdict"] == "killed":
            why = f"killed by {', '.join(outcome['by'])}"
            ledger.append({"mutant": mutant.key, "reading": "closed", "why": why})
    return 0


def run_orders(contract: str, seed: int | str, ledger: Ledger) -> int:
    wanted = [
        entry
        for entry in ledger.survivors(contract)
        if entry["seed"] == seed
        and ledger.reading(entry["mutant"]) != "equivalent"
        and entry["mutant"] not in ledger.orders
    ]
    orders = partial(suite.judge_orders, contract=contract)
    for mutant, outcome in survivors_again(wanted, lambda shim, place: orders(shim, work=place)):
        by = outcome.get("by", [])
        ledger.append({"mutant": mutant.key, "orders": outcome["verdict"], "by": by})
    return 0


def record_reached(contract: str, ledger: Ledger) -> int:
    survivors = ledger.survivors(contract)
    if not reaching.SHIM.exists():
        print("there is no build with counters: ./ci/build coverage", file=sys.stderr)
        return 2
    reaching.forget()
    with workplace() as place:
        outcome = suite.judge(reaching.SHIM, contract, place, [])
    if outcome["verdict"] != "survived":
        print(f"the reference with counters does not conform: {outcome}", file=sys.stderr)
        return 1
    lines = reaching.executed({entry["file"] for entry in survivors})
    for entry in survivors:
        reached = entry["line"] in lines[entry["file"]]
        ledger.append({"mutant": entry["mutant"], "reached": reached})
        print(f"{entry['mutant']} {entry['file']}:{entry['line']} {reached=}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    seeds = json.loads((HERE / "seeds.json").read_text())
    parser.add_argument("contract", nargs="?", choices=sorted(seeds))
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--shard", type=shard, default=(1, 1), metavar="K/N")
    parser.add_argument("--ledger", type=Path, default=HERE / "ledger.jsonl")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--named", action="store_true")
    parser.add_argument("--reached", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--orders", action="store_true")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--read", nargs=3, metavar=("MUTANT", "READING", "WHY"))
    given = parser.parse_args()
    ledger = Ledger(given.ledger)
    if given.read:
        mutant, reading, why = given.read
        survivors = {e["mutant"] for e in ledger.entries if e["verdict"] == "survived"}
        if reading not in READINGS or mutant not in survivors:
            parser.error(f"name a survivor of the ledger, and one of {', '.join(READINGS)}")
        ledger.append({"mutant": mutant, "reading": reading, "why": why})
    elif given.report:
        print(ledger.report(given.seed))
    elif given.contract and given.reached:
        return record_reached(given.contract, ledger)
    elif given.contract and given.again:
        return run_again(given.contract, ledger)
    elif given.contract:
        seed = "named" if given.named else given.seed or seeds[given.contract]
        if given.orders:
            return run_orders(given.contract, seed, ledger)
        return campaign(given.contract, seed, given.count, given.shard, ledger)
    else:
        parser.error("name a contract, or --report, or --read")
    return 0


if __name__ == "__main__":
    # SIGTERM becomes an exception, so that folders are removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
