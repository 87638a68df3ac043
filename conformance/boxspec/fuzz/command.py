"""`boxspec fuzz TARGET …`: its words, and what they do."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from boxspec.client.command import shim_argv
from boxspec.errors import UsageError
from boxspec.fuzz import targets, trees
from boxspec.fuzz.block import finding_block
from boxspec.fuzz.engine import Crash, Plan
from boxspec.fuzz.expected import twin_command
from boxspec.fuzz.findings import Finding, Findings
from boxspec.fuzz.promote import promote
from boxspec.fuzz.run import ENGINES, Run, fresh
from boxspec.fuzz.targets import Target
from boxspec.programs import ROOT
from boxspec.report.console import Console

WORK = ROOT / "build" / "fuzzing"
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
EXITS = """\
exit codes: 0 nothing was found; 1 something was, told in a block each; 2 usage, or the engine
could not run. SIGINT and SIGTERM end a run in order, with what was found."""


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError("boxspec fuzz", message, "boxspec fuzz --help says what there is")


def seconds(word: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", word)
    if found is None or float(found[1]) == 0:
        raise argparse.ArgumentTypeError(f"{word!r} is no time, e.g. 90s, 10m, 2h")
    return float(found[1]) * UNITS[found[2]]


def _count(word: str) -> int:
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is no number from 1 up")
    return int(word)


def parser() -> argparse.ArgumentParser:
    made = Parser(
        prog="boxspec fuzz",
        description="Fuzz a target, and say what was found.",
        epilog=EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("target", metavar="TARGET", nargs="?", help="--list names them")
    add("--list", action="store_true", help="the targets, and what each of their oracles says")
    add("--engine", choices=sorted(ENGINES), default="libfuzzer", help="(default: libfuzzer)")
    add("--time", type=seconds, default=60.0, metavar="T", help="60s (the default), 10m, 2h")
    add("--jobs", type=_count, default=1, metavar="N", help="processes at once (default 1)")
    add("--seed", type=_count, default=1, metavar="N", help="of the engine's chances")
    add("--shim", metavar="CMD", help="whom shim_diff compares (default: the twin in Python)")
    add(
        "--work", metavar="DIR", help="corpora and findings are kept there (default: build/fuzzing)"
    )
    add("--fresh", action="store_true", help="forget the corpus and findings of earlier runs")
    add("--replay", nargs="+", metavar="FILE", help="look at inputs again, fuzz nothing")
    add("--as-it-is", action="store_true", help="do not make smaller inputs of what is found")
    add("--promote", action="store_true", help="make vectors and regressions of what is found")
    add("--why", metavar="TEXT", help="with --promote: the mistake, a sentence")
    add("--requirement", metavar="ID", help="with --promote: what the vectors ask for")
    add("--into", metavar="DIR", help="with --promote: a root other than this checkout")
    return made


def environment(args: argparse.Namespace, target: Target) -> dict[str, str]:
    """What the target needs beside its input. What we were given is named in repro commands too."""
    given = {name: value for name, value in os.environ.items() if name.startswith("BOXSPEC_FUZZ_")}
    if args.shim is not None and not target.shim:
        raise UsageError(f"--shim {args.shim}", f"{target.name} asks no shim", "shim_diff does")
    if target.shim:
        command = list(shim_argv(args.shim)) if args.shim is not None else twin_command()
        given["BOXSPEC_FUZZ_SHIM"] = shlex.join(command)
    return given


def _replay(args: argparse.Namespace, findings: Findings, console: Console) -> list[Finding]:
    for name in args.replay:
        path = Path(name).resolve()
        if not path.is_file():
            raise UsageError(f"--replay {name}", "no such file", "name an input")
        findings.take(Crash(path, sure=False))
    found = list(findings.by_key.values())
    for finding in found:
        if not args.as_it_is:
            findings.minimise(finding, lambda: False)
        console.write(finding_block(finding, findings.command(finding)))
        console.write()
    console.write(f"{len(args.replay)} replayed, {len(found)} different findings")
    return found


def main(words: Sequence[str]) -> int:
    args = parser().parse_args(list(words))
    if args.list:
        print(targets.list_targets())
        return 0
    if args.target is None:
        raise UsageError("boxspec fuzz", "no target is named", "boxspec fuzz --list names them")
    target = targets.named(args.target)
    env = environment(args, target)
    preset = trees.PRESETS[args.engine]
    presets = [trees.JUDGE] if args.replay else [preset, trees.JUDGE]
    trees.build(target, *presets, *([trees.DECODER] if args.promote else []))
    folder = (Path(args.work).resolve() if args.work else WORK) / target.name
    if args.fresh:
        fresh(folder)
    console = Console()
    if args.replay:
        findings = Findings(target, trees.binary(trees.JUDGE, target), folder, env)
        found = _replay(args, findings, console)
    else:
        binary = trees.binary(preset, target)
        plan = Plan(target, binary, folder, args.jobs, args.seed, env)
        found = Run(plan, args.engine, args.time, console).go(smaller=not args.as_it_is)
    if args.promote:
        into = Path(args.into).resolve() if args.into else ROOT
        decoder = trees.binary(trees.DECODER, target)
        for finding in found:
            for line in promote(finding, decoder, into, args.why, args.requirement):
                console.write(line)
    return 1 if found else 0
