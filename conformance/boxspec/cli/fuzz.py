"""The verb `fuzz`: its options, and the actions that they select."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from boxspec.cli.verbs import verb_parser
from boxspec.errors import UsageError
from boxspec.fuzz import builds, ledger, targets
from boxspec.fuzz.engine import Crash, Plan
from boxspec.fuzz.finding_block import finding_block
from boxspec.fuzz.findings import Finding, Findings
from boxspec.fuzz.ledger import Ledger
from boxspec.fuzz.outcome import Outcome
from boxspec.fuzz.promote import check, promote
from boxspec.fuzz.run import ENGINES, Run, fresh, stoppable
from boxspec.fuzz.targets import Target
from boxspec.fuzz.turns import Turns
from boxspec.fuzz.work_folder import REMEDY, claimed
from boxspec.places import INSTALLED, ROOT, cache
from boxspec.plural import many
from boxspec.subject.client.command import shim_argv
from boxspec.subject.python_implementation import python_implementation_command
from boxspec.terminal import Terminal
from boxspec.words import count

WORK = cache() / "fuzzing"
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
EXITS = """\
exit codes: 0 no finding; 1 findings, with a block for each; 2 wrong usage, or the engine could not
run. After SIGINT or SIGTERM the run stops and reports its findings. With --results, the same
command continues an interrupted series of runs."""


def seconds(word: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", word)
    if found is None or float(found[1]) == 0:
        raise argparse.ArgumentTypeError(f"{word!r} is not a duration like 90s, 10m, 2h")
    return float(found[1]) * UNITS[found[2]]


def parser() -> argparse.ArgumentParser:
    made = verb_parser(
        "fuzz", EXITS, "Fuzz one target, or several in turns, and report the findings."
    )
    add = made.add_argument
    add("targets", metavar="TARGET", nargs="*", help="a fuzz target; --list prints all")
    add("--every", action="store_true", help="all targets (needs --results)")
    add(
        "--list",
        action="store_true",
        help="print targets with their oracles (default: all), run none",
    )
    add("--engine", choices=sorted(ENGINES), default="libfuzzer", help="(default: libfuzzer)")
    add(
        "--time",
        type=seconds,
        default=60.0,
        metavar="T",
        help="duration of a run: 60s (default), 10m, 2h",
    )
    add(
        "--results",
        metavar="FILE",
        help="append each run to FILE as a line of JSON; T is then the total for each target, and"
        " the target with the least time so far runs first",
    )
    add("--report", action="store_true", help="print a summary of FILE of --results, run no target")
    add("-j", "--jobs", type=count, default=1, metavar="N", help="number of processes (default 1)")
    add("--seed", type=count, default=1, metavar="N", help="seed of the engine")
    add(
        "--floor",
        type=count,
        metavar="N",
        help="exit 1 if there are fewer executions per CPU second",
    )
    add(
        "--shim",
        metavar="CMD",
        help="the shim that shim_diff tests (default: the Python implementation)",
    )
    add(
        "--ignore",
        action="append",
        default=[],
        metavar="CLASS",
        help="do not report this class of findings, as in 'differs glob-match-match'; a block"
        " begins with its target and class. 'CLASS+star' sets aside only requests with a star: the"
        " row `aside` of a block has the words (repeatable)",
    )
    add(
        "--work",
        metavar="DIR",
        help="folder for corpora and findings (default: build/fuzzing in a checkout, otherwise"
        " boxspec/fuzzing in the user's cache folder)",
    )
    add("--fresh", action="store_true", help="delete the corpus and findings of earlier runs first")
    add("--replay", nargs="+", metavar="FILE", help="replay inputs instead of fuzzing")
    add("--as-it-is", action="store_true", help="do not minimise findings")
    add("--promote", action="store_true", help="write findings as vectors and regression inputs")
    add("--why", metavar="TEXT", help="with --promote: one sentence about the mistake")
    add("--requirement", metavar="ID", help="with --promote: the requirement of the vectors")
    instead = "" if INSTALLED else " instead of this checkout"
    add("--into", metavar="DIR", help=f"with --promote: write below DIR{instead}")
    return made


def check_options(args: argparse.Namespace) -> None:
    """Raise a UsageError for options that contradict each other or have no effect."""
    for name in ("why", "requirement", "into"):
        if getattr(args, name) is not None and not args.promote:
            raise UsageError(f"--{name}", "has no effect without --promote", "add --promote")
    if args.floor is not None and (args.replay or args.results is not None):
        remedy = "leave it out; --report has the rates of --results"
        raise UsageError("--floor", "works only for one run of one target", remedy)
    if args.promote and args.into is None and INSTALLED:
        raise UsageError("--promote", "has no checkout to write to", "name a folder: --into")
    if args.replay and args.fresh:
        problem = "would delete the inputs to replay"
        raise UsageError("--fresh", problem, "leave it out")
    if args.replay and args.results is not None:
        raise UsageError("--results", "cannot be combined with --replay", "leave it out")


def chosen_targets(args: argparse.Namespace) -> list[Target]:
    if args.every and args.targets:
        problem = f"got both --every and {args.targets[0]}"
        raise UsageError("boxspec fuzz", problem, "use only one of them")
    found = [targets.named(name) for name in dict.fromkeys(args.targets)]
    found = list(targets.every().values()) if args.every else found
    if not found:
        raise UsageError("boxspec fuzz", "no target is named", "boxspec fuzz --list prints them")
    if len(found) > 1 and args.replay:
        raise UsageError("--replay", "several targets", "name the one target of these inputs")
    for name in args.replay or ():
        # Report a missing input before the builds start.
        problem = "is a folder" if Path(name).is_dir() else "no such file"
        if not Path(name).is_file():
            raise UsageError(f"--replay {name}", problem, "name one or more files")
    if len(found) > 1 and args.results is None:
        remedy = "add --results FILE, which records how long each has run"
        raise UsageError("boxspec fuzz", "several targets", remedy)
    if args.shim is not None and not any(target.shim for target in found):
        raise UsageError(
            f"--shim {args.shim}", f"{found[0].name} does not use a shim", "use it with shim_diff"
        )
    return found


def environment(args: argparse.Namespace, target: Target) -> dict[str, str]:
    """Return the environment that the target needs. Printed commands contain it too."""
    given = {name: value for name, value in os.environ.items() if name.startswith("BOXSPEC_FUZZ_")}
    if target.shim:
        # The shim is named if the user named it. An installed kit always judges another
        # implementation, so it names the shim too.
        named = args.shim is not None or INSTALLED
        command = list(shim_argv(args.shim)) if named else python_implementation_command()
        given["BOXSPEC_FUZZ_SHIM"] = shlex.join(command)
    return given


def _folder(args: argparse.Namespace, target: Target) -> Path:
    return (Path(args.work).resolve() if args.work else WORK) / target.name


def _replay(args: argparse.Namespace, target: Target, console: Terminal) -> list[Finding]:
    judge = builds.binary(builds.JUDGE, target)
    findings = Findings(
        target, judge, _folder(args, target), environment(args, target), args.ignore
    )
    for name in args.replay:
        findings.add(Crash(Path(name).resolve(), sure=False))
    found = list(findings.by_key.values())
    for finding in found:
        if not args.as_it_is:
            findings.minimise(finding, lambda: False)
        console.block(finding_block(finding, findings.command(finding)))
        console.write()
    console.write(
        f"{many(len(args.replay), 'input')} replayed, {many(len(found), 'different finding')}"
    )
    return found


def _run(
    args: argparse.Namespace, some: list[Target], record: Ledger | None, console: Terminal
) -> tuple[list[Finding], bool]:
    """Return the findings, and True if every target ran."""
    with stoppable() as stopped:

        def make(target: Target, seed: int, seconds: float) -> Outcome:
            binary = builds.binary(builds.PRESETS[args.engine], target)
            env = environment(args, target)
            plan = Plan(target, binary, _folder(args, target), args.jobs, seed, env, args.ignore)
            with claimed(plan.folder, args.engine):
                run = Run(plan, args.engine, seconds, console)
                return run.run(stopped, smaller=not args.as_it_is)

        if record is None:
            outcome = make(some[0], args.seed, args.time)
            below = args.floor is not None and outcome.per_cpu_s < args.floor
            if below:
                console.write(
                    f"too slow: {outcome.per_cpu_s:.0f} executions per CPU second,"
                    f" expected at least {args.floor}"
                )
            return outcome.findings, not below
        turns = Turns(args.engine, args.jobs, args.seed, make)
        return turns.run(some, args.time, record, stopped), not turns.left_out


def _report(args: argparse.Namespace) -> int:
    if args.results is None:
        raise UsageError("--report", "needs a results file", "add --results FILE")
    entries = Ledger(Path(args.results)).entries()
    if not entries:
        raise UsageError(
            f"--results {args.results}", "has no results", "run boxspec fuzz with it first"
        )
    for line in ledger.report(entries):
        print(line)
    return 0


def main(words: Sequence[str]) -> int:
    args = parser().parse_args(list(words))
    if args.list:
        print(targets.list_targets([targets.named(name) for name in args.targets]))
        return 0
    if args.report:
        return _report(args)
    check_options(args)
    some = chosen_targets(args)
    into = Path(args.into).resolve() if args.into else ROOT
    if args.promote:
        check(into, args.requirement)
    record = Ledger(Path(args.results).resolve()) if args.results else None
    if record is not None:
        # Report a broken results file before the builds start.
        record.open()
        record.entries()
    presets = [builds.JUDGE] if args.replay else [builds.PRESETS[args.engine], builds.JUDGE]
    builds.build(some, *presets, *([builds.DECODER] if args.promote else []))
    console = Terminal()
    try:
        for target in some if args.fresh else ():
            with claimed(_folder(args, target), *ENGINES):
                fresh(_folder(args, target))
        if args.replay:
            found, whole = _replay(args, some[0], console), True
        else:
            found, whole = _run(args, some, record, console)
    except OSError as why:
        place = str(why.filename2 or why.filename or args.work or WORK)
        raise UsageError(place, why.strerror or str(why), REMEDY) from None
    for finding in found if args.promote else ():
        decoder = builds.binary(builds.DECODER, finding.target)
        accused = shlex.split(environment(args, finding.target).get("BOXSPEC_FUZZ_SHIM", ""))
        if not finding.target.shim:
            accused = [str(builds.REFERENCE)]
        for line in promote(finding, decoder, into, args.why, args.requirement, accused):
            console.write(line)
    if found or (args.floor is not None and not whole):
        return 1
    return 0 if whole else 2
