"""Options that several verbs share."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from boxspec.errors import UsageError
from boxspec.judge.requirements import load
from boxspec.places import INSTALLED
from boxspec.schedule.options import PROFILES, SHARED
from boxspec.subject.contract import names
from boxspec.words import count

EXITS = """\
exit codes of run: 0 the implementation conforms; 1 it fails a MUST of profile contract, or an
observer saw a program escape against a hardened MUST (with --profile hardened or all every hardened
MUST counts; with IDs each that is named);
2 wrong usage, a broken shim or a broken kit; 3 incomplete: of some contract no MUST was decided, or
a MUST that counts for exit 1 was not measured although the host has every feature that doctor
lists; 4 with --strict, the baseline is stale; 130 interrupted with Ctrl-C (143 by SIGTERM, 129 by
SIGHUP): the outputs have the finished tests."""


# The title of the options for output files, and a help text of each: one for `run`, and one for
# `report`, which reads an earlier result. outputs.py renders the files.
FILES = "files to write; - is the standard output"
OUTPUTS = {
    "--json": "the whole result (schema boxspec-result/1)",
    "--html": "one offline page, with a folder data/ for long evidence",
    "--md": "Markdown for the summary of a CI step",
    "--junit": "JUnit XML; times are those of the shim",
    "--tap": "TAP 14",
    "--sarif": "SARIF 2.1.0 for code scanning: the failed tests",
    "--attestation": "in-toto statement with the digest of the JSON result",
    "--badge": "a badge: .svg, or .json for shields.io (repeatable)",
}
REPEATABLE = ("--badge",)

# A parser, or a group of its options.
Options = argparse._ActionsContainer


def shim_flag(options: Options) -> None:
    options.add_argument(
        "--shim",
        metavar="CMD",
        help="command of the shim, split as a shell does (default: BOXSPEC_SHIM, or shim in"
        f" boxspec.toml{'' if INSTALLED else ', or else the reference of this checkout'})",
    )


def shared_flags(options: Options, *flags: str) -> None:
    """Add options that `boxspec run` has in common with the pytest plugin."""
    for flag in flags:
        options.add_argument(flag, **SHARED[flag])


def contract_flag(options: Options, default: str) -> None:
    options.add_argument(
        "--contract",
        action="append",
        metavar="NAME",
        help=f"{', '.join(names())} (repeatable; default: {default})",
    )


def profile_flag(options: Options, effect: str = "") -> None:
    options.add_argument(
        "--profile",
        choices=PROFILES,
        help=f"only requirements of this profile{effect}",
    )


def output_flags(options: Options) -> None:
    for flag, about in OUTPUTS.items():
        action = "append" if flag in REPEATABLE else "store"
        options.add_argument(flag, action=action, metavar="FILE", help=about)


def run_flags(parser: argparse.ArgumentParser, *, shown: bool = True) -> None:
    """Add the options of `boxspec run`.

    shown: False for `repro` and `baseline`, which take the same options. Their help shows only the
        options of the implementation, and refers to `run --help`.
    """
    group = parser.add_argument_group
    judged = group("the implementation")
    shim_flag(judged)
    shared_flags(judged, "--backend", "--isolate")
    groups = {
        _which: "the tests to run",
        _add_ways_to_run: "how to run them",
        _exit: "requirements that affect the exit status",
        output_flags: FILES,
        _console: "the console",
    }
    for add, title in groups.items():
        options = group(title)
        add(options)
        if not shown:
            for action in options._group_actions:
                action.help = argparse.SUPPRESS


def _which(options: Options) -> None:
    contract_flag(options, "each contract that the shim declares")
    profile_flag(options, "; with hardened or all, hardened MUSTs count for the exit status, too")
    shared_flags(options, "--topic")
    add = options.add_argument
    add("-k", metavar="EXPR", help="only tests whose name matches, as in pytest")
    add("-m", metavar="EXPR", help="only tests with this mark: timing, stress, 'timing or stress'")
    shared_flags(options, "--spec")
    add(
        "--last-failed",
        action="store_true",
        help="only requirements that failed in the last run of this shim",
    )
    shared_flags(options, "--focus", "--shard")


def _add_ways_to_run(options: Options) -> None:
    add = options.add_argument
    add(
        "-x",
        dest="fail_fast",
        action="store_true",
        help="stop at the first failure that decides the exit status (not at a SHOULD)",
    )
    add("-j", "--jobs", type=count, metavar="N", help="run at most N long tests in parallel")
    shared_flags(options, "--seed", "--stress")
    add("--orders", action="store_true", help="also judge a short set of forced orders of events")
    shared_flags(options, "--repeat", "--repeat-file", "--busy")
    add(
        "--no-cache",
        action="store_true",
        help="do not remember the failures of this run for --last-failed",
    )


def _exit(options: Options) -> None:
    add = options.add_argument
    add("--known", metavar="FILE", help="baseline of known deviations (TOML)")
    add("--strict", action="store_true", help="exit 4 if the baseline is stale")
    add(
        "--require-complete",
        action="store_true",
        help="exit 3 if a MUST was not decided, unless --known lists it as not-measured",
    )


def _console(options: Options) -> None:
    amount = options.add_mutually_exclusive_group()
    amount.add_argument("-v", "--verbose", action="store_true", help="print one line per test")
    amount.add_argument(
        "-q", "--quiet", action="store_true", help="print only failures and the verdict"
    )
    add = options.add_argument
    add(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours (default: auto, at a terminal unless NO_COLOR is set)",
    )
    add("--durations", type=count, metavar="N", help="print the N slowest tests")
    add("--pytest-summary", action="store_true", help="also print 'N passed, M failed in Xs'")


def check_contracts(wanted: list[str] | None) -> None:
    for name in wanted or ():
        if name not in names():
            remedy = f"known: {', '.join(names())}"
            several = name.replace(",", " ").split()
            if len(several) > 1 and all(each in names() for each in several):
                remedy = "write " + " ".join(f"--contract {each}" for each in several)
            raise UsageError(f"--contract {name}", "no such contract", remedy)


def check_topics(flag: str, wanted: Iterable[str]) -> None:
    every = {each.topic for each in load().values()}
    for name in wanted:
        if name not in every:
            raise UsageError.unknown(
                f"{flag} {name}", "topic", name.upper(), every, "boxspec list --topics"
            )
