"""The verb `sbpl`: which clause of a profile decides, and the goldens of the reference."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from boxspec.words import Parser


def _pair(word: str) -> tuple[str, str]:
    name, is_one, value = word.partition("=")
    if not name or not is_one:
        raise argparse.ArgumentTypeError(f"{word!r} is no NAME=VALUE")
    return name, value


def parse(words: Sequence[str]) -> argparse.Namespace:
    made = Parser(prog="boxspec sbpl", description="Profiles of Seatbelt, without a Mac.")
    verbs = made.add_subparsers(dest="what", metavar="WHAT", required=True, parser_class=Parser)
    what = "which clause of a profile decides, by both readings; exits 0 if it allows, else 3"
    add = verbs.add_parser("explain", help=what, description=what).add_argument
    add("file", metavar="PROFILE.sb")
    add("operation", metavar="OPERATION", help="such as file-write-create")
    add("path", metavar="PATH", nargs="?", help="absolute, as the kernel reports it")
    add(
        "--param",
        action="append",
        default=[],
        type=_pair,
        metavar="NAME=VALUE",
        help="what (param NAME) stands for",
    )
    add(
        "--import",
        dest="imports",
        action="append",
        default=[],
        type=_pair,
        metavar="NAME=FILE",
        help="the file that (import NAME) reads",
    )
    what = "compares the texts of fixtures/sbpl with what the shim says; exits 1 if they differ"
    add = verbs.add_parser("goldens", help=what, description=what).add_argument
    add("--shim", metavar="CMD", help="default: the reference of this checkout")
    add("--write", action="store_true", help="take what differs, after it was shown")
    return made.parse_args(words)


def main(words: Sequence[str]) -> int:
    args = parse(words)
    if args.what == "goldens":
        from contracts.sbpl.goldens import compare

        return compare(args.shim, args.write)
    from contracts.sbpl.seatbelt.explain import explain

    return explain(Path(args.file), args.operation, args.path, dict(args.param), dict(args.imports))
