#!/usr/bin/env python3
"""Mutants of the reference: does the public suite of their contract detect them?

    usage: .venv/bin/pip install universalmutator==1.14.1   once; only this script needs it
       nice -n 5 .venv/bin/python reference/tests/mutants/run.py CONTRACT [--count N] [--shard K/N]
       .venv/bin/python reference/tests/mutants/run.py CONTRACT --named    those of named.json
       .venv/bin/python reference/tests/mutants/run.py CONTRACT --reached  did the survivors run?
       .venv/bin/python reference/tests/mutants/run.py CONTRACT --again    run survivors again
       .venv/bin/python reference/tests/mutants/run.py --report
       .venv/bin/python reference/tests/mutants/run.py --read MUTANT READING 'why'

CONTRACT is exec, module, policy, process or sbpl, and names the room of the reference and the
suite. A mutant whose -O2 object equals the original's, or that of an earlier mutant, is skipped. N
of the others run (default 100), in an order that depends on the contract's seed in seeds.json, with
`boxspec run --contract CONTRACT --profile all -x`. The ledger records for each: killed, with the
requirement; survived; or undecided. --reached (after ./ci/build coverage) runs the suite once with
counters, and the ledger records for each survivor whether its line was executed. --again runs
survivors again that have no reading, or the reading `hole`; one that is killed gets the reading
`closed`. Repeating a command continues where the last one stopped; SIGINT ends it after the current
mutant at the latest.

--shard 2/4 takes the second of four parts of the mutants, and a quarter of --count; a mutant stays
in its part. Each machine writes its own --ledger FILE, and the ledgers are joined by appending them
to ledger.jsonl.

READING of a survivor: equivalent (no request can show it), out-of-contract (the pages do not
require the behaviour), hole (the suite should detect it), closed (a case was added that kills it).

Exit: 0; 1 if the unchanged reference does not conform; 2 usage.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import reaching
from ledger import NEVER_ASKED, READINGS, Ledger
from making import ROOT, Mutant, Tree, in_order, is_in, named

from boxspec import folders
from boxspec.words import shard

HERE = Path(__file__).resolve().parent
BROKEN = ("fails", "escaped", "overrefused", "wrong-reason", "contradiction", "unproven")
# Time limit for a run. The kit limits every action of a shim itself, so this is for a mutant that
# escapes the kit's limits.
LONGEST_S = 1800
SETTLED = ("equivalent", "out-of-contract", "closed")


def run_suite(shim: Path, contract: str, work: Path) -> dict[str, Any]:
    """Run the suite; return the requirements that failed, or how else the run ended."""
    result = work / "result.json"
    result.unlink(missing_ok=True)
    words = [sys.executable, "-P", "-m", "boxspec", "run", "--shim", shlex.quote(str(shim))]
    words += ["--contract", contract, "--profile", "all", "-x", "--json", str(result)]
    begun = time.monotonic()
    with subprocess.Popen(
        words,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(work)},
        start_new_session=True,
    ) as suite:
        try:
            _, errors = suite.communicate(timeout=LONGEST_S)
            status = suite.returncode
        except BaseException as why:
            os.killpg(suite.pid, signal.SIGKILL)
            if not isinstance(why, subprocess.TimeoutExpired):
                raise
            return {"verdict": "undecided", "by": f"no end after {LONGEST_S} s"}
    seconds = round(time.monotonic() - begun, 1)
    broken = []
    if result.exists():
        tree = json.loads(result.read_text(encoding="utf-8"))
        broken = [r["id"] for r in tree["requirements"] if r["verdict"] in BROKEN]
    if broken or status == 1:
        return {"verdict": "killed", "by": broken[:3], "seconds": seconds}
    # An error of the kit proves nothing about the mutant.
    if status == 2 and b"not a conforming shim" in errors:
        return {"verdict": "killed", "by": ["not a conforming shim"], "seconds": seconds}
    if status == 0:
        return {"verdict": "survived", "seconds": seconds}
    return {"verdict": "undecided", "by": f"exit status {status}", "seconds": seconds}


def try_one(tree: Tree, mutant: Mutant, contract: str, seen: set[str]) -> dict[str, Any]:
    original = tree.compiled(mutant, changed=False)
    if original is None:
        raise SystemExit(f"{mutant.file} does not compile; run ./ci/build release first")
    if not tree.linked(mutant, original):
        raise SystemExit(f"{mutant.file} as it is cannot be linked anew")
    before = original.read_bytes()
    made = tree.compiled(mutant, changed=True)
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
    return {"object": digest, **run_suite(tree.shim, contract, tree.work)}


@contextmanager
def workplace() -> Iterator[Path]:
    """Make the folder in which mutants are built and run, and delete it at the end.

    A mutant may leave a tree that is too deep for tempfile.TemporaryDirectory, which removes
    recursively.
    """
    place = Path(tempfile.mkdtemp(prefix="boxspec-mutants-"))
    try:
        # Tests that run as another user must be able to enter it.
        place.chmod(0o711)
        yield place
    finally:
        if not folders.delete(place):
            print(folders.stays(place), file=sys.stderr)


def campaign(
    contract: str, seed: int | str, count: int, part: tuple[int, int], ledger: Ledger
) -> int:
    mutants = in_order(contract, seed) if isinstance(seed, int) else named(contract)
    count = len(range(part[0], count + 1, part[1]))
    commit = subprocess.run(
        ["git", "rev-parse", "--short=10", "HEAD"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    old = [entry for entry in ledger.of(contract, seed) if is_in(entry["mutant"], part)]
    tried = {entry["mutant"] for entry in old}
    seen = {entry["object"] for entry in old if "object" in entry}
    asked = sum(entry["verdict"] not in NEVER_ASKED for entry in old)
    with workplace() as place:
        tree = Tree(place)
        if asked < count:
            sound = run_suite(tree.build / "reference" / "boxspec-ref", contract, tree.work)
            if sound["verdict"] != "survived":
                print(f"the unchanged reference does not conform: {sound}", file=sys.stderr)
                return 1
        for mutant in mutants:
            if asked >= count:
                break
            if mutant.key in tried or not is_in(mutant.key, part):
                continue
            outcome = try_one(tree, mutant, contract, seen)
            head = {"contract": contract, "seed": seed, "commit": commit, "mutant": mutant.key}
            place = {"file": mutant.file, "line": mutant.line}
            change = {"before": mutant.before, "after": mutant.after}
            ledger.append(head | place | change | outcome)
            if outcome["verdict"] not in NEVER_ASKED:
                asked += 1
                print(f"{asked}/{count} {mutant.file}:{mutant.line} {outcome}", flush=True)
    return 0


def run_again(contract: str, ledger: Ledger) -> int:
    """Run the survivors again if their lines are still at their place."""
    with workplace() as place:
        tree = Tree(place)
        for entry in ledger.entries:
            survived = (entry["contract"], entry["verdict"]) == (contract, "survived")
            if not survived or ledger.reading(entry["mutant"]) in SETTLED:
                continue
            mutant = Mutant(entry["file"], entry["line"], entry["before"], entry["after"])
            if not mutant.stands():
                print(f"{mutant.key} {mutant.file}:{mutant.line} is another line by now")
                continue
            outcome = try_one(tree, mutant, contract, set())
            print(f"{mutant.key} {mutant.file}:{mutant.line} {outcome}", flush=True)
            if outcome["verdict"] == "killed":
                why = f"killed by {', '.join(outcome['by'])}"
                ledger.append({"mutant": mutant.key, "reading": "closed", "why": why})
    return 0


def record_reached(contract: str, ledger: Ledger) -> int:
    survivors = [
        entry
        for entry in ledger.entries
        if entry["contract"] == contract and entry["verdict"] == "survived"
    ]
    if not reaching.SHIM.exists():
        print("there is no build with counters: ./ci/build coverage", file=sys.stderr)
        return 2
    reaching.forget()
    with workplace() as place:
        outcome = run_suite(reaching.SHIM, contract, place)
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
    parser.add_argument("--named", action="store_true")
    parser.add_argument("--reached", action="store_true")
    parser.add_argument("--again", action="store_true")
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
        print(ledger.report())
    elif given.contract and given.reached:
        return record_reached(given.contract, ledger)
    elif given.contract and given.again:
        return run_again(given.contract, ledger)
    elif given.contract:
        seed = "named" if given.named else seeds[given.contract]
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
