"""Options that several verbs share."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from boxspec.errors import UsageError
from boxspec.judge.requirements import load
from boxspec.subject.contract import names
from boxspec.words import count, natural

EXITS = """\
exit codes of run: 0 the target conforms; 1 it fails a contract MUST (with an explicit --profile
hardened or all, a hardened one too; asked by its id, any); 2 bad usage, a broken shim or a broken
kit; 3 incomplete: nothing of a contract was decided, or a MUST that counts for 1 was not measured
although nothing that doctor names is missing; 4 a stale baseline under --strict."""


def shim_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--shim",
        metavar="CMD",
        help="the shim, split like a shell splits words (default: the reference of this checkout)",
    )


def isolate_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--isolate",
        action="store_true",
        help="as root: the shim is another user and sees the kit read-only",
    )


def choice_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--contract",
        action="append",
        metavar="NAME",
        help=f"{', '.join(names())}, repeatable (default: each contract that the shim declares)",
    )
    add(
        "--profile",
        choices=("contract", "hardened", "all"),
        help="only requirements of it; named, its hardened MUSTs count for the exit code too",
    )


def run_flags(parser: argparse.ArgumentParser) -> None:
    shim_flag(parser)
    isolate_flag(parser)
    choice_flags(parser)
    add = parser.add_argument
    add("-k", metavar="EXPR", help="only tests whose name matches, as in pytest")
    add("-m", metavar="EXPR", help="only marked tests: timing, stress, 'timing or stress'")
    add("-j", dest="jobs", type=count, metavar="N", help="at most N long tests at once")
    add("--topic", action="append", metavar="TOPIC", help="only tests of it (repeatable)")
    add("--spec", metavar="VERSION", help="only what that version asks: 1.0 (default: everything)")
    add("--focus", metavar="TOPIC", help="all tests of it, one of each other requirement")
    add("-x", dest="fail_fast", action="store_true", help="end with the first test that fails")
    add("--backend", metavar="NAME", help="the backend that is judged (default: the shim's first)")
    add("--seed", type=natural, default=0, metavar="N", help="decides what is varied")
    add(
        "--stress",
        action="store_true",
        help="stress tests in their long form: thousands of rounds, 1 GiB; -m stress: only those",
    )
    add("--repeat", type=count, metavar="N", help="each test N times; prints flake rates")
    add("--repeat-file", metavar="FILE", help="results of --repeat, JSON lines, resumable")
    add("--busy", type=natural, default=0, metavar="N", help="N busy loops beside the run")
    add("--known", metavar="FILE", help="baseline of known deviations (TOML)")
    add("--strict", action="store_true", help="a stale baseline is exit 4")
    add(
        "--require-complete",
        action="store_true",
        help="an undecided MUST is exit 3, unless --known has it as not-measured for that reason",
    )
    add("--json", metavar="FILE", help="the result tree (schema boxspec-result/1)")
    add("--junit", metavar="FILE", help="JUnit XML; times are the shim's")
    add("--tap", metavar="FILE", help="TAP 14")
    add("--md", metavar="FILE", help="Markdown, fit for the summary of a CI step")
    add("--html", metavar="FILE", help="one offline page; large evidence in data/ beside it")
    add(
        "--badge",
        action="append",
        metavar="FILE",
        help="a badge: .svg, or .json for shields.io (repeatable)",
    )
    add("--pytest-summary", action="store_true", help="also print 'N passed, M failed in Xs'")
    add("-v", "--verbose", action="store_true", help="one line a test")


def check_contracts(wanted: list[str] | None) -> None:
    for name in wanted or ():
        if name not in names():
            known = ", ".join(names())
            raise UsageError(f"--contract {name}", "no such contract", f"known: {known}")


def check_topics(flag: str, wanted: Iterable[str]) -> None:
    every = {each.topic for each in load().values()}
    for name in wanted:
        if name not in every:
            raise UsageError.unknown(
                f"{flag} {name}", "topic", name.upper(), every, "boxspec list --topics"
            )
