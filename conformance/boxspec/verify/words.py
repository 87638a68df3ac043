"""Words that a start adds to those of its program."""

from __future__ import annotations

import shlex
from pathlib import Path

from boxspec.random_names import random_name

# A program inside tries to make this file beside the marks.
INSIDE = "inside"


class Words:
    """Words that make a mark if a shell outside evaluates them.

    marks: the folder of the marks.
    split: a word with a blank.
    evaluated: the text that a shell makes of another word.
    """

    def __init__(self, marks: Path) -> None:
        self.marks = marks
        self.split, self.evaluated = f"{random_name()} {random_name()}", random_name()
        separate, substitute, quoted = (marks / random_name() for _ in range(3))
        self.all = [
            self.split,
            f"$(echo {self.evaluated})",
            f";true >{shlex.quote(str(separate))};true",
            f"$(true >{shlex.quote(str(substitute))})",
            f"';true >{quoted};'",
        ]
        marks.mkdir()

    def is_writable_inside(self) -> bool:
        return (self.marks / INSIDE).exists()

    def executed(self) -> bool:
        """True if a word was executed where no program inside can write."""
        return any(self.marks.iterdir()) and not self.is_writable_inside()
