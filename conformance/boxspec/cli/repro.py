"""The verb `repro`: the tests of a requirement once more, with details, their folders kept."""

from __future__ import annotations

from collections.abc import Sequence

from boxspec.cli.arguments import run_flags
from boxspec.cli.run import run
from boxspec.cli.verbs import verb_parser
from boxspec.judge.requirements import requirement


def main(words: Sequence[str]) -> int:
    parser = verb_parser("repro")
    run_flags(parser)
    parser.add_argument("id", metavar="ID")
    args = parser.parse_args(words)
    return run(args, keep=True, only=[requirement(args.id).id])
