"""The meaning of an entry of another tool's settings, by the documentation of that tool."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import Enum
from pathlib import Path


class Meaning(Enum):
    """The documented effect of an entry on Linux."""

    ENFORCED = "enforced"
    DEAD = "dead"
    WIDER = "wider"
    NARROWER = "narrower"
    NOT_TESTABLE = "not testable here"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Entry:
    """One entry of a settings file.

    line: the number of its line, from 1.
    key: its place in the file, in the words of the format.
    value: the value as written.
    why: the meaning in a sentence.
    rules: the expectations that the author of the entry has, each with kind and value.
    """

    line: int
    key: str
    value: str
    meaning: Meaning
    why: str
    rules: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Where:
    """The settings file, and the folders to which paths in it are relative."""

    home: Path
    cwd: Path
    file: Path

    @property
    def is_of_the_user(self) -> bool:
        """True for settings in a folder of the home directory, such as ~/.claude."""
        return self.file.parent.parent == self.home and self.home != self.cwd

    def real(self, path: str) -> Path:
        """Return the path that a word of a rule names."""
        if path == "~" or path.startswith("~/"):
            return self.home / path[2:]
        return self.cwd / path

    def exists(self, path: str) -> bool:
        """True if something is at this path. False too for a text that cannot be a path."""
        # Path.exists raises an OSError for a path that is too long.
        return os.path.exists(self.real(path))  # noqa: PTH110
