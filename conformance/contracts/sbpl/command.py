"""The verb `sbpl`: show decisions of a profile, and compare the reference's texts with the stored
ones."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from boxspec.words import Parser


def _pair(word: str) -> tuple[str, str]:
    name, is_one, value = word.partition("=")
    if not name or not is_one:
        raise argparse.ArgumentTypeError(f"{word!r} is not a NAME=VALUE")
    return name, value


def _of_profile(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--param",
        action="append",
        default=[],
        type=_pair,
        metavar="NAME=VALUE",
        help="value of (param NAME)",
    )
    made.add_argument(
        "--param-file", metavar="FILE", help="NAME=VALUE lines, or a JSON object of strings"
    )
    made.add_argument(
        "--import",
        dest="imports",
        action="append",
        default=[],
        type=_pair,
        metavar="NAME=FILE",
        help="file that (import NAME) reads",
    )


def parse(words: Sequence[str]) -> argparse.Namespace:
    made = Parser(prog="boxspec sbpl", description="Profiles of Seatbelt, without a Mac.")
    verbs = made.add_subparsers(dest="what", metavar="WHAT", required=True, parser_class=Parser)
    what = "which clause of a profile decides, by both readings; exits 0 if it allows, else 3"
    explains = verbs.add_parser("explain", help=what, description=what)
    explains.add_argument("file", metavar="PROFILE.sb")
    explains.add_argument(
        "operation", metavar="OPERATION", help="an operation, for example file-write-create"
    )
    explains.add_argument(
        "subject",
        metavar="SUBJECT",
        nargs="?",
        help="a path (absolute, as the kernel reports it), HOST:PORT, the name of a service, …",
    )
    explains.add_argument(
        "--given",
        action="append",
        default=[],
        type=_pair,
        metavar="FILTER=VALUE",
        help="a fact that filters test: vnode-type=SYMLINK, local=HOST:PORT; extension= for none",
    )
    _of_profile(explains)
    what = "what a profile allows: secrets, hooks, start files, network, processes, services"
    audits = verbs.add_parser("audit", help=what, description=what)
    audits.add_argument("file", metavar="PROFILE.sb")
    audits.add_argument("--home", metavar="DIR", default="/Users/u", help="default: /Users/u")
    audits.add_argument("--workspace", metavar="DIR", help="default: HOME/workspace")
    _of_profile(audits)
    what = "compares the texts of fixtures/sbpl with what the shim says; exits 1 if they differ"
    add = verbs.add_parser("goldens", help=what, description=what).add_argument
    add("--shim", metavar="CMD", help="default: the reference of this checkout")
    add("--write", action="store_true", help="print the differences, and write them to the goldens")
    return made.parse_args(words)


def main(words: Sequence[str]) -> int:
    args = parse(words)
    if args.what == "goldens":
        from contracts.sbpl.goldens import compare

        return compare(args.shim, args.write)
    params, imports = dict(args.param), dict(args.imports)
    if args.what == "audit":
        from contracts.sbpl.seatbelt.audit import audit

        return audit(
            Path(args.file),
            params,
            imports,
            param_file=args.param_file,
            home=args.home,
            workspace=args.workspace,
        )
    from contracts.sbpl.seatbelt.explain import explain

    return explain(
        Path(args.file),
        args.operation,
        args.subject,
        params,
        imports,
        param_file=args.param_file,
        given=dict(args.given),
    )
