"""What both engines have in common: what they are given, and what is known of their progress."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from boxspec.fuzz.targets import Target

# One input may take so long. Longer is a finding of its own.
INPUT_S = 10
# A shim that hangs is waited for, twice, and then for each half of what it was asked.
SHIM_INPUT_S = 40
MEMORY_MB = 2048


@dataclass(frozen=True)
class Plan:
    """One run of one target; `folder` is where everything of it goes."""

    target: Target
    binary: Path
    folder: Path
    jobs: int
    seed: int
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "TMPDIR": str(self.folder), **self.env}

    @property
    def seeds(self) -> list[Path]:
        return [*self.target.seeds]


@dataclass(frozen=True)
class Progress:
    runs: int = 0
    per_second: float = 0.0
    inputs: int = 0
    edges: int | None = None  # of the code, as the engine counts what was reached
    of_edges: int | None = None  # as many as it can reach


@dataclass(frozen=True)
class Crash:
    """An input that ended a process, and what the process said about it, if that is known."""

    input: Path
    said: str = ""
    sure: bool = True  # False: it may be in order, and is no finding unless it is seen again


class Engine(Protocol):
    """Started once, looked at often, stopped once."""

    def start(self) -> None: ...

    def progress(self) -> Progress:
        """How far it is; never blocks."""

    def inputs(self) -> int:
        """How many it would begin with now: those of the tree, and those that were kept."""

    def crashes(self) -> list[Crash]:
        """Those that are new since the last call."""

    def why_ended(self) -> str | None:
        """None while there is something that runs."""

    def stop(self) -> None: ...
