"""Parse command lines. The message about a mistake has one line, without the whole usage."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from boxspec.errors import UsageError


class Parser(argparse.ArgumentParser):
    """A parser that raises UsageError instead of printing the usage and exiting.

    An option must not be abbreviated: `clean --forc` must not remove anything.
    """

    def __init__(self, **how: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **how})

    def error(self, message: str) -> NoReturn:
        given = r"^argument (\S+): ignored explicit argument (.*)$"
        message = re.sub(given, r"\1 takes no value, not \2", message)
        raise UsageError(self.prog, message, f"{self.prog} --help lists its options")

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        found, extra = self.parse_known_args(args, namespace)
        self._refuse(extra)
        return found

    def parse_intermixed_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        found, extra = self.parse_known_intermixed_args(args, namespace)
        self._refuse(extra)
        return found

    def _refuse(self, extra: Sequence[str]) -> None:
        """Raise a UsageError for the first unknown option, or else for the first extra word."""
        for word in extra:
            name = word.partition("=")[0]
            if name.startswith("-") and name.strip("-"):
                raise UsageError.unknown(
                    f"{self.prog} {name}", "option", name, self._options(), f"{self.prog} --help"
                )
        if extra:
            self.error(f"unexpected argument: {extra[0]}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        verbs = isinstance(action, argparse._SubParsersAction)
        name = "/".join(action.option_strings) or action.metavar or action.dest
        place = f"{self.prog} {value}" if verbs else f"{self.prog} {name} {value}"
        known = ", ".join(map(str, action.choices))
        near = get_close_matches(str(value), [*map(str, action.choices)], 1)
        said = f"near it: {near[0]}; known: {known}" if near else f"known: {known}"
        raise UsageError(place, f"no such {'verb' if verbs else 'value'}", said)

    def first_plain_word(self, words: Sequence[str]) -> int | None:
        """Return the index of the first word that is neither an option of this parser nor the
        value of one. Return None if there is no such word, or an unknown option before it."""
        takes = {
            name: each.nargs if isinstance(each.nargs, int) else 1
            for each in self._actions
            for name in each.option_strings
        }
        at = 0
        while at < len(words):
            name, equals, _ = words[at].partition("=")
            if not name.startswith("-"):
                return at
            if name not in takes:
                return None
            at += 1 if equals else 1 + takes[name]
        return None

    def _options(self) -> Iterator[str]:
        """Yield the options of this parser and of its subcommands."""
        for action in self._actions:
            yield from action.option_strings
            if isinstance(action, argparse._SubParsersAction):
                for parser in action.choices.values():
                    yield from parser._options()


def command_after_dashes(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words before `--`, and the command after it."""
    own = list(words)
    at = own.index("--") if "--" in own else len(own)
    return own[:at], own[at + 1 :]


def count(word: str) -> int:
    try:
        number = int(word)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is not a number from 1 up")
    return number


def shard(word: str) -> tuple[int, int]:
    """Return K and N of `K/N`, which means the K-th of N parts."""
    number, slash, of = word.partition("/")
    if not slash or count(number) > count(of):
        raise argparse.ArgumentTypeError(f"{word!r} is not a part like 1/3")
    return count(number), count(of)


def natural(word: str) -> int:
    if not word.isdecimal():
        raise argparse.ArgumentTypeError(f"{word!r} is not a number from 0 up")
    return int(word)
