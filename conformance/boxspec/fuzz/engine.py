"""The interface of both engines: their input, and their progress."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from boxspec.fuzz.targets import Target

# Time limit for one input; a longer run is a finding.
INPUT_S = 10
# A shim that hangs takes two limits, and then further ones for each half of its batch.
SHIM_INPUT_S = 40
MEMORY_MB = 2048


@dataclass(frozen=True)
class Plan:
    """One run of one target; all its files are in `folder`."""

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
    edges: int | None = None  # edges of the code that the inputs reach, as the engine counts them
    of_edges: int | None = None  # all edges of the code


@dataclass(frozen=True)
class Crash:
    """An input that crashed a process, with the output of the process if that is known."""

    input: Path
    output: str = ""
    sure: bool = True  # False: it counts only if a replay confirms it


class Engine(Protocol):
    """An engine: start it once, poll it often, stop it once."""

    def start(self) -> None: ...

    def progress(self) -> Progress:
        """Return the progress without blocking."""

    def inputs(self) -> int:
        """Return how many inputs a new run would start with: the seeds of the tree, and the inputs
        that this and earlier runs kept."""

    def crashes(self) -> list[Crash]:
        """Return the crashes since the last call."""

    def why_ended(self) -> str | None:
        """Return why the engine ended; None while a process of it runs."""

    def stop(self) -> None: ...
