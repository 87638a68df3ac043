"""Parse command lines. A mistake is reported in one line, without the whole usage."""

from __future__ import annotations

import argparse

from boxspec.errors import UsageError


class Parser(argparse.ArgumentParser):
    """A parser that raises UsageError instead of printing the usage and exiting."""

    def error(self, message: str) -> None:  # type: ignore[override]
        raise UsageError(self.prog, message, f"{self.prog} --help says what there is")


def count(word: str) -> int:
    try:
        number = int(word)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is no number from 1 up")
    return number


def natural(word: str) -> int:
    if not word.isdecimal():
        raise argparse.ArgumentTypeError(f"{word!r} is no number from 0 up")
    return int(word)
