"""The verb `dev`: commands for the maintainers of boxspec."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from boxspec.cli.verbs import DEV, verb_parser
from boxspec.errors import UsageError
from boxspec.words import Parser


def main(words: Sequence[str]) -> int:
    if words and words[0] in DEV:
        return int(importlib.import_module(f"boxspec.cli.dev.{words[0]}").main(words[1:]))
    if words and not words[0].startswith("-"):
        place, listing = f"boxspec dev {words[0]}", "boxspec dev --help"
        raise UsageError.unknown(place, "command", words[0], DEV, listing)
    parser = verb_parser("dev")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for name, about in DEV.items():
        commands.add_parser(name, help=about, add_help=False)
    parser.parse_args(words)
    raise UsageError("boxspec dev", "no command is given", "boxspec dev --help names all")
