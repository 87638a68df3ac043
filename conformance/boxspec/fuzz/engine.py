"""The interface that both engines implement, the files of a run, and its progress."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from boxspec.fuzz.targets import Target

# Time limit for one input; a longer run is a finding.
INPUT_S = 10
# Time limit for one input of a shim target. If a shim hangs, the shim's own limit passes twice for
# the batch, and then for each half of the batch.
SHIM_INPUT_S = 40
MEMORY_MB = 2048


@dataclass(frozen=True)
class Plan:
    """One run of a target. All files of the run are in `folder`.

    ignored: keys of findings that are known and not reported.
    """

    target: Target
    binary: Path
    folder: Path
    jobs: int
    seed: int
    env: Mapping[str, str] = field(default_factory=dict)
    ignored: Sequence[str] = ()

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
    edges: int | None = None  # edges in the code that the inputs reach, as counted by the engine
    of_edges: int | None = None  # all edges in the code


@dataclass(frozen=True)
class Crash:
    """An input that crashed a process, and the output of the process if it is known."""

    input: Path
    output: str = ""
    sure: bool = True  # False if the crash counts only after a replay has confirmed it


class Engine(Protocol):
    """An engine: start it once, poll it often, stop it once."""

    def start(self) -> None: ...

    def progress(self) -> Progress:
        """Return the progress. Do not wait."""

    def inputs(self) -> int:
        """Return the number of inputs with which a new run would start.

        These are the seeds of the target, and the inputs that this run and earlier runs have kept.
        """

    def crashes(self) -> list[Crash]:
        """Return the crashes since the last call."""

    def why_ended(self) -> str | None:
        """Return the reason why the engine has ended, or None while one of its processes runs."""

    def stop(self) -> None: ...
