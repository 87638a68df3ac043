"""The verb `repro`: rerun the tests of requirements with details, and keep their folders."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from boxspec.cli import settings
from boxspec.cli.arguments import run_flags
from boxspec.cli.main import status_of
from boxspec.cli.orders import repeat_orders
from boxspec.cli.run import run
from boxspec.cli.verbs import verb_parser
from boxspec.judge.requirements import requirement

SKIP = 125

EPILOG = f"""\
Takes the options of run, too: boxspec run --help shows them.

exit codes: 0 each of the requirements conforms; 1 one of them does not, of any level and profile;
2 wrong usage, a broken shim or a broken kit; 3 one of them could not be decided. With --bisect, 2
and 3 become {SKIP}, so that `git bisect run` skips the commit."""


def main(words: Sequence[str]) -> int:
    if "--bisect" not in words:
        return _repro(words)
    # For `git bisect run`, any other status below 128 means a bad commit.
    status = status_of(partial(_repro, words))
    return SKIP if status in (2, 3) else status


def _repro(words: Sequence[str]) -> int:
    parser = verb_parser("repro", EPILOG, usage="[OPTION...] ID...")
    run_flags(parser, shown=False)
    parser.add_argument("ids", metavar="ID", nargs="*", help="the requirements to repeat")
    parser.add_argument(
        "--order",
        action="append",
        metavar="ORDER",
        help="repeat this forced order, and print its trace",
    )
    parser.add_argument(
        "--bisect", action="store_true", help=f"exit {SKIP} if the run decided nothing"
    )
    args = settings.parse(parser, words)
    if bool(args.ids) == bool(args.order):
        parser.error("name requirements or an --order")
    if args.order:
        return repeat_orders(args.order, args.shim)
    args.words = ["repro", *words]
    return run(args, keep=True, only=[requirement(name).id for name in args.ids])
