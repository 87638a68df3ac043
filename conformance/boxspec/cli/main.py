"""The command line: `boxspec VERB …`. Exit codes: 0 conforms, 1 fails, 2 usage, 3 incomplete, 4."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from boxspec import __version__
from boxspec.cli.arguments import EXITS
from boxspec.cli.verbs import VERBS
from boxspec.errors import HarnessError, NotConforming, UsageError
from boxspec.printable import one_line
from boxspec.target.contract import Verb, every
from boxspec.words import Parser


def contract_verbs() -> dict[str, Verb]:
    return {verb.name: verb for contract in every() for verb in contract.verbs}


def parser() -> argparse.ArgumentParser:
    made = Parser(
        prog="boxspec",
        description="A conformance kit for anything that runs untrusted programs.",
        epilog=EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--version", action="version", version=f"boxspec {__version__}")
    verbs = made.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=Parser)
    more = {name: verb.about for name, verb in contract_verbs().items()}
    for name, about in {**VERBS, **more}.items():
        verbs.add_parser(name, help=about, add_help=False)
    return made


def dispatch(words: list[str]) -> int:
    # Only the verb that is asked for is imported: `boxspec smoke` does not pay for pytest.
    if words and words[0] in VERBS:
        return int(importlib.import_module(f"boxspec.cli.{words[0]}").main(words[1:]))
    if words and words[0] in (verbs := contract_verbs()):
        return verbs[words[0]].run(words[1:])
    parser().parse_args(words)
    raise AssertionError("argparse took a verb that is not there")


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        return dispatch(words)
    except (UsageError, NotConforming, HarnessError) as why:
        print(f"boxspec: {one_line(why)}", file=sys.stderr)
        for fact in why.facts if isinstance(why, NotConforming) else ():
            print(f"  {one_line(fact)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("boxspec: interrupted", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Whoever read our output has left; there is nobody to tell.
        sys.stderr.close()
        return 2
