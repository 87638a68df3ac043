#!/usr/bin/env python3
"""Let each call of the reference fail once, over every operation of its shim.

usage: run.py --shim build/release/reference/boxspec-ref \
              --library build/release/reference/tests/fail_calls.so [--results FILE]
       run.py ... --sample N [--seed WORD]     N trials, selected by WORD (default: the commit)
       run.py ... --case NAME --kind KIND --nth N --error ENAME     one trial, shown
       run.py --prove --shim PLANTED --library ...   the mistakes of planted.c; 1: one is not found

Without --sample it runs every case and kind, twelve thousand trials, in ten minutes. Every
allocation fails once; if a case has more than MOST_CALLS calls of another kind, an evenly spread
share of them does. Each finished pair of case and kind is added to the results and skipped in later
runs; results.jsonl in this folder has the last complete run. ctest runs a sample as faults/sample.

Checked after each failure: the shim ends by itself within a limit; it answers in JSON, or explains
on stderr why it cannot; the answer equals the one without the failure, or is an error, or promises
less; truncated output is never reported as complete; no process, file, descriptor or allocation is
left.

Exit: 0 no findings; 1 findings; 2 usage.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from observing import LONGEST_S, Seen, adopt, ended_as, findings, look
from planted import FAULT, PLANTED
from trials import KINDS, Fault, cases

HERE = Path(__file__).resolve().parent
# If a case has more calls of one kind, only every second, third and so on fails. For example,
# reading all of /proc calls readdir hundreds of times.
MOST_CALLS = 60


class Runner:
    """The shim, the library, and the answer of each case without a failure."""

    def __init__(self, shim: Path, library: Path, longest_s: float = LONGEST_S) -> None:
        self.longest_s = longest_s
        # A planted shim chooses its mistake by the name of the link that starts it.
        self.shim, self.library = shim.absolute(), library.resolve()
        self._sound: dict[str, Seen] = {}

    def sound(self, case: str) -> Seen:
        if case not in self._sound:
            seen = look(self.shim, self.library, case, None)
            if seen.status != 0 or seen.answer is None or "result" not in seen.answer:
                raise SystemExit(f"{case} has no result without a failure: {seen}")
            if not seen.state.ended or seen.survivors:
                raise SystemExit(f"{case} does not end well without a failure: {seen}")
            self._sound[case] = seen
        return self._sound[case]

    def trials(self, case: str, kind: str) -> list[Fault]:
        calls = self.sound(case).state.calls[kind]
        # The next run may make one or two calls more than the run that was counted.
        step = 1 if kind == "memory" else -(-calls // MOST_CALLS) or 1
        return [Fault(case, kind, n, e) for n in range(1, calls + 2, step) for e in KINDS[kind]]

    def tried(self, fault: Fault) -> tuple[str, list[str]]:
        sound = self.sound(fault.case)
        seen = look(self.shim, self.library, fault.case, fault, self.longest_s)
        return ended_as(sound, seen), findings(sound, seen, fault)


def whole(runner: Runner, results: Path, names: list[str], kinds: list[str]) -> int:
    done: set[tuple[str, str]] = set()
    found = 0
    if results.exists():
        for line in results.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            done.add((entry["case"], entry["kind"]))
            found += len(entry["findings"])
    # Most calls are allocations, so the other kinds come first.
    for kind in sorted(kinds, key="memory".__eq__):
        for case in names:
            if (case, kind) in done:
                continue
            entry = _unit(runner, case, kind)
            found += len(entry["findings"])
            with results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")
            print(f"{case} {kind}: {entry['trials']} trials, {entry['ended']}", flush=True)
            for each in entry["findings"]:
                print(f"  {each}", flush=True)
    print(f"{found} findings")
    return int(found > 0)


def _unit(runner: Runner, case: str, kind: str) -> dict[str, Any]:
    ended: Counter[str] = Counter()
    all_findings = []
    trials = runner.trials(case, kind)
    for fault in trials:
        how, found = runner.tried(fault)
        ended[how] += 1
        all_findings += [f"{words(fault)}: {each}" for each in found]
    return {
        "case": case,
        "kind": kind,
        "calls": runner.sound(case).state.calls[kind],
        "trials": len(trials),
        "ended": dict(sorted(ended.items())),
        "findings": all_findings,
    }


def sample(runner: Runner, many: int, seed: str) -> int:
    chance = random.Random(seed)
    names = list(cases(""))
    pairs = [(case, kind) for case in names for kind in KINDS]
    # Draw pairs of case and kind instead of trials: most trials are failed allocations.
    chance.shuffle(pairs)
    found = done = 0
    for case, kind in pairs * many:
        if done >= many:
            break
        if runner.sound(case).state.calls[kind] == 0:
            continue
        fault = chance.choice(runner.trials(case, kind))
        done += 1
        for each in runner.tried(fault)[1]:
            found += 1
            print(f"{words(fault)}: {each}")
    print(f"{done} trials of seed {seed}: {found} findings")
    return int(found > 0)


def words(fault: Fault) -> str:
    name = errno.errorcode[fault.error]
    return f"--case {fault.case} --kind {fault.kind} --nth {fault.nth} --error {name}"


def prove(program: Path, library: Path) -> int:
    """Run shims that each have one mistake in handling failures, and a correct one; check the
    findings.
    """
    missed = 0
    with tempfile.TemporaryDirectory(prefix="boxspec-planted-") as folder:
        for name, word in PLANTED.items():
            wrong = Path(folder) / name
            wrong.symlink_to(program.resolve())
            found = Runner(wrong, library, longest_s=3).tried(FAULT)[1]
            right = any(word in each for each in found) if word else not found
            missed += not right
            print(f"{'as it must be' if right else 'WRONG'}: {name}: {'; '.join(found)}")
    return int(missed > 0)


def commit() -> str:
    head = subprocess.run(
        ["git", "rev-parse", "--short=10", "HEAD"], cwd=HERE, capture_output=True, text=True
    )
    return head.stdout.strip() or "no commit"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--shim", type=Path, required=True)
    add("--library", type=Path, required=True)
    add("--results", type=Path, default=HERE / "results.jsonl")
    add("--sample", type=int)
    add("--seed")
    add("--prove", action="store_true")
    add("--case", choices=list(cases("")))
    add("--kind", choices=list(KINDS))
    add("--nth", type=int)
    add("--error")
    given = parser.parse_args()
    adopt()
    # SIGCHLD is blocked, so that sigtimedwait can wait for the end of children.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    os.umask(0o022)
    runner = Runner(given.shim, given.library)
    if given.prove:
        return prove(given.shim, given.library)
    if given.nth is not None:
        fault = Fault(given.case, given.kind, given.nth, getattr(errno, given.error))
        seen = look(runner.shim, runner.library, fault.case, fault)
        print(seen)
        found = findings(runner.sound(fault.case), seen, fault)
        print("\n".join(found) or "nothing found")
        return int(bool(found))
    if given.sample is not None:
        return sample(runner, given.sample, given.seed or commit())
    names = [given.case] if given.case else list(cases(""))
    return whole(runner, given.results, names, [given.kind] if given.kind else list(KINDS))


if __name__ == "__main__":
    sys.exit(main())
