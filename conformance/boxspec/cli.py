"""The command line: `boxspec VERB …`. Exit codes: 0 conforms, 1 fails, 2 usage, 3 incomplete, 4."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from boxspec import __version__
from boxspec.errors import HarnessError, NotConforming, UsageError

EXITS = """\
exit codes of run: 0 the target conforms; 1 it fails a contract MUST (with an explicit --profile
hardened or all, a hardened one too); 2 bad usage, a broken shim or a broken kit; 3 incomplete;
4 a stale baseline under --strict."""


class Parser(argparse.ArgumentParser):
    """One clear line on stderr in place of the whole usage."""

    def error(self, message: str) -> None:  # type: ignore[override]
        raise UsageError(self.prog, message, f"{self.prog} --help says what there is")


def _count(word: str) -> int:
    try:
        number = int(word)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is no number from 1 up")
    return number


def _number(word: str) -> int:
    if not word.isdecimal():
        raise argparse.ArgumentTypeError(f"{word!r} is no number from 0 up")
    return int(word)


def _shim(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--shim",
        metavar="CMD",
        help="the shim, split like a shell splits words (default: the reference of this checkout)",
    )


def _choice(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--contract",
        action="append",
        metavar="NAME",
        help="exec, policy or sbpl, repeatable (default: each contract that the shim declares)",
    )
    add(
        "--profile",
        choices=("contract", "hardened", "all"),
        help="only requirements of it; named, its hardened MUSTs count for the exit code too",
    )


def _run_flags(parser: argparse.ArgumentParser) -> None:
    _shim(parser)
    _choice(parser)
    add = parser.add_argument
    add("-k", metavar="EXPR", help="only tests whose name matches, as in pytest")
    add("-m", metavar="EXPR", help="only marked tests: timing, stress, 'timing or stress'")
    add("-j", dest="jobs", type=_count, metavar="N", help="at most N long tests at once")
    add("--topic", action="append", metavar="TOPIC", help="only tests of it (repeatable)")
    add("--focus", metavar="TOPIC", help="all tests of it, one of each other requirement")
    add("-x", dest="first", action="store_true", help="end with the first test that fails")
    add("--seed", type=_number, default=0, metavar="N", help="decides what is varied")
    add("--repeat", type=_count, metavar="N", help="each test N times; prints flake rates")
    add("--repeat-file", metavar="FILE", help="results of --repeat, JSON lines, resumable")
    add("--busy", type=_number, default=0, metavar="N", help="N busy loops beside the run")
    add("--known", metavar="FILE", help="baseline of known deviations (TOML)")
    add("--strict", action="store_true", help="a stale baseline is exit 4")
    add(
        "--require-complete",
        action="store_true",
        help="an undecided MUST is exit 3, unless --known has it as not-measured for that reason",
    )
    add("--json", metavar="FILE", help="the result tree (schema boxspec-result/1)")
    add("--junit", metavar="FILE", help="JUnit XML")
    add("--pytest-summary", action="store_true", help="also print 'N passed, M failed in Xs'")
    add("-v", "--verbose", action="store_true", help="one line a test")


def parser() -> argparse.ArgumentParser:
    made = Parser(
        prog="boxspec",
        description="A conformance kit for anything that runs untrusted programs.",
        epilog=EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--version", action="version", version=f"boxspec {__version__}")
    verbs = made.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=Parser)

    def verb(name: str, what: str, epilog: str | None = None) -> argparse.ArgumentParser:
        return verbs.add_parser(
            name,
            help=what,
            description=what,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    run = verb("run", "judge an implementation", EXITS)
    _run_flags(run)
    run.add_argument(
        "--requirement", action="append", metavar="ID", help="only tests of it (repeatable)"
    )
    listing = verb("list", "the requirements and their tests, the pitfalls and theirs")
    _choice(listing)
    listing.add_argument("--json", action="store_true", help="for programs")
    verb("explain", "one requirement: clause, source, tests").add_argument("id", metavar="ID")
    _shim(verb("smoke", "the trust checks alone: is this a shim that may be scored?"))
    verb("doctor", "what this host has and lacks")
    repro = verb("repro", "rerun the tests of a requirement, verbosely, and keep their folders")
    _run_flags(repro)
    repro.add_argument("id", metavar="ID")
    sbpl = verb("sbpl", "profiles of Seatbelt: which clause decides, and the goldens")
    sbpl.add_argument("arguments", nargs=argparse.REMAINDER)
    faults = verb("faults", "every fault of the twin against the suite: who catches whom")
    faults.add_argument("arguments", nargs=argparse.REMAINDER)
    fuzz = verb("fuzz", "fuzz a target, and turn what is found into vectors")
    fuzz.add_argument("arguments", nargs=argparse.REMAINDER)
    return made


def smoke(command: str | None) -> int:
    from boxspec.client.command import shim_argv
    from boxspec.session import Session
    from boxspec.smoke import trust

    session = Session(shim_argv(command))
    try:
        trust(session, lambda line: print(f"ok    {line}"))
        said = session.hello["implementation"]
        declared = ", ".join(sorted(session.capabilities)) or "nothing"
        print(f"{said['name']} {said['version']} may be scored; it declares {declared}")
    finally:
        session.close()
    return 0


def dispatch(args: argparse.Namespace) -> int:
    # Each verb imports what it needs: `boxspec smoke` does not pay for pytest.
    if args.verb == "run":
        from boxspec.listing import known_requirement
        from boxspec.run import run

        only = [known_requirement(name).id for name in args.requirement or ()]
        return run(args, only=only)
    if args.verb == "repro":
        from boxspec.listing import known_requirement
        from boxspec.run import run

        return run(args, keep=True, only=[known_requirement(args.id).id])
    if args.verb == "list":
        from boxspec.listing import list_
        from boxspec.run import check_contracts

        check_contracts(args.contract)
        return list_(args)
    if args.verb == "explain":
        from boxspec.listing import explain

        return explain(args)
    if args.verb == "smoke":
        return smoke(args.shim)
    from boxspec.doctor import doctor

    return doctor()


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        if words[:1] == ["faults"]:
            # The flags of these two are their own.
            from boxspec import faults

            return int(faults.main(words[1:]))
        if words[:1] == ["fuzz"]:
            from boxspec.fuzz import command

            return command.main(words[1:])
        if words[:1] == ["sbpl"]:
            from boxspec.sbpl import command as sbpl

            return sbpl.main(words[1:])
        return dispatch(parser().parse_args(words))
    except (UsageError, NotConforming, HarnessError) as why:
        print(f"boxspec: {why}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("boxspec: interrupted", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Whoever read our output has left; there is nobody to tell.
        sys.stderr.close()
        return 2
