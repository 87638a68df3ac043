"""`fuzz/planted/run`: run trials of all planted faults and print a summary.

A run can be resumed.
"""

from __future__ import annotations

import argparse
import json
import shlex
import signal
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from boxspec.errors import HarnessError, UsageError
from boxspec.fuzz import builds, planted, targets
from boxspec.fuzz.children import adopt_orphans, sweep
from boxspec.fuzz.planted import Fault, Tree
from boxspec.fuzz.trials import Attempt, NoTime, Result, Trial
from boxspec.places import ROOT
from boxspec.subject.python_implementation import python_implementation_command

# CPU time within which each engine should find its share of the faults.
LIMITS_S = {"libfuzzer": 60.0, "afl": 300.0}
RESULTS = ROOT / "build" / "planted.jsonl"


def read_results(path: Path) -> list[Result]:
    results = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        # The last line is incomplete if the previous run was interrupted while writing it.
        try:
            results.append(Result.from_json(json.loads(line)))
        except (ValueError, KeyError, TypeError):
            continue
    return results


def trials(faults: Iterable[Fault], args: argparse.Namespace) -> list[Trial]:
    """Return the trials, ordered by seed: an interrupted campaign has then tried every fault with
    the first seeds."""
    made = []
    for seed in range(1, args.seeds + 1):
        for fault in faults:
            known = [name for name in fault.targets if name in targets.every()]
            for target in known if args.every_target else known[:1]:
                limit = args.seconds or LIMITS_S[args.engine]
                made.append(Trial(fault.name, target, args.engine, args.control, seed, limit))
    return made


def line(result: Result) -> str:
    trial = result.trial
    word = "found" if result.found else "triggered" if result.triggered else "missed"
    if not result.found and not result.reached:
        word = "unreached"
    control = " control" if trial.control else ""
    return (
        f"{word:9} {trial.fault:42} {trial.target:16} seed {trial.seed}"
        f" {result.cpu_s:7.2f} s  {result.key or '-'}{control}"
    )


def summary(results: Iterable[Result]) -> list[str]:
    """Return a line for each engine. A fault counts as found if the median seed has found it."""
    groups: dict[tuple[str, bool], dict[str, list[Result]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        groups[result.trial.engine, result.trial.control][result.trial.fault].append(result)
    lines = []
    for (engine, control), faults in sorted(groups.items()):
        medians = {name: _median(each) for name, each in faults.items()}
        found = {name: value for name, value in medians.items() if value is not None}
        missed = sorted(set(medians) - set(found))
        marks = [
            sum(any(getattr(r, mark) for r in each) for each in faults.values())
            for mark in ("reached", "triggered")
        ]
        who = f"{engine}, only crashes" if control else engine
        times = sorted(found.values())
        middle = f", median {statistics.median(times):.1f} CPU s" if times else ""
        lines.append(
            f"{who}: found {len(found)} of {len(medians)}{middle}"
            f" · reached {marks[0]} · triggered {marks[1]}"
        )
        if missed and not control:
            lines.append(f"  missed: {' '.join(missed)}")
    return lines


def _median(results: list[Result]) -> float | None:
    """Return the median time of the seeds, or None if the median seed did not find the fault."""
    times = sorted(each.cpu_s if each.found else float("inf") for each in results)
    middle = times[(len(times) - 1) // 2]
    return middle if middle != float("inf") else None


def _make(trial: Trial, tree: Tree, work: Path) -> Result:
    fault = planted.named(trial.fault)
    folder = work / trial.engine / fault.name
    binary = planted.build(fault, tree, trial.target, folder, silent=trial.control)
    target = targets.named(trial.target)
    env = {"BOXSPEC_FUZZ_SHIM": shlex.join(python_implementation_command())} if target.shim else {}
    return Attempt(trial, binary, env, folder / "run").make()


def _parse(words: Sequence[str]) -> argparse.Namespace:
    made = argparse.ArgumentParser(
        prog="fuzz/planted/run",
        description="Measure which planted faults the engines find, and how fast.",
    )
    add = made.add_argument
    add("--list", action="store_true", help="print the planted faults, run none")
    add("--engine", choices=sorted(LIMITS_S), default="libfuzzer", help="(default: libfuzzer)")
    add(
        "--control",
        action="store_true",
        help="use no oracles: report only crashes, hangs and leaks",
    )
    add("--seeds", type=int, default=5, metavar="N", help="trials of each fault (default 5)")
    add("--seconds", type=float, metavar="S", help="CPU time of a trial (default 60, AFL++ 300)")
    add("--only", action="append", metavar="FAULT", help="only this fault (repeatable)")
    add(
        "--every-target",
        action="store_true",
        help="use all targets of a fault, not only the most likely",
    )
    add("--results", default=str(RESULTS), metavar="FILE", help="append results as JSON lines")
    add("--report", action="store_true", help="print a summary of the results, run none")
    return made.parse_args(list(words))


def main(words: Sequence[str]) -> int:
    args = _parse(words)
    faults = [planted.named(name) for name in args.only] if args.only else planted.every().values()
    if args.list:
        for fault in faults:
            print(f"{fault.name:42} {fault.what}")
        return 0
    path = Path(args.results).absolute()
    results = read_results(path)
    if not args.report:
        path.parent.mkdir(parents=True, exist_ok=True)
        done = {result.trial for result in results}
        todo = [trial for trial in trials(faults, args) if trial not in done]
        if todo:
            preset = builds.PRESETS[args.engine]
            names = dict.fromkeys(trial.target for trial in todo)
            builds.build([targets.named(name) for name in names], preset)
            results += _run(todo, Tree(preset), path)
    for text in summary(results):
        print(text)
    return 0


def _run(todo: list[Trial], tree: Tree, path: Path) -> list[Result]:
    """Run the trials in a folder next to the results file. Only one run may use this folder."""
    adopt_orphans()
    # A shell ignores SIGINT for processes that it starts in the background; handle the signals in
    # any case.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    work = path.with_suffix(".work")
    made = []
    try:
        for trial in todo:
            try:
                made.append(_make(trial, tree, work))
            except NoTime as why:
                # A trial without a result is not recorded, so the same command tries it again.
                print(f"{why}", file=sys.stderr)
                continue
            with path.open("a", encoding="utf-8") as out:
                out.write(json.dumps(made[-1].to_json()) + "\n")
            print(line(made[-1]), flush=True)
    except KeyboardInterrupt:
        print("fuzz/planted/run: interrupted; run the same command to continue", file=sys.stderr)
    finally:
        sweep()
    return made


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (UsageError, HarnessError) as why:
        print(f"fuzz/planted/run: {why}", file=sys.stderr)
        sys.exit(2)
